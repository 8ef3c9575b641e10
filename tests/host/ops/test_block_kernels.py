"""Convolutions and products in block floating point agree with onnxruntime, without a heap."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.against_ort import Node
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
BOUND = 1e-6  # of the largest output; 24 bits of mantissa and one rounding


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def conv(x, w, bias=True, **attrs):
    inputs = [floats(*x), floats(*w, seed=1)] + [floats(w[0], seed=2)] * bias
    return Node("Conv", inputs, attrs, fixed=(1, 2)[: 1 + bias])


NODES = [
    conv((2, 3, 9, 8), (4, 3, 3, 3), pads=[1, 1, 1, 1]),
    conv((1, 3, 9, 8), (4, 3, 3, 3), pads=[0, 1, 0, 1], strides=[2, 2]),
    conv((1, 6, 9, 8), (6, 1, 3, 3), False, pads=[1, 1, 1, 1], group=6),
    conv((1, 4, 9, 12), (6, 2, 3, 3), pads=[1, 0, 1, 0], group=2, dilations=[1, 2]),
    conv((1, 4, 9, 12), (6, 4, 1, 1), strides=[2, 3]),
    conv((1, 4, 30), (6, 4, 5), pads=[2, 2], strides=[3]),
    conv((1, 2, 5, 6, 7), (3, 2, 2, 3, 3), dilations=[2, 1, 1]),
    conv((1, 40, 3, 40), (70, 40, 3, 3), pads=[1, 1, 1, 1]),  # one row takes several calls
    Node(
        "ConvTranspose", [floats(1, 2, 5, 6), floats(2, 3, 3, 3)], {"strides": [2, 2]}, fixed=(1,)
    ),
    Node("Gemm", [floats(3, 70), floats(130, 70), floats(130)], {"transB": 1}, fixed=(1, 2)),
    Node("Gemm", [floats(3, 7), floats(7, 9), floats(9)]),
    Node("Gemm", [floats(3, 7), floats(7, 9), floats(1, 9)], {"alpha": 0.25}, fixed=(1,)),
    Node("MatMul", [floats(2, 3, 7), floats(2, 7, 9)]),
    Node("MatMul", [floats(2, 1, 3, 7), floats(4, 7, 2)]),
    Node("MatMul", [floats(2, 3, 7), floats(7, 5)], fixed=(1,)),
]


def converted(node, **options):
    shapes = [y.shape for y in node.expected()]
    return convert(node.model(shapes), Options(strip=True, **options))


def outputs_of(target, models, values):
    jobs = [
        Job(converted.data, [[x.tobytes() for x in inputs]])
        for converted, inputs in zip(models, values, strict=True)
    ]
    outcomes = run_jobs(target, jobs)
    assert not any(o.error for o in outcomes), [o.message for o in outcomes if o.error]
    return [np.frombuffer(o.runs[0].outputs[0], np.float32) for o in outcomes]


@on_targets
def test_kernels_agree_with_onnxruntime(target):
    models = [converted(node) for node in NODES]
    assert all({s.kernel for s in m.graph.steps} & {"block_conv", "block_gemm"} for m in models)
    result = outputs_of(target, models, [node.values() for node in NODES])
    for node, got in zip(NODES, result, strict=True):
        [expected] = node.expected()
        error = np.abs(got.astype(np.float64) - expected.ravel()).max()
        assert error <= BOUND * np.abs(expected).max(), node


@on_targets
def test_every_target_gives_the_same_bits(target, ready_target):
    models, values = [converted(node) for node in NODES], [node.values() for node in NODES]
    result = outputs_of(target, models, values)
    for one, other in zip(result, outputs_of(ready_target("unix"), models, values), strict=True):
        assert np.array_equal(one.view(np.int32), other.view(np.int32))


@on_targets
def test_infinities_and_nan_spread_as_in_float32(target):
    """They appear where onnxruntime has them; rows and images without any stay exact."""
    nodes = [
        conv((2, 3, 9, 8), (4, 3, 3, 3), pads=[1, 1, 1, 1], group=1),
        Node("Gemm", [floats(3, 7), floats(7, 9), floats(9)], fixed=(1, 2)),
        Node("MatMul", [floats(2, 3, 7), floats(2, 7, 9)]),
    ]
    nodes[0].inputs[0][0, 1, 3, 3] = np.nan
    nodes[0].inputs[0][0, 2, 7, 7] = np.inf
    nodes[1].inputs[0][1, 2] = -np.inf
    nodes[2].inputs[1][1, 2, 4] = np.nan
    models = [converted(node) for node in nodes]
    result = outputs_of(target, models, [node.values() for node in nodes])
    for node, got in zip(nodes, result, strict=True):
        expected = node.expected()[0].ravel()
        assert np.isnan(expected).any() or np.isinf(expected).any()
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


@on_targets
def test_only_infinite_rows_are_computed_with_floats(target):
    """Rows, batches of weights and images beside one that is not finite keep their bits."""
    x, w = floats(4, 3, 7), floats(4, 7, 5, seed=1)
    nodes = [
        Node("MatMul", [x, w]),
        Node("Gemm", [x[0], w[0]], fixed=(1,)),
        conv((3, 2, 6, 7), (4, 2, 3, 3), pads=[1, 1, 1, 1]),
    ]
    models, values = [converted(node) for node in nodes], [node.values() for node in nodes]
    before = outputs_of(target, models, values)
    values = [[v.copy() for v in inputs] for inputs in values]
    values[0][0][1, 2, 3], values[0][1][2, 6, 4] = np.inf, np.nan
    values[1][0][1, 0] = -np.inf
    values[2][0][1, 0, 2, 3] = np.nan
    after = outputs_of(target, models, values)
    shapes = [(12, 5), (3, 5), (3, 4 * 6 * 7)]
    spoilt = [{5, 6, 7, 8}, {1}, {1}]
    for one, other, shape, rows in zip(before, after, shapes, spoilt, strict=True):
        same = (one.view(np.int32) == other.view(np.int32)).reshape(shape).all(axis=1)
        assert set(np.flatnonzero(~same)) <= rows
        finite = np.isfinite(other.reshape(shape)).all(axis=1)
        assert set(np.flatnonzero(~finite)) <= rows and not finite.all()


def product_model():
    """Return a grouped convolution, and products with constant and with computed weights."""
    nodes = [
        ("Conv", "x w b", "c", {"pads": [1, 1, 1, 1], "group": 2}),
        ("Reshape", "c flat", "f", {}),
        ("Gemm", "f m n", "g", {}),
        ("Reshape", "g square", "s", {}),
        ("MatMul", "s s", "y", {}),
    ]
    constants = {"w": floats(4, 1, 3, 3), "b": floats(4), "m": floats(24, 36), "n": floats(36)}
    shapes = {"flat": np.array([5, -1], np.int64), "square": np.array([5, 6, 6], np.int64)}
    inputs, outputs = [small.value("x", (1, 2, 5, 6))], [small.value("y", (5, 6, 6))]
    return small.model(nodes, inputs, outputs, **constants, **shapes)


@on_targets
@pytest.mark.parametrize("args", [(), ("sliced",)])
def test_a_run_allocates_nothing(target, args):
    converted, x = convert(product_model(), Options(keep_inputs=True)), small.floats(1, 2, 5, 6)
    assert {s.kernel for s in converted.graph.steps} == {"block_conv", "block_gemm", "move"}
    files = {"model.bin": converted.data, "x.bin": x.tobytes()}
    printed = small.run(target, small.SCRIPTS / "allocation.py", files, args)
    allocated, kept, output = printed.split()
    assert kept == "0"
    # In the plain form the loops themselves are bytecode, with frames that the heap lends them.
    assert allocated == "0" or not target.viper
    expected = small.expected(product_model(), x)[0].ravel()
    got = np.frombuffer(bytes.fromhex(output), np.float32)
    assert np.abs(got - expected).max() <= BOUND * np.abs(expected).max()


PADDED = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}


@on_targets
def test_means_agree_with_onnxruntime(target):
    """Averages of windows and rows are products with equal weights; pads change the divisor."""
    x = floats(2, 3, 9, 8)
    nodes = [
        Node("AveragePool", [x], {"kernel_shape": [2, 3], "strides": [2, 1]}),
        Node("AveragePool", [x], {"kernel_shape": [9, 8]}),
        Node("GlobalAveragePool", [x]),
        Node("ReduceMean", [x, np.array([2, 3])], fixed=(1,)),
        Node("AveragePool", [x], {**PADDED, "count_include_pad": 1}),
        Node("AveragePool", [x], PADDED),
    ]
    models = [converted(node) for node in nodes]
    kernels = [{s.kernel for s in m.graph.steps} for m in models]
    of_padded = [{"block_conv"}, {"block_conv", "binary"}]
    assert kernels == [{"block_conv"}] * 2 + [{"block_gemm"}] * 2 + of_padded
    for node, got in zip(
        nodes, outputs_of(target, models, [n.values() for n in nodes]), strict=True
    ):
        [expected] = node.expected()
        assert np.abs(got - expected.ravel()).max() <= BOUND * np.abs(x).max(), node
