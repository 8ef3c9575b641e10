"""Measure how far a converted model's results are from onnxruntime's."""

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
# Multiply-accumulates that a comparison may take; CPython has no viper.
_MACS = {"unix": 200_000_000, "cpython": 4_000_000}
_CLASSES = 1000  # a longer output is not a row of class scores


@dataclass(frozen=True)
class Accuracy:
    """The difference of a model's results from onnxruntime's.

    Attributes:
        error: largest difference divided by the largest output.
        same: share of samples with the same class; None if the model is not a classifier.
        samples: number of samples.
        why: error message if nothing was measured.
    """

    error: float | None = None
    same: float | None = None
    samples: int = 0
    why: str = ""


def most_samples(converted: Converted) -> int:
    """Return how many samples can be compared in a short time."""
    macs = sum(step.total_macs for step in converted.graph.steps)
    return max(1, min(_MOST, _MACS[_target()] // max(macs, 1)))


def _target():
    """Return "unix" if MicroPython has been built, else "cpython": building takes too long."""
    return "unix" if get_target("unix").path().is_file() else "cpython"


def measured(
    path: Path, model: Path, converted: Converted, samples: Samples, seconds: float
) -> Accuracy:
    """Compare the results of a model with onnxruntime's.

    Args:
        path: the .bin.
        model: the .onnx.
        converted: the converted model.
        samples: inputs.
        seconds: time limit.
    """
    args = argparse.Namespace(
        model=path,
        target=_target(),
        compare=model,
        expect=None,
        layers=False,
        samples=samples.folder,
        random=None,
        inputs=[],
        output_dir=None,
        timeout=max(seconds, 1.0) / samples.count,
    )
    try:
        errors = execute(args, Options(), lambda text: None)["errors"]
    except (ConvertError, RunError, TargetError, DeployError, OSError) as e:
        return Accuracy(why=text_of(e))
    outputs = zip(converted.graph.outputs, errors, strict=True)
    rows = [e["argmax"] for t, e in outputs if _scores(t)]
    shares = [share for share in rows if share is not None]
    same = min(shares) if shares else None
    return Accuracy(max(e["max_rel"] for e in errors), same, samples.count)


def _scores(t):
    """Return True if a tensor is one row of class scores."""
    if t.is_object or not t.shape or any(map(extent.is_open, t.shape)):
        return False
    return 1 < t.shape[-1] <= _CLASSES and all(n == 1 for n in t.shape[:-1])
