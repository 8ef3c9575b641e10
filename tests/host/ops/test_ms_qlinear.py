"""Quantized operators of domain com.microsoft on MicroPython, against onnxruntime.

Both compute in floats between the integers, in another order: a tie between two integers may be
rounded either way. Results may be one step apart at most.
"""

import numpy as np
import pytest

from tests.host.ops.against_ort import run
from tests.host.ops.ms_node import MsNode
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError

on_targets = pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
rng = np.random.default_rng(12)
F = np.float32
BYTES = (np.uint8, np.int8)


def ints(dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def near(target, nodes):
    """Compare all nodes with onnxruntime: few integers may differ, by one step."""
    expected = [n.expected() for n in nodes]
    failures = []
    for node, got, want in zip(nodes, run(target, nodes, expected), expected, strict=True):
        far = np.abs(got[0].astype(np.float64) - want[0])
        if got[0].dtype == F:
            wrong = not np.allclose(got[0], want[0], 1e-5, 1e-6)
        else:
            wrong = far.max() > 1 or far.sum() > 0.02 * far.size + 1
        if wrong:
            failures.append(f"{node}: {int((far > 0).sum())} of {far.size}, {far.max()}")
    assert not failures, "\n".join(failures)


def scaled(dtype, scale, zero):
    return [np.array(scale, F), np.array(zero, dtype)]


def node(op, inputs, attrs=None, dtype=np.uint8):
    variable = tuple(i for i, x in enumerate(inputs) if x.ndim > 1)
    fixed = tuple(i for i in range(len(inputs)) if i not in variable)
    return MsNode(op, inputs, attrs or {}, fixed=fixed, dtypes=(dtype,))


@on_targets
@pytest.mark.parametrize("dtype", BYTES)
def test_operators_of_two_tensors_agree(target, dtype):
    a, b = ints(dtype, 2, 3, 40), ints(dtype, 3, 1)
    of_a, of_b, out = scaled(dtype, 0.02, 7), scaled(dtype, 0.01, 90), scaled(dtype, 0.03, 50)
    nodes = [
        node(op, [a, *of_a, b if broadcast else ints(dtype, *a.shape), *of_b, *out], None, dtype)
        for op in ("QLinearAdd", "QLinearMul")
        for broadcast in (False, True)
    ]
    nodes += [
        node(op, [a[:1, :1, :1].reshape(()), *of_a, b[:1, :1], *of_b, *out], None, dtype)
        for op in ("QLinearAdd", "QLinearMul")
    ]
    near(target, nodes)


@on_targets
@pytest.mark.parametrize("dtype", BYTES)
def test_operators_of_one_tensor_agree(target, dtype):
    x = ints(dtype, 1, 3, 8, 8)
    of_x, out = scaled(dtype, 0.05, 20), scaled(dtype, 1 / 256, np.iinfo(dtype).min)
    wide = scaled(dtype, 0.06, 30)
    pool = {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 0, 0, 1]}
    nodes = [
        node("QLinearSigmoid", [x, *of_x, *out], None, dtype),
        node("QLinearLeakyRelu", [x, *of_x, *wide], {"alpha": 0.1}, dtype),
        node("QLinearGlobalAveragePool", [x, *of_x, *wide], None, dtype),
        node("QLinearAveragePool", [x, *of_x, *wide], pool, dtype),
        node("QLinearAveragePool", [x, *of_x, *wide], {**pool, "count_include_pad": 1}, dtype),
        node("QLinearSoftmax", [x[0, 0], *of_x, *out], {"opset": 13, "axis": -1}, dtype),
        node("QLinearSoftmax", [x[0], *of_x, *out], {"opset": 11, "axis": 1}, dtype),
    ]
    near(target, nodes)


@on_targets
@pytest.mark.parametrize("dtype", BYTES)
def test_concat_agrees(target, dtype):
    out = scaled(dtype, 0.04, 11)
    others = [scaled(dtype, 0.02, 3), out, scaled(dtype, 0.05, 100)]
    parts = [v for i, s in enumerate(others) for v in (ints(dtype, 2, 3 + i, 5), *s)]
    near(target, [node("QLinearConcat", [*out, *parts], {"axis": 1}, dtype)])


@on_targets
@pytest.mark.parametrize("dtype", BYTES)
def test_gemm_agrees(target, dtype):
    a, b, c = ints(dtype, 4, 9), ints(np.int8, 9, 5), rng.integers(-9000, 9000, 5, np.int32)
    of_a, out = scaled(dtype, 0.02, 7), scaled(dtype, 0.9, 50)
    of_b = scaled(np.int8, 0.01, 3)
    by_column = [np.linspace(0.01, 0.05, 5).astype(F), np.zeros(5, np.int8)]

    def gemm(inputs, attrs=None, dtype=dtype):
        fixed = tuple(i for i in range(1, len(inputs)) if inputs[i] is not None)
        return MsNode("QGemm", inputs, attrs or {}, fixed=fixed, dtypes=(dtype,))

    nodes = [
        gemm([a, *of_a, b, *of_b, c, *out]),
        gemm([a, *of_a, b, *by_column, c, *out]),
        gemm([a, *of_a, b.T.copy(), *by_column, None, *out], {"transB": 1}),
        gemm([a.T.copy(), *of_a, b, *of_b, c, *out], {"transA": 1, "alpha": 0.5}),
        gemm([a, *of_a, b, *of_b, c], None, F),
        gemm([a[:2], *of_a, b[:, :2].copy(), *of_b, c[:2].reshape(2, 1), *out]),
    ]
    near(target, nodes)


X, SCALE, ZERO = ints(np.uint8, 1, 3, 4, 4), np.array(0.1, F), np.array(3, np.uint8)
MANY = np.array([0.1, 0.2, 0.3], F)
REFUSED = [
    (node("QLinearSigmoid", [X, MANY, ZERO, SCALE, ZERO]), "not one number"),
    (node("QLinearAdd", [X, SCALE, ZERO, X[:, :2], SCALE, ZERO, SCALE, ZERO]), "broadcast"),
]


@pytest.mark.parametrize(("wrong", "text"), REFUSED)
def test_nonsensical_nodes_are_refused(wrong, text):
    with pytest.raises(ConvertError, match=text):
        convert(wrong.model([X.shape]), Options(strip=True))
