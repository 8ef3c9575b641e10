"""QuantizeLinear and DequantizeLinear with float8, float4 and integers of 2 and 4 bits."""

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from tests.host.ops.narrow_case import FLOATS, INTS, check_exactly, patterns
from tests.host.ops.single_node import Case, model_of, on_targets

OPSET = 25
KINDS = {k: FLOATS[k] for k in FLOATS if "8e4" in k or "8e5" in k or "4e2" in k} | INTS


def case(op, dtype, *inputs, **attrs):
    """Return a case whose expected output onnx's reference evaluator computes."""
    model = {"opset": OPSET, "out": (dtype, inputs[0].shape), **attrs}
    proto = model_of(op, inputs, **model)
    feeds = {f"x{i}": x for i, x in enumerate(inputs)}
    expected = ReferenceEvaluator(proto).run(None, feeds)[0]
    return Case(expected, op, *inputs, opset=OPSET, **attrs)


@on_targets
@pytest.mark.parametrize("name", list(KINDS))
def test_narrow_dtypes_are_quantized_and_back(target, name):
    """Scales are by tensor, axis or block, and powers of two, so that no product is rounded."""
    dtype = KINDS[name]
    rng = np.random.default_rng(5)
    x = np.round(rng.standard_normal((4, 6)) * 40).astype(np.float32) / 8
    one, by_row = np.float32(0.5), np.array([0.25, 0.5, 1, 2], np.float32)
    by_block = rng.choice(by_row, (4, 2))
    zeros = {}
    for scale in (one, by_row, by_block):
        shape = np.shape(scale)
        zero = np.zeros(shape, dtype)
        if name in INTS:
            zero = rng.choice(patterns(name), shape)
        zeros[np.ndim(scale)] = np.asarray(zero, dtype)
    q = rng.choice(patterns(name), (4, 6))
    cases = []
    for scale, attrs in (
        (one, {}),
        (by_row, {"axis": 0}),
        (by_block, {"axis": 1, "block_size": 3}),
    ):
        scale = np.asarray(scale)
        zero = zeros[scale.ndim]
        cases.append(case("QuantizeLinear", dtype, x, scale, zero, **attrs))
        cases.append(case("DequantizeLinear", np.float32, q, scale, zero, **attrs))
    check_exactly(target, cases)


@on_targets
def test_saturate_and_output_dtype_are_kept(target):
    x = np.array([1e6, -1e6, 448, 500, 0.1, np.inf, np.nan], np.float32)
    scale = np.array(1, np.float32)
    cases = []
    for name in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"):
        to = helper.np_dtype_to_tensor_dtype(np.dtype(KINDS[name]))
        for saturate in (0, 1):
            attrs = {"saturate": saturate, "output_dtype": to}
            cases.append(case("QuantizeLinear", KINDS[name], x, scale, **attrs))
    check_exactly(target, cases)
