"""The collection of real models: a folder beside the repository, or MPCONNXR_ZOO."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest

ROOT = Path(__file__).parents[2]
ZOO = Path(os.environ.get("MPCONNXR_ZOO", ROOT.parent / "shared" / "models"))

needs_zoo = pytest.mark.skipif(not ZOO.is_dir(), reason=f"no model collection at {ZOO}")


def models() -> list[str]:
    """Names of all models in the collection; none where it is absent."""
    return sorted(p.parent.name for p in ZOO.glob("*/model.onnx"))


def model_path(name: str) -> Path:
    return ZOO / name / "model.onnx"


def sample(name: str, k: int, kind: str) -> list[np.ndarray]:
    """The k-th sample's inputs or outputs (kind), in the graph's order."""
    first = ZOO / name / f"{kind}_{k}.npy"
    paths = [first]
    while (more := first.with_name(f"{kind}_{k}_{len(paths)}.npy")).exists():
        paths.append(more)
    return [np.load(p) for p in paths if p.exists()]


def input_names(name: str) -> list[str]:
    """Graph inputs that are no constants, in order."""
    model = onnx.load(model_path(name), load_external_data=False)
    constant = {t.name for t in model.graph.initializer}
    return [i.name for i in model.graph.input if i.name not in constant]
