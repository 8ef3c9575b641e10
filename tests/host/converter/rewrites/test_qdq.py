"""Regions between DQ and Q become integer operators that give onnxruntime's own integers."""

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
    steps_apart,
)
from tools.converter.convert import Options, convert

A, B, Y = 0.031007, 0.017003, 0.050021  # scales in which sums never lie in the middle
IDENTICAL = 0.999


def conv(dtype=S8, zero=-7, per_channel=True, bias=True, after=None, y_zero=-128, **attrs):
    net = Net()
    x = net.dq(net.input([1, 4, 12, 12], dtype), A, zero, dtype)
    scale = np.linspace(0.002, 0.01, 8, dtype=np.float32) if per_channel else 0.004
    w = net.weights([8, 4, 3, 3], scale, **({"axis": 0} if per_channel else {}))
    inputs = [x, w] + ([net.bias(8, np.float32(A) * np.float32(scale))] if bias else [])
    y = net.op("Conv", *inputs, pads=[1, 1, 1, 1], **attrs)
    if after == "Clip":
        y = net.op("Clip", y, net.constant(0), net.constant(6))
    elif after:
        y = net.op(after, y)
    return net, net.q(y, Y, y_zero, dtype)


def conv_and_add():
    net = Net()
    x = net.dq(net.input([1, 4, 12, 12]), A, 3)
    y = net.op("Conv", x, net.weights([8, 4, 3, 3], 0.004))
    y = net.op("Add", net.constant(net.rng.standard_normal((8, 1, 1))), y)
    return net, net.q(y, 0.1, 9)


def weights_to_quantize():
    """Return a product with weights that are floats in the file, behind Q and DQ."""
    net = Net()
    w = net.qdq(net.constant(net.rng.standard_normal((40, 20))), 0.02)
    y = net.op("MatMul", net.dq(net.input([5, 40]), A, 3), w)
    return net, net.q(y, 0.1, 9)


def weights_to_transpose():
    net = Net()
    w = net.weights([20, 40], np.linspace(0.001, 0.003, 20, dtype=np.float32), axis=0)
    w = net.op("Transpose", w, perm=[1, 0])
    return net, net.q(net.op("MatMul", net.dq(net.input([5, 40]), A, 3), w), Y, 9)


def gemm(op="Gemm", shape=(5, 40), relu=False, bias="int32", trans_b=0):
    net = Net()
    x = net.dq(net.input(shape), A, -3)
    by_column = np.linspace(0.001, 0.003, 20, dtype=np.float32)
    w_shape = [20, 40] if trans_b else [40, 20]
    w = net.weights(w_shape, by_column, axis=1 - trans_b)
    c = net.bias(20, np.float32(A) * by_column) if bias == "int32" else None
    if bias == "float":
        c = net.constant(net.rng.standard_normal(20))
    if op == "Gemm":
        y = net.op("Gemm", x, w, *([c] if c else []), transB=trans_b)
    else:
        y = net.op("MatMul", x, w)
        y = net.op("Add", y, c) if c else y
    y = net.op("Relu", y) if relu else y
    return net, net.q(y, Y, 4)


def binary(op, dtype=S8, relu=False, shape=(1, 8, 6, 6)):
    net = Net()
    a = net.dq(net.input([1, 8, 6, 6], dtype), A, 5, dtype)
    b = net.dq(net.input(shape, dtype), B, 90, dtype)
    y = net.op(op, a, b)
    y = net.op("Relu", y) if relu else y
    return net, net.q(y, 0.07, 20, dtype)


def mean(op, shape=(1, 16, 7, 9), dtype=S8, y_scale=0.02, **attrs):
    net = Net(opset=attrs.pop("opset", 17))
    x = net.dq(net.input(shape, dtype), A, 11, dtype)
    return net, net.q(net.op(op, x, **attrs), y_scale, 3, dtype)


def softmax(axis, opset, shape=(3, 4, 10)):
    net = Net(opset)
    y = net.op("Softmax", net.dq(net.input(shape), 0.1, 5), axis=axis)
    return net, net.q(y, 1 / 256, -128)


def scores(op, first=False):
    """Return the scaled scores of attention, in front of Softmax."""
    net = Net()
    x = net.dq(net.input([2, 6, 10]), 0.3, 5)
    number = net.constant(0.35 if op == "Mul" else 2.8284271)
    y = net.op(op, *((number, x) if first else (x, number)))
    return net, net.q(net.op("Softmax", y, axis=-1), 1 / 256, -128)


