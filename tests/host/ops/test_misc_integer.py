"""Integer products and quantization on MicroPython, against onnxruntime and numpy."""

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
rng = np.random.default_rng(7)
BYTES = (np.uint8, np.int8)
I32 = (np.int32,)


def ints(dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def matmul_integer_cases():
    """Yield constant and computed B, scalar and per-column zero points, batches, signs."""
    for a_type in BYTES:
        for b_type in BYTES:
            a, b = ints(a_type, 2, 3, 7), ints(b_type, 7, 5)
            a_zero, b_zero = ints(a_type, 1)[0], ints(b_type, 1)[0]
            for fixed in ((1, 2, 3), (1, 3), (), (1,)):
                yield [a, b, np.array(a_zero), np.array(b_zero)], fixed
            yield [a, b], (1,)
            yield [a, b], ()
            yield [a, b, np.array(a_zero), ints(b_type, 5)], (1, 3)
            yield [a[0], b, np.array(a_zero), ints(b_type, 5)], ()
            yield [a, ints(b_type, 2, 7, 4), np.array(a_zero), np.array(b_zero)], (1, 3)


def product(a, b, a_zero=0, b_zero=0):
    a, b = (x.astype(np.int64) for x in (a, b))
    return (a - np.asarray(a_zero, np.int64)) @ (b - np.asarray(b_zero, np.int64))


@on_targets
def test_matmul_integer_agrees(target):
    cases = list(matmul_integer_cases())
    nodes = [Node("MatMulInteger", inputs, {}, 10, fixed, I32) for inputs, fixed in cases]
    compare(target, nodes, [[product(*inputs).astype(np.int32)] for inputs, _ in cases])


@on_targets
def test_matmul_and_gemm_of_integers_wrap_around(target):
    nodes, expected = [], []
    for dtype in (np.int32, np.uint32, np.int64, np.uint64):
        a, b, c = ints(dtype, 3, 4), ints(dtype, 4, 2), ints(dtype, 2)
        with np.errstate(all="ignore"):
            nodes += [Node("MatMul", [a, b], {}, 13, f, (dtype,)) for f in ((), (1,))]
            expected += [[a @ b]] * 2
            nodes.append(Node("Gemm", [a, b, c], {}, 13, (), (dtype,)))
            expected.append([a @ b + c])
    compare(target, nodes, expected)


@on_targets
def test_matmul_of_batches_that_broadcast_in_turns(target):
    shapes = [
        ((2, 1, 3, 1, 4, 5), (1, 2, 1, 3, 5, 2)),
        ((3, 1, 4, 5), (2, 5, 6)),
        ((4,), (2, 4, 3)),
    ]
    pairs = [[rng.standard_normal(s).astype(np.float32) for s in pair] for pair in shapes]
    nodes = [Node("MatMul", pair, {}, 13, f) for pair in pairs for f in ((), (1,))]
    compare(target, nodes, [[a @ b] for a, b in pairs for _ in range(2)], rtol=1e-5, atol=1e-5)


@on_targets
def test_conv_integer_agrees(target):
    nodes = []
    for dtype in BYTES:
        x, w = ints(np.uint8, 1, 2, 5, 6), ints(dtype, 3, 2, 2, 3)
        zero = np.array(9, np.uint8)
        pads = {"pads": [1, 0, 1, 2], "strides": [2, 1]}
        for fixed in ((1, 2), ()):
            nodes.append(Node("ConvInteger", [x, w, zero], pads, 10, fixed, I32))
        if dtype == np.uint8:
            w_zero = np.array(200, dtype)
            nodes.append(Node("ConvInteger", [x, w, zero, w_zero], pads, 10, (1, 2, 3), I32))
    compare(target, nodes)


def scale(*values):
    return np.array(values, np.float32).reshape(() if len(values) == 1 else -1)


@on_targets
def test_qlinear_operators_agree(target):
    """Scales are powers of two, for which onnxruntime is exact, at ties too."""
    nodes = []
    for dtype in BYTES:
        zero = [np.array(v, dtype) for v in (3, 100, 7)]
        a, b = ints(dtype, 4, 6), ints(dtype, 6, 5)
        inputs = [a, scale(1 / 64), zero[0], b, scale(0.5), zero[1], scale(8.0), zero[2]]
        for fixed in ((3, 4, 5), ()):
            nodes.append(Node("QLinearMatMul", inputs, {}, 10, fixed, (dtype,)))
        x, w = ints(dtype, 1, 2, 5, 5), ints(dtype, 3, 2, 3, 3)
        middle = np.array(128 if dtype == np.uint8 else 0, dtype)
        conv = [x, scale(1 / 32), zero[0], w, scale(0.5, 0.25, 1.0), np.repeat(middle, 3)]
        conv += [scale(16.0), zero[2], np.array([1000, -2000, 0], np.int32)]
        attrs = {"pads": [1, 1, 1, 1]}
        nodes.append(Node("QLinearConv", conv, attrs, 10, tuple(range(1, 9)), (dtype,)))
        nodes.append(Node("QLinearConv", conv, attrs, 10, (3,), (dtype,)))
    compare(target, nodes)


@on_targets
def test_quantize_and_dequantize_agree(target):
    x = np.concatenate([np.arange(-8, 9) / 4, [1e30, -1e30, np.inf, -np.inf, 0.1]])
    x = np.tile(x.astype(np.float32), (3, 1))
    nodes = []
    for dtype in (np.uint8, np.int8, np.uint16, np.int16):
        zero = np.array([0, 5, 9], dtype)
        q = ints(dtype, 3, 8)
        for axis, count in ((0, 3), (1, 1)):
            values = scale(0.5, 0.25, 3.0) if count == 3 else scale(0.5)
            zeros = zero if count == 3 else zero[1]
            attrs = {"axis": axis}
            nodes.append(Node("QuantizeLinear", [x, values, zeros], attrs, 21, (), (dtype,)))
            nodes.append(Node("DequantizeLinear", [q, values, zeros], attrs, 21))
        blocks = {"axis": 1, "block_size": 3}
        values = rng.random((3, 3)).astype(np.float32)
        nodes.append(Node("DequantizeLinear", [q, values, ints(dtype, 3, 3)], blocks, 21, (1, 2)))
        nodes.append(Node("DequantizeLinear", [q, values], blocks, 21))
    nodes.append(Node("DequantizeLinear", [ints(np.int32, 4), scale(0.5)], {}, 13))
    compare(target, nodes, rtol=1e-6)


@on_targets
def test_dynamic_quantize_agrees(target):
    u8 = np.uint8
    outs = (u8, np.float32, u8)
    data = [rng.standard_normal(40) * 3, rng.random(40) + 1, -rng.random(40), np.zeros(5)]
    compare(
        target,
        [
            Node("DynamicQuantizeLinear", [d.astype(np.float32)], {}, 11, (), outs)
            for d in data[:3]
        ],
    )
