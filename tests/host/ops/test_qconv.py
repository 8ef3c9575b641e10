"""Quantized convolutions and products with constant weights agree with onnxruntime.

No element may be more than a step off, and at most one in a thousand may differ.
"""

import numpy as np
import pytest

from mpconnxr.ops import qconv
from tests.fuzz import modelfile
from tests.host.device import small
from tests.host.ops.against_ort import Node, run
from tests.host.ops.ms_node import MsNode
from tools.program.call import CannotRecord
from tools.program.record import record

on_targets = pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
rng = np.random.default_rng(21)
F = np.float32

# x, w, attributes: pieces of rows and planes of all kinds
SHAPES = [
    ((2, 3, 9, 11), (5, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    ((1, 6, 7, 8), (8, 3, 2, 3), {"group": 2, "strides": [2, 1], "pads": [0, 1, 1, 2]}),
    ((1, 4, 9, 9), (6, 4, 3, 3), {"dilations": [2, 3], "pads": [2, 3, 2, 3]}),
    ((1, 40, 6, 7), (9, 40, 1, 1), {}),
    ((2, 5, 6, 7), (3, 5, 1, 1), {"strides": [2, 3]}),
    ((1, 5, 4, 4), (3, 5, 1, 1), {"pads": [1, 0, 0, 2]}),
    ((1, 3, 30), (4, 3, 5), {"pads": [2, 2], "strides": [2]}),
    ((2, 7, 9, 5), (7, 1, 3, 3), {"group": 7, "pads": [1, 1, 1, 1]}),
    ((1, 3, 60, 61), (6, 1, 3, 3), {"group": 3, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ((1, 5, 12, 10), (5, 1, 5, 2), {"group": 5, "pads": [2, 0, 2, 3], "dilations": [1, 2]}),
    ((1, 6, 40), (6, 1, 7), {"group": 6, "pads": [3, 3]}),
    ((1, 2, 5, 5), (2, 1, 1, 1), {"group": 2, "strides": [3, 2]}),
]
DEEP = [
    ((1, 3, 5, 6, 7), (4, 3, 3, 3, 3), {"pads": [1, 1, 1, 1, 1, 1]}),
    ((1, 4, 8, 5, 4), (6, 2, 2, 3, 1), {"group": 2, "strides": [2, 1, 2], "pads": [1] * 6}),
    ((1, 2, 9, 6, 5), (3, 2, 3, 2, 2), {"dilations": [3, 2, 1]}),
    ((1, 4, 3, 5, 5), (4, 1, 1, 3, 3), {"group": 4}),
    ((1, 3, 4, 5, 5), (3, 1, 3, 3, 3), {"group": 3, "pads": [1, 0, 0, 0, 0, 0]}),
]


def ints(dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def zero(dtype):
    """Return a zero point, often an end of the dtype's range."""
    info = np.iinfo(dtype)
    return np.array(rng.choice([info.min, info.max, info.max // 3]), dtype)


def of_weights(dtype, channels, by_channel):
    """Return (scales, zero points) of weights."""
    if by_channel:
        return [rng.uniform(0.001, 0.02, channels).astype(F), np.zeros(channels, dtype)]
    return [np.array(rng.uniform(0.001, 0.02), F), zero(dtype)]


def conv(dtype, w_dtype, x_shape, w_shape, attrs, by_channel):
    x, w = ints(dtype, *x_shape), ints(w_dtype, *w_shape)
    k = np.prod(w_shape[1:])
    y_scale = np.array(0.01 * 0.01 * 100 * 73 * np.sqrt(k) / 60, F)
    bias = rng.integers(-20000, 20000, len(w)).astype(np.int32)
    inputs = [x, np.array(0.01, F), zero(dtype), w, *of_weights(w_dtype, len(w), by_channel)]
    inputs += [y_scale, zero(dtype), bias]
    return Node("QLinearConv", inputs, attrs, 13, tuple(range(1, 9)), (dtype,))


def check(target, nodes, kernels):
    """Run all nodes; fail if a result is wrong or a kernel is not an expected one."""
    expected = [n.expected() for n in nodes]
    different = total = 0
    for node, [got], [want] in zip(nodes, run(target, nodes, expected), expected, strict=True):
        results = {s.kernel for s in node.converted([want]).graph.steps}
        assert results <= kernels, str(node)
        far = np.abs(got.astype(int) - want)
        assert far.max(initial=0) <= 1, str(node)
        different, total = different + np.count_nonzero(far), total + far.size
    assert different <= 0.001 * total


@on_targets
@pytest.mark.parametrize(
    ("dtype", "w_dtype", "by_channel"),
    [
        (np.uint8, np.uint8, False),
        (np.uint8, np.int8, True),
        (np.int8, np.int8, True),
        (np.int8, np.int8, False),
    ],
)
def test_convolutions_agree_with_onnxruntime(target, dtype, w_dtype, by_channel):
    nodes = [conv(dtype, w_dtype, *shape, by_channel) for shape in SHAPES]
    check(target, nodes, {"qconv", "qdepthwise"})
    nodes = [conv(dtype, w_dtype, *shape, by_channel) for shape in DEEP]
    check(target, nodes, {"move", "qconv", "qdepthwise"})


@on_targets
def test_products_agree_with_onnxruntime(target):
    nodes = []
    for dtype in (np.uint8, np.int8):
        a_scale, y_scale = np.array(0.01, F), np.array(0.05, F)
        for a_shape, b_shape in [((4, 30), (30, 9)), ((2, 3, 7), (7, 5)), ((3, 4, 6), (3, 6, 5))]:
            a, b = ints(dtype, *a_shape), ints(dtype, *b_shape)
            of_b = of_weights(dtype, b_shape[-1], False)
            inputs = [a, a_scale, zero(dtype), b, *of_b, y_scale, zero(dtype)]
            nodes.append(Node("QLinearMatMul", inputs, {}, 13, tuple(range(1, 8)), (dtype,)))
        a, b, c = ints(dtype, 5, 33), ints(np.int8, 6, 33), ints(np.int16, 6).astype(np.int32)
        inputs = [a, a_scale, zero(dtype), b, *of_weights(np.int8, 6, True), c]
        inputs += [y_scale, zero(dtype)]
        attrs = {"transB": 1, "alpha": 0.7}
        nodes.append(MsNode("QGemm", inputs, attrs, fixed=tuple(range(1, 9)), dtypes=(dtype,)))
    check(target, nodes, {"qconv"})


@on_targets
@pytest.mark.parametrize("known", [True, False])
def test_integer_sums_agree_with_onnxruntime(target, known):
    """ConvInteger and MatMulInteger give exact integers, for constant and computed zero points."""
    nodes = []
    for dtype in (np.uint8, np.int8):
        fixed = (1, 2, 3) if known else (1, 3)
        for x_shape, w_shape, attrs in SHAPES + DEEP:
            inputs = [ints(np.uint8, *x_shape), ints(dtype, *w_shape), zero(np.uint8), zero(dtype)]
            nodes.append(Node("ConvInteger", inputs, attrs, 10, fixed, (np.int32,)))
        inputs = [ints(dtype, 3, 4, 6), ints(dtype, 6, 7), zero(dtype), zero(dtype)]
        nodes.append(Node("MatMulInteger", inputs, {}, 10, fixed, (np.int32,)))
    expected = [n.expected() for n in nodes]
    for node, [got], [want] in zip(nodes, run(target, nodes, expected), expected, strict=True):
        np.testing.assert_array_equal(got, want, str(node))
        kernels = [s.kernel for s in node.converted([want]).graph.steps if s.kernel != "move"]
        assert kernels == ["qconv"]


@pytest.mark.parametrize("columns", [4, 5])
def test_sums_of_rows_are_refused_without_a_packed_table(columns):
    """Rows of 4 bytes are read in place, without a scratch, to which a table is unpacked."""
    x, y = small.value("x", (2, columns), "uint8"), small.value("y", (2, 3), "int32")
    w = np.ones((columns, 3), np.uint8)
    source = small.model([("MatMulInteger", "x w", "y", {})], [x], [y], w=w)
    file = modelfile.read(small.binary(source))
    [step] = file.nodes
    assert (step.kernel, len(step.scratch)) == ("qconv", int(columns == 5))
    step.params[qconv._LACKS_SUMS] = 1
    with pytest.raises(CannotRecord, match="sums of rows"):
        record(file.data(), lambda _, form: form == "plain")