def layer_norm(opset=17, dtype=S8, in_parts=False):
    net = Net(opset)
    x = net.dq(net.input([3, 20, 16], dtype), A, 5, dtype)
    scale, bias = (net.constant(net.rng.normal(v, 0.2, 16)) for v in (1, 0))
    if not in_parts:
        y = net.op("LayerNormalization", x, scale, bias)
    else:
        d = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1]))
        squares = net.op("ReduceMean", net.op("Pow", d, net.constant(2)), axes=[-1])
        root = net.op("Sqrt", net.op("Add", squares, net.constant(1e-5)))
        y = net.op("Add", net.op("Mul", net.op("Div", d, root), scale), bias)
    return net, net.q(y, 0.02003, 9, dtype)


def of_two_matrices():
    net = Net()
    a, b = net.dq(net.input([2, 6, 30]), A, 1), net.dq(net.input([2, 30, 9]), B, 2)
    return net, net.q(net.op("MatMul", a, b), 0.09, -3)


FUSED = {
    "conv": (conv(), ["QLinearConv"]),
    "conv u8": (conv(U8, 130, y_zero=0), ["QLinearConv"]),
    "conv by tensor": (conv(per_channel=False, bias=False), ["QLinearConv"]),
    "conv, relu saturates": (conv(after="Relu"), ["QLinearConv"]),
    "conv, relu does not": (conv(after="Relu", y_zero=-20), ["Lookup", "QLinearConv"]),
    "conv, clip": (conv(after="Clip"), ["Lookup", "QLinearConv"]),
    "conv, strides": (conv(strides=[2, 2]), ["QLinearConv"]),
    "conv, add": (conv_and_add(), ["QLinearConv"]),
    "weights to quantize": (weights_to_quantize(), ["QGemm"]),
    "weights to transpose": (weights_to_transpose(), ["QGemm"]),
    "gemm": (gemm(), ["QGemm"]),
    "gemm, relu": (gemm(relu=True), ["Lookup", "QGemm"]),
    "gemm, transB": (gemm(trans_b=1), ["QGemm"]),
    "gemm without C": (gemm(bias=""), ["QGemm"]),
    "matmul": (gemm("MatMul", bias=""), ["QGemm"]),
    "matmul, add": (gemm("MatMul"), ["QGemm"]),
    "matmul, add a float row": (gemm("MatMul", bias="float"), ["QGemm"]),
    "matmul of 3 dims": (gemm("MatMul", (2, 5, 40)), ["QGemm", "Reshape", "Reshape"]),
    "matmul of two": (of_two_matrices(), ["QLinearMatMul"]),
    "add": (binary("Add"), ["QLinearAdd"]),
    "add u8, relu": (binary("Add", U8, relu=True), ["Lookup", "QLinearAdd"]),
    "add broadcast": (binary("Add", shape=[8, 1, 1]), ["QLinearAdd"]),
    "sub": (binary("Sub"), ["Lookup", "QLinearAdd"]),
    "sub u8": (binary("Sub", U8), ["Lookup", "QLinearAdd"]),
    "mul": (binary("Mul"), ["QLinearMul"]),
    "average": (mean("AveragePool", kernel_shape=[2, 3], strides=[2, 2]), ["QLinearAveragePool"]),
    "global average": (mean("GlobalAveragePool"), ["QLinearGlobalAveragePool"]),
    "mean of the last axes": (
        mean("ReduceMean", axes=[2, 3], keepdims=0),
        ["QLinearGlobalAveragePool", "Reshape", "Reshape"],
    ),
    "mean of others": (
        mean("ReduceMean", (1, 7, 9, 16), axes=[1, 2]),
        ["QLinearAveragePool", "Reshape", "Reshape", "Transpose"],
    ),
    "softmax": (softmax(-1, 17), ["QLinearSoftmax"]),
    "softmax before opset 13": (softmax(1, 11), ["QLinearSoftmax"]),
    "scores": (scores("Div"), ["QLinearSoftmax"]),
    "scores, mul": (scores("Mul", first=True), ["QLinearSoftmax"]),
    "layer norm": (layer_norm(), ["QLinearLayerNormalization"]),
    "layer norm u8": (layer_norm(dtype=U8), ["QLinearLayerNormalization"]),
}


# Layer normalization is found in its parts by rewrites that change the rounding of floats.
LEVEL_2 = {
    "layer norm in parts": layer_norm(in_parts=True),
    "layer norm before opset 17": layer_norm(13, in_parts=True),
}


