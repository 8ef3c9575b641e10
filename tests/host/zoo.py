"""The collection of real models: a folder beside the repository, or MPCONNXR_ZOO."""

from __future__ import annotations

import copyreg
import hashlib
import os
import pickle
from pathlib import Path

import numpy as np
import onnx
import pytest

from tools.converter.convert import Options, convert
from tools.converter.converted import Converted

ROOT = Path(__file__).parents[2]
ZOO = Path(os.environ.get("MPCONNXR_ZOO", ROOT.parent / "shared" / "models"))

copyreg.pickle(memoryview, lambda view: (memoryview, (bytes(view),)))  # weights, as bytes

needs_zoo = pytest.mark.skipif(not ZOO.is_dir(), reason=f"no model collection at {ZOO}")


def models() -> list[str]:
    """Return the names of all models in the collection; none if it is absent."""
    return sorted(p.parent.name for p in ZOO.glob("*/model.onnx"))


def model_path(name: str) -> Path:
    return ZOO / name / "model.onnx"


def sample(name: str, k: int, kind: str) -> list[np.ndarray]:
    """Return the inputs or outputs (kind) of the k-th sample, in the graph's order."""
    first = ZOO / name / f"{kind}_{k}.npy"
    paths = [first]
    while (more := first.with_name(f"{kind}_{k}_{len(paths)}.npy")).exists():
        paths.append(more)
    return [np.load(p) for p in paths if p.exists()]


def shapes(name: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the first sample's inputs, by name."""
    first = [x.shape for x in sample(name, 0, "input")]
    return dict(zip(input_names(name), first, strict=True))


def converted(name: str, **options) -> Converted:
    """Return a model's conversion for the first sample's shapes, without names.

    Many tests want the same one: it is made once in a run of tests, in whichever process.
    """
    key = hashlib.sha256(repr((name, sorted(options.items()))).encode()).hexdigest()
    kept = Path(os.environ["MPCONNXR_TEST_CONVERSIONS"], key)  # see tests/conftest.py
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    conversion = convert(model_path(name), Options(shapes=shapes(name), strip=True, **options))
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_bytes(pickle.dumps(conversion))
    part.rename(kept)
    return conversion


def input_names(name: str) -> list[str]:
    """Return the names of the graph inputs that are not constants, in order."""
    model = onnx.load(model_path(name), load_external_data=False)
    constant = {t.name for t in model.graph.initializer}
    return [i.name for i in model.graph.input if i.name not in constant]
