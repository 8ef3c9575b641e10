"""ConvTranspose between DQ and Q, in integers, against onnxruntime without optimizations."""

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

A, Y = 0.031007, 0.050021
IDENTICAL = 0.999


def net_of(x_shape, w_shape, dtype=S8, zero=5, bias="", by_channel=True, opset=17, **attrs):
    net = Net(opset)
    x = net.dq(net.input(x_shape, dtype), A, zero, dtype)
    scale = np.linspace(0.002, 0.01, w_shape[1], dtype=np.float32) if by_channel else 0.004
    w = net.weights(w_shape, scale, **({"axis": 1} if by_channel else {}))
    channels = w_shape[1] * attrs.get("group", 1)
    of_sums = np.resize(np.float32(A) * np.float32(scale), channels)
    biases = [net.bias(channels, of_sums)] if bias else []
    if bias == "added":
        y = net.op("ConvTranspose", x, w, **attrs)
        y = net.op("Add", y, net.constant(net.rng.standard_normal((channels, 1, 1))))
    else:
        y = net.op("ConvTranspose", x, w, *biases, **attrs)
    y_scale = 0.2 if bias == "added" else Y  # the bias must be an integer to within 1/1024 of it
    return net.model(net.q(y, y_scale, -9 if dtype == S8 else 120, dtype)), net.values()


CASES = {
    "stride 1": net_of((2, 3, 7, 9), (3, 5, 3, 3), bias="int32", pads=[1, 0, 2, 1]),
    "doubled": net_of((1, 8, 6, 7), (8, 4, 2, 2), strides=[2, 2], bias="int32"),
    "of 3": net_of((1, 8, 6, 6), (8, 4, 3, 3), U8, 130, strides=[2, 2], pads=[1] * 4),
    "of 4": net_of((1, 8, 6, 6), (8, 4, 4, 4), strides=[2, 2], pads=[1] * 4, bias="added"),
    "output_padding": net_of(
        (1, 4, 5, 5), (4, 6, 3, 3), strides=[2, 2], pads=[1] * 4, output_padding=[1, 1]
    ),
    "gaps": net_of((1, 3, 4, 5), (3, 4, 2, 2), strides=[3, 4], bias="int32"),
    "dilations": net_of((1, 3, 5, 6), (3, 4, 3, 2), strides=[2, 3], dilations=[2, 2]),
    "1-D": net_of((2, 6, 11), (6, 4, 5), strides=[3], pads=[1, 1], bias="int32"),
    "groups": net_of((1, 6, 5, 5), (6, 4, 3, 3), group=2, strides=[2, 2], bias="int32"),
    "depthwise": net_of((1, 7, 6, 6), (7, 1, 4, 4), group=7, strides=[2, 2], pads=[1] * 4),
    "by tensor": net_of((1, 3, 6, 6), (3, 4, 3, 3), by_channel=False, opset=11),
    "SAME": net_of((1, 3, 6, 6), (3, 4, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER"),
}


@pytest.mark.parametrize("name", CASES)
def test_conv_transpose_becomes_one_operator(name):
    assert operators(rewritten(CASES[name][0])) == ["QLinearConvTranspose"]


def test_the_operator_is_a_function_of_onnx_operators():
    """onnxruntime runs the rewritten model, with the outputs of the original."""
    for name, (model, values) in CASES.items():
        [want], [got] = (by_onnxruntime(m, values) for m in (model, rewritten(model)))
        assert np.array_equal(got, want), name


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_conv_transpose_gives_onnxruntimes_integers(target):
    models, inputs = zip(*CASES.values(), strict=True)
    for (name, case), [got] in zip(CASES.items(), on_device(target, models, inputs), strict=True):
        [want] = by_onnxruntime(*case)
        apart = steps_apart(got, want)
        assert len(set(want.ravel().tolist())) > 50
        assert apart.max() <= 1 and (apart == 0).mean() >= IDENTICAL, name


def test_sums_beyond_32_bits_stay_in_float(target):
    net = Net()
    x = net.dq(net.input((1, 2, 3, 3), U8), 1.0, 0, U8)
    w = net.dq(net.constant(np.full((2, 1, 2, 2), 127), S8), 1.0)
    y = net.op("ConvTranspose", x, w, net.constant([2.0**31 - 2**10]))
    model = net.model(net.q(y, 2.0**24))
    assert operators(rewritten(model)) == ["QLinearConvTranspose"]
    steps = [s.kernel for s in convert(model, Options(strip=True)).graph.steps]
    assert steps == ["dequantize", "block_conv", "levels"]
    xs = net.values()
    [[got]], [want] = on_device(target, [model], [xs]), by_onnxruntime(model, xs)
    assert np.array_equal(got, want)


def test_a_bias_off_the_grid_stays_float():
    net = Net()
    x, w = net.dq(net.input([1, 3, 5, 5]), 0.2), net.weights([3, 4, 1, 1], 0.5)
    y = net.op("ConvTranspose", x, w, net.constant([0.33, 0.1, 0.2, 0.3]))
    assert "ConvTranspose" in operators(rewritten(net.model(net.q(y, 1.0))))


def test_a_note_says_why_a_transposed_convolution_stays_in_float():
    """The note does not blame the float weights, which are only a consequence."""
    net = Net(17)
    x = net.dq(net.input((1, 4, 5, 5), S8), A, 3, S8)
    b = net.constant(np.float32([1e-4, 2e-4, 3e-4]))
    y = net.op("ConvTranspose", x, net.weights([4, 3, 2, 2]), b)
    [note] = convert(net.model(net.q(y, 1e-5, 0, S8)), Options(strip=True)).notes
    assert note.endswith("stays in float: its bias is not an integer on the scale of the products")