@pytest.mark.parametrize("name", FUSED)
def test_regions_become_integer_operators(name):
    (net, y), expected = FUSED[name]
    assert operators(rewritten(net.model(y))) == expected


@pytest.mark.parametrize("name", LEVEL_2)
def test_layer_normalization_becomes_an_integer_operator_at_level_2(target, name):
    net, y = LEVEL_2[name]
    model, xs = net.model(y), net.values()
    rewritten_model = rewritten(model, 2)
    assert operators(rewritten_model) == ["QLinearLayerNormalization"]
    [want] = by_onnxruntime(model, xs)
    [[got]] = on_device(target, [model], [xs], 2)
    for result in (got, by_onnxruntime(rewritten_model, xs)[0]):
        apart = steps_apart(result, want)
        assert apart.max() <= 1 and (apart == 0).mean() >= IDENTICAL


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_integer_operators_give_onnxruntimes_integers(target):
    models = [net.model(y) for (net, y), _ in FUSED.values()]
    inputs = [net.values() for (net, _), _ in FUSED.values()]
    got = on_device(target, models, inputs)
    failures, total = [], []
    for name, model, xs, [results] in zip(FUSED, models, inputs, got, strict=True):
        apart = steps_apart(results, by_onnxruntime(model, xs)[0])
        total.append(apart.ravel())
        if apart.max() > 1 or (apart > 0).sum() > 1 + (1 - IDENTICAL) * apart.size:
            failures.append(f"{name}: {(apart > 0).sum()} of {apart.size}, {apart.max()}")
    assert not failures, "\n".join(failures)
    assert (np.concatenate(total) == 0).mean() >= IDENTICAL


def conv_to_float():
    net = Net()
    x = net.dq(net.input([1, 3, 5, 5]), A, 7)
    w = net.weights([4, 3, 1, 1], np.linspace(0.01, 0.02, 4, dtype=np.float32), axis=0)
    return net, net.op("Conv", x, w, net.constant(net.rng.standard_normal(4)))


def gemm_to_float(**attrs):
    net = Net()
    x = net.dq(net.input([3, 20]), A, -5)
    w = net.weights([6, 20] if attrs.get("transB") else [20, 6], 0.02, 3)
    return net, net.op("Gemm", x, w, net.constant(net.rng.standard_normal(6)), **attrs)


def matmul_to_float():
    net = Net()
    x = net.dq(net.input([2, 3, 20], U8), A, 90, U8)
    y = net.op("MatMul", x, net.weights([20, 6], 0.02))
    return net, net.op("Add", y, net.constant(net.rng.standard_normal(6)))


def gemm_and_column():
    """Return a Gemm with as many rows as columns, and a C of one number for each row."""
    net = Net()
    x, w = net.dq(net.input([6, 20]), A, -5), net.weights([20, 6], 0.02, 3)
    y = net.op("Gemm", x, w, net.constant(net.rng.standard_normal((6, 1))))
    return net, net.q(y, Y, 4)


def scales_far_apart():
    net = Net(opset=21)
    a = net.dq(net.input([1, 40], np.int16), 1.0, 0, np.int16)
    b = net.dq(net.input([1, 40], np.int16), A, 0, np.int16)
    return net, net.q(net.op("Add", a, b), 2e-5, 0, np.int16)


def scale_that_saturates():
    net = Net(opset=21)
    x = net.dq(net.input([1, 40], np.int16), 1.0, 0, np.int16)
    return net, net.q(net.op("Clip", x, net.constant(-1), net.constant(1)), 3e-7, 0, np.int16)


def views_to_one_number():
    """Return a vector of one element whose shape is squeezed away."""
    net = Net()
    x = net.op("Reshape", net.qdq(net.input([1, 1], np.float32), A), net.constant([1], np.int64))
    return net, net.q(net.op("Squeeze", net.qdq(x, A), net.constant([0], np.int64)), A)


def gemm_and_number():
    """Return a Gemm with a C of one number and weights with a scale for each column."""
    net = Net()
    x, w = net.dq(net.input([3, 20]), A, -5), net.weights([20, 6], BY_COLUMN, axis=1)
    return net, net.q(net.op("Gemm", x, w, net.constant([0.5])), Y, 4)


def vector_and_row():
    """Return a sum with one dim more than its product."""
    net = Net()
    x, w = net.dq(net.input([20]), A, -5), net.weights([20, 6], 0.02, 3)
    y = net.op("Add", net.op("MatMul", x, w), net.constant(net.rng.standard_normal((1, 6))))
    return net, net.q(y, Y, 4)


