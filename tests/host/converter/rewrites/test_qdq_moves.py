"""Q and DQ pass operators that move elements; functions of one byte become tables."""

import numpy as np
import pytest

from tests.host.converter.rewrites.qdq_net import (
    S8,
    U8,
    Net,
    by_onnxruntime,
    on_device,
    operators,
    rewritten,
)

A = 0.031


def moved(op, *inputs, shape=(1, 4, 6, 6), zero=-9, opset=17, dtype=S8, **attrs):
    """Return DQ -> operator -> Q of the same scale."""
    net = Net(opset)
    x = net.dq(net.input(shape, dtype), A, zero, dtype)
    names = [net.constant(v, np.int64) for v in inputs]
    return net, [net.q(net.op(op, x, *names, **attrs), A, zero, dtype)]


def pad(value, **attrs):
    net = Net()
    x = net.input([1, 2, 5, 5])
    values = [net.constant([0, 0, 1, 2, 0, 0, 3, 4], np.int64), net.constant(value)]
    y = net.op("Pad", net.dq(x, A, 20), *values, **attrs)
    return net, [net.q(y, A, 20)]


def resize():
    net = Net()
    x = net.dq(net.input([1, 2, 5, 5]), A, 20)
    y = net.op("Resize", x, "", net.constant([1, 1, 2, 2]), mode="nearest")
    return net, [net.q(y, A, 20)]


def largest():
    net = Net(13)
    return net, [net.op("ArgMax", net.dq(net.input([4, 30]), A, 20), axis=1)]


def split():
    net = Net()
    x = net.dq(net.input([1, 6, 5]), A, 20)
    parts = net.op("Split", x, net.constant([2, 4], np.int64), outputs=2, axis=1)
    return net, [net.q(part, A, 20) for part in parts]


def concat(scales):
    net = Net()
    parts = [net.dq(net.input([1, 2 + i, 5]), s, 3) for i, s in enumerate(scales)]
    return net, [net.q(net.op("Concat", *parts, axis=1), A, 3)]


def between_transposes():
    """Return a model in channels-last layout as tf2onnx writes it."""
    net = Net(13)
    x = net.op("Transpose", net.dq(net.input([1, 8, 8, 3]), A, -128), perm=[0, 3, 1, 2])
    y = net.op("Relu", net.op("Conv", x, net.weights([4, 3, 3, 3], 0.005)))
    y = net.op("MaxPool", y, kernel_shape=[2, 2])
    return net, [net.q(net.op("Transpose", y, perm=[0, 2, 3, 1]), 0.02, -128)]


MOVED = {
    "reshape": (moved("Reshape", [1, -1]), ["Reshape"]),
    "flatten": (moved("Flatten", dtype=U8, zero=7), ["Flatten"]),
    "squeeze": (moved("Squeeze", [0]), ["Squeeze"]),
    "transpose": (moved("Transpose", perm=[0, 2, 3, 1]), ["Transpose"]),
    "slice": (moved("Slice", [0, 1], [3, 6], [1, 2], [1, 2]), ["Slice"]),
    "max pool": (moved("MaxPool", kernel_shape=[3, 3], strides=[2, 2]), ["MaxPool"]),
    "largest of an axis": (moved("ReduceMax", opset=13, axes=[2, 3], keepdims=0), ["ReduceMax"]),
    "depth to space": (moved("DepthToSpace", blocksize=2), ["DepthToSpace"]),
    "gather": (moved("Gather", [[2, 0]], axis=1), ["Gather"]),
    "pad": (pad(0), ["Pad"]),
    "pad with a value": (pad(A * np.float32(5)), ["Pad"]),
    "pad with edges, beside a value": (pad(1, mode="edge"), ["Pad"]),
    "resize": (resize(), ["Resize"]),
    "split": (split(), ["Split"]),
    "argmax": (largest(), ["ArgMax"]),
    "concat": (concat([A, A]), ["Concat"]),
    "concat of other scales": (concat([A, 0.02, 0.05]), ["Concat", "Lookup", "Lookup"]),
    "transposes": (between_transposes(), ["MaxPool", "QLinearConv", "Transpose", "Transpose"]),
}


def chain(*ops, scale=0.02, zero=10, dtype=S8, y_dtype=None):
    """Return DQ -> operators -> Q; an operator is a type or (type, attributes)."""
    net = Net()
    y = net.dq(net.input([3, 50], dtype), A, zero, dtype)
    for op in ops:
        op, attrs = op if isinstance(op, tuple) else (op, {})
        y = net.op(op, y, **attrs)
    return net, [net.q(y, scale, zero, y_dtype or dtype)]


def silu():
    """Return x * sigmoid(x), quantized in between too."""
    net = Net()
    x = net.dq(net.input([3, 50]), A, 10)
    gate = net.qdq(net.op("Sigmoid", x), 1 / 256, -128)
    return net, [net.q(net.op("Mul", x, gate), 0.02, -100)]


def gate(kind, between=False, constants=False):
    """Return x times a function of it as exporters write it, quantized between or not."""
    net = Net()
    x = net.dq(net.input([3, 50]), A, 10)

    def step(op, *inputs, **attrs):
        y = net.op(op, *inputs, **attrs)
        return net.qdq(y, 0.03, -40) if between else y

    def number(value):
        if constants:
            return net.dq(net.constant(127, S8), value / 127)
        return net.constant(value)

    if kind == "hard sigmoid":
        y = net.op("Mul", x, step("HardSigmoid", x, alpha=1 / 6))
    else:
        y = step("Clip", step("Add", x, number(3.0)), net.constant(0.0), net.constant(6.0))
        if kind == "factor last":
            y = net.op("Div", step("Mul", x, y), number(6.0))
        else:
            y = net.op("Mul", step("Mul", y, number(1 / 6)), x)
    return net, [net.q(y, 0.02, -100)]


