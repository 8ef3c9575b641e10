"""How far a converted model's results are from onnxruntime's, as tools.run measures it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from tools.converter.converted import Converted
from tools.converter.options import Options
from tools.converter.shapes import extent
from tools.deploy.errors import DeployError
from tools.errors import ConvertError, RunError, text_of
from tools.micropython import TargetError, get_target
from tools.run.execute import execute

from .samples import Samples

_MOST = 16  # samples
# Multiply-accumulates that are computed for a comparison: MicroPython has viper, CPython not.
_MACS = {"unix": 200_000_000, "cpython": 4_000_000}
_CLASSES = 1000  # outputs of more numbers are no scores of classes


@dataclass(frozen=True)
class Accuracy:
    """error: the largest difference from onnxruntime, as a part of the largest output; same: share
    of the samples with the same class, None for what is no classifier; why: there are none.
    """

    error: float | None = None
    same: float | None = None
    samples: int = 0
    why: str = ""


def most_samples(converted: Converted) -> int:
    """That can be compared in a short time."""
    macs = sum(step.total_macs for step in converted.graph.steps)
    return max(1, min(_MOST, _MACS[_target()] // max(macs, 1)))


def _target():
    """MicroPython where it has been built: advice is no time to build it."""
    return "unix" if get_target("unix").path().is_file() else "cpython"


def measured(
    path: Path, model: Path, converted: Converted, samples: Samples, seconds: float
) -> Accuracy:
    """path: of the .bin; model: the .onnx. It takes so many seconds at most."""
    args = argparse.Namespace(
        model=path,
        target=_target(),
        compare=model,
        expect=None,
        layers=False,
        samples=samples.folder,
        inputs=[],
        output_dir=None,
        timeout=max(seconds, 1.0) / samples.count,
    )
    try:
        found = execute(args, Options(), lambda text: None)["errors"]
    except (ConvertError, RunError, TargetError, DeployError, OSError) as e:
        return Accuracy(why=text_of(e))
    rows = [e["argmax"] for t, e in zip(converted.graph.outputs, found, strict=True) if _scores(t)]
    shares = [share for share in rows if share is not None]
    same = min(shares) if shares else None
    return Accuracy(max(e["max_rel"] for e in found), same, samples.count)


def _scores(t):
    """True for one row of scores."""
    if t.is_object or not t.shape or any(map(extent.is_open, t.shape)):
        return False
    return 1 < t.shape[-1] <= _CLASSES and all(n == 1 for n in t.shape[:-1])