BY_COLUMN = np.linspace(0.01, 0.02, 6, dtype=np.float32)
UNUSUAL = [gemm_and_column, scales_far_apart, scale_that_saturates, views_to_one_number]
UNUSUAL += [gemm_and_number, vector_and_row]


@pytest.mark.parametrize("made", UNUSUAL)
def test_regions_that_stay_float_are_right(target, made):
    net, y = made()
    model, xs = net.model(y), net.values()
    [[got]] = on_device(target, [model], [xs])
    [want] = by_onnxruntime(model, xs)
    assert got.shape == want.shape and steps_apart(got, want).max() <= 1


def test_other_runtimes_run_weights_with_one_zero_point():
    """onnxruntime's ConvInteger does not accept a zero point for each channel."""
    net, y = conv_to_float()
    model, xs = net.model(y), net.values()
    [got], [want] = by_onnxruntime(rewritten(model), xs), by_onnxruntime(model, xs)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * np.abs(want).max())


TO_FLOAT = {
    "conv": (conv_to_float(), "ConvInteger"),
    "gemm": (gemm_to_float(alpha=0.5, beta=2.0), "MatMulInteger"),
    "gemm, transB": (gemm_to_float(transB=1), "MatMulInteger"),
    "matmul": (matmul_to_float(), "MatMulInteger"),
}


@pytest.mark.parametrize("name", TO_FLOAT)
def test_a_result_that_is_read_as_float_gets_to_float(target, name):
    (net, y), product = TO_FLOAT[name]
    model, xs = net.model(y), net.values()
    assert operators(rewritten(model)) == [product, "ToFloat"]
    [[got]], [want] = on_device(target, [model], [xs]), by_onnxruntime(model, xs)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * np.abs(want).max())


def test_a_bias_off_the_grid_stays_float():
    net = Net()
    x, w = net.dq(net.input([1, 3, 5, 5]), 0.2), net.weights([4, 3, 1, 1], 0.5)
    y = net.op("Conv", x, w, net.constant([0.33, 0.1, 0.2, 0.3]))
    model = net.model(net.q(y, 1.0))
    assert operators(rewritten(model)) == ["ConvInteger", "QuantizeLinear", "ToFloat"]


def test_weights_of_4_bits_become_8():
    net = Net(opset=21)
    x = net.dq(net.input([2, 16]), A)
    w = net.weights([16, 6], 0.1, dtype="int4", low=-8, high=7)
    model = net.model(net.q(net.op("MatMul", x, w), 0.5))
    assert operators(rewritten(model)) == ["QGemm"]


def test_weights_without_quantized_inputs_become_floats():
    net = Net(opset=21)
    x = net.input([2, 16], np.float32)
    scale = np.linspace(0.1, 0.2, 8, dtype=np.float32).reshape(2, 4)
    w = net.constant(net.rng.integers(-8, 7, (16, 4)), "int4")
    w = net.op("DequantizeLinear", w, net.constant(scale), axis=0, block_size=8)
    model = net.model(net.op("MatMul", x, w))
    result = rewritten(model)
    assert operators(result) == ["MatMul"]
    xs = net.values()
    assert np.array_equal(by_onnxruntime(result, xs)[0], by_onnxruntime(model, xs)[0])


def stays(name, reason):
    return f"{name} stays in float: {reason}"


def test_a_note_says_that_the_opset_is_too_old():
    net = Net(opset=11)
    y = net.op("MaxPool", net.dq(net.input([1, 2, 6, 6]), A), kernel_shape=[2, 2])
    [note] = convert(net.model(net.q(y, A)), Options(strip=True)).notes
    assert note == stays("MaxPool_1 (MaxPool)", "MaxPool has no integer form at opset 11")


def test_notes_name_what_stays_in_float():
    net = Net()
    x = net.dq(net.input([1, 4, 6, 6]), A)
    wide = net.dq(net.input([1, 4, 6, 6], np.int16), A, 0, np.int16)
    conv = net.op("Conv", wide, net.weights([2, 4, 1, 1]))
    norm = net.q(net.op("LpNormalization", x), 0.1)
    pooled = net.op("GlobalMaxPool", wide)
    model = net.model(net.q(conv, Y), norm, pooled)
    assert convert(model, Options(strip=True)).notes == [
        stays("Conv_3 (Conv)", "nothing quantizes its result to 16 bits"),
        stays("LpNormalization_4 (LpNormalization)", "LpNormalization has no integer form"),
        stays("GlobalMaxPool_6 (GlobalMaxPool)", "GlobalMaxPool has no integer form of int16"),
    ]