def with_constants():
    net = Net()
    x = net.dq(net.input([3, 50], U8), A, 100, U8)
    y = net.op("Div", net.op("Add", x, net.constant(3.0)), net.constant([[6.0]]))
    return net, [net.q(net.op("Pow", y, net.constant(2.0)), 0.02)]


def with_a_quantized_constant():
    net = Net()
    half = net.dq(net.constant(64, S8), 1 / 128)
    return net, [net.q(net.op("Mul", net.dq(net.input([]), A, 10), half), 0.02)]


def to_float():
    net = Net()
    return net, [net.op("Sigmoid", net.dq(net.input([3, 50]), A, 10))]


def of_two_scales():
    """Return a Q whose integers two others requantize; one of the results is an output itself."""
    net = Net()
    x = net.dq(net.input([3, 50]), A, 10)
    first = net.q(x, 0.05, 3)
    again = net.dq(first, 0.05, 3)
    return net, [first, net.q(net.op("Relu", again), 0.04, 0), net.q(again, 0.05, 3)]


TABLES = {
    "tanh": (chain("Tanh"), ["Lookup"]),
    "sigmoid u8": (chain("Sigmoid", dtype=U8, zero=128), ["Lookup"]),
    "to unsigned": (chain("Abs", y_dtype=U8), ["Lookup"]),
    "three": (chain("Relu", ("LeakyRelu", {"alpha": 0.3}), "Sqrt"), ["Lookup"]),
    "hard swish": (chain("HardSwish"), ["Lookup"]),
    "logarithm of negatives": (chain("Log", zero=0), ["Lookup"]),
    "requantize": (chain(), ["Lookup"]),
    "nothing": (chain(scale=A), ["Identity"]),
    "silu": (silu(), ["Lookup"]),
    "hard sigmoid times x": (gate("hard sigmoid"), ["Lookup"]),
    "the same, quantized between": (gate("hard sigmoid", True), ["Lookup"]),
    "clip times x": (gate("factor first"), ["Lookup"]),
    "clip times x, quantized between": (gate("factor first", True, True), ["Lookup"]),
    "factor last": (gate("factor last"), ["Lookup"]),
    "factor last, quantized between": (gate("factor last", True, True), ["Lookup"]),
    "constants": (with_constants(), ["Lookup"]),
    "quantized constant": (with_a_quantized_constant(), ["Lookup"]),
    "to float": (to_float(), ["Lookup"]),
    "several": (of_two_scales(), ["Lookup"] * 3),
}


@pytest.mark.parametrize("name", [*MOVED, *TABLES])
def test_regions_become_integer_operators(name):
    (net, outputs), expected = (MOVED | TABLES)[name]
    assert operators(rewritten(net.model(*outputs))) == expected


@pytest.mark.parametrize("target", ["unix", "unix32", "unix-plain"], indirect=True)
def test_integer_operators_give_onnxruntimes_integers(target):
    """All integers are equal: nothing is computed that could be rounded otherwise."""
    cases = MOVED | TABLES
    del cases["transposes"]
    models = [net.model(*outputs) for (net, outputs), _ in cases.values()]
    inputs = [net.values() for (net, _), _ in cases.values()]
    result = on_device(target, models, inputs)
    for name, model, xs, got in zip(cases, models, inputs, result, strict=True):
        for a, b in zip(got, by_onnxruntime(model, xs), strict=True):
            assert a.dtype == b.dtype and np.array_equal(a, b), name


@pytest.mark.parametrize("name", [*MOVED, *TABLES])
def test_onnxruntime_runs_the_rewritten_model(name):
    """The model defines Lookup by operators of ONNX."""
    (net, outputs), _ = (MOVED | TABLES)[name]
    model, xs = net.model(*outputs), net.values()
    pairs = zip(by_onnxruntime(rewritten(model), xs), by_onnxruntime(model, xs), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs)


def test_no_two_nodes_share_a_name():
    """onnxruntime refuses such a model."""
    net = Net(13)
    x = net.dq(net.input([2, 3, 4], U8), A, 0, U8)
    first, second = net.op("Split", x, net.constant([1, 1], np.int64), outputs=2)
    moved = net.op("Relu", net.op("Transpose", first, perm=[0, 2, 1]))
    lowest = net.op("ReduceMin", moved, axes=[0])
    result = rewritten(net.model(second, net.op("Neg", moved), net.q(lowest, A, 0, U8)))
    names = [node.name for node in result.graph.node]
    assert len({*names}) == len(names)


def test_functions_with_vector_constants_are_not_tables():
    net = Net()
    x = net.dq(net.input([2, 3, 4]), A, 10)
    y = net.op("Mul", x, net.constant(net.rng.standard_normal(4)))
    model = net.model(net.q(y, 0.02))
    assert operators(rewritten(model)) == ["DequantizeLinear", "Mul", "QuantizeLinear"]


def test_a_value_with_float_readers_stays_float():
    net = Net()
    x = net.dq(net.input([2, 3, 4]), A, 10)
    y = net.op("Softsign", net.op("ReduceSum", x, net.constant([1], np.int64)))
    model = net.model(net.q(y, 0.02), y)
    kept = ["DequantizeLinear", "QuantizeLinear", "ReduceSum", "Softsign"]
    assert operators(rewritten(model)) == kept
