"""PyTorch models of both exporters, written by torch_models.py, agree with onnxruntime."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.host.exporters.against import check
from tools.converter.protos import free_inputs

FILES = sorted(Path(__file__).with_name("torch").glob("*.onnx"))


def test_the_collection_has_many_models():
    assert len(FILES) >= 80


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_model_agrees_with_onnxruntime(path, target):
    model = onnx.load(path)
    rng = np.random.default_rng(3)
    check(target, model, [[drawn(i, rng) for i in free_inputs(model.graph)] for _ in range(3)])


def drawn(info, rng):
    kind = info.type.tensor_type
    shape = [d.dim_value for d in kind.shape.dim]
    if kind.elem_type == onnx.TensorProto.INT64:
        return rng.integers(0, 10, shape)
    return rng.standard_normal(shape).astype(np.float32)
