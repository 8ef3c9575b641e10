"""Dynamic quantization: bytes scaled by their own range, and floats of integer products."""

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from tests.host.converter.rewrites.qdq_net import (
    Net,
    by_onnxruntime,
    on_device,
    operators,
    rewritten,
)
from tests.host.device import small
from tests.host.ops.against_ort import Node
from tests.host.ops.against_ort import run as run_nodes
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
F = np.float32


def floats():
    rng = np.random.default_rng(6)
    sizes = [(3.0, 0.0), (1e-20, 1e-20), (1e20, -3e20), (1.0, 5.0), (1.0, -5.0)]
    results = [(rng.standard_normal(700) * a + b).astype(F) for a, b in sizes]
    return [*results, np.zeros(5, F), F([2, 2]), F([-3]), F([0.0, -0.0, 1e-35, -1e-35])]


@on_targets
def test_dynamic_quantize_linear_agrees_with_onnxruntime(target):
    nodes = [Node("DynamicQuantizeLinear", [x], dtypes=(np.uint8, F, np.uint8)) for x in floats()]
    expected = [node.expected() for node in nodes]
    for got, want in zip(run_nodes(target, nodes, expected), expected, strict=True):
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(g, w)


def product(op, channels=6, by_channel=False, bias=True):
    """Return a product as onnxruntime's dynamic quantizer writes it, Cast, Mul and Add behind."""
    net = Net()
    is_conv = op == "ConvInteger"
    x = net.input([2, 3, 7, 5] if is_conv else [2, 4, 9], F)
    q, scale, zero = net.op("DynamicQuantizeLinear", x, outputs=3)
    w_shape = [channels, 3, 2, 2] if is_conv else [9, channels]
    w = net.constant(net.rng.integers(0, 255, w_shape), np.uint8)
    w_scale = net.constant(net.rng.uniform(0.01, 0.02, channels) if by_channel else 0.017)
    sums = net.op("Cast", net.op(op, q, w, zero, net.constant(121, np.uint8)), to=1)
    y = net.op("Mul", sums, net.op("Mul", scale, w_scale))
    if bias:
        shape = [1, channels, 1, 1] if is_conv else [channels]
        y = net.op("Add", y, net.constant(net.rng.standard_normal(shape)))
    return net.model(y), net.values()


PRODUCTS = {
    "conv": product("ConvInteger"),
    "conv of one channel": product("ConvInteger", 1),
    "matmul": product("MatMulInteger"),
    "matmul by channel": product("MatMulInteger", by_channel=True),
    "without bias": product("MatMulInteger", bias=False),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_scale_and_bias_are_one_operator(name):
    model, _ = PRODUCTS[name]
    [op] = [node.op_type for node in model.graph.node if node.op_type.endswith("Integer")]
    assert operators(rewritten(model)) == sorted(["DynamicQuantizeLinear", "Scale", "ToFloat", op])


@on_targets
def test_products_agree_with_onnxruntime(target):
    models, inputs = zip(*PRODUCTS.values(), strict=True)
    for model, xs, [got] in zip(models, inputs, on_device(target, models, inputs), strict=True):
        [want] = by_onnxruntime(model, xs)
        np.testing.assert_allclose(got, want, rtol=3e-7, atol=3e-7 * np.abs(want).max())
        [again] = by_onnxruntime(rewritten(model), xs)
        np.testing.assert_array_equal(again, want)


def to_float(x, scale, offset, axis=1):
    nodes = [("ToFloat", "x s b", "y", {"domain": "mpconnxr", "axis": axis})]
    ends = [small.value("x", x.shape, TensorProto.INT32)], [small.value("y", x.shape)]
    return small.model(nodes, *ends, s=scale, b=offset)


@pytest.mark.parametrize("target", [*UNIX_TARGETS, "mps2-an386"], indirect=True)
def test_floats_of_integers_agree_with_onnxruntime(target):
    """Integers, scales and offsets have all sizes, also such as cancel out."""
    rng = np.random.default_rng(7)
    models, inputs = [], []
    for k in range(12):
        x = (rng.integers(-(2**31), 2**31, (3, 5, 4)) >> rng.integers(0, 31, (3, 5, 4))).astype(
            "i4"
        )
        scale = (rng.standard_normal(5) * 10.0 ** rng.integers(-8, 3, 5)).astype(F)
        offset = (rng.standard_normal(5) * 10.0 ** rng.integers(-6, 6, 5)).astype(F)
        offset[:2] = [0, -x[0, 1, 0] * scale[1]]
        models.append(to_float(x, scale, offset[:1] if k % 3 == 0 else offset))
        inputs.append([x])
    for model, [x], [got] in zip(models, inputs, on_device(target, models, inputs), strict=True):
        scale, offset = [numpy_helper.to_array(t).astype(float) for t in model.graph.initializer]
        parts = x * scale[:, None], np.broadcast_to(offset[:, None], x.shape)
        error = np.abs(got - parts[0] - parts[1]) / np.maximum(*map(np.abs, parts)).clip(1e-37)
        assert error.max() <= 1.5 * 2.0**-23


@on_targets
def test_damaged_models_do_no_harm(target):
    x = np.arange(12, dtype=np.int32).reshape(2, 3, 2)
    one = small.model(
        [("DynamicQuantizeLinear", "x", "y s z", {})],
        [small.value("x", [20])],
        [small.value("y", [20], 2), small.value("s", []), small.value("z", [], 2)],
    )
    for model in (to_float(x, F([1, 2, 3]), F([4])), one):
        report = small.damage(target, small.binary(model), "words", "1")
        assert report.ok and report.refused and report.ran, report


@pytest.mark.parametrize(
    ("scale", "offset"), [(F([1, 2]), F([1])), (F([1, 2, 3]), F([1, 2])), (np.ones(3), F([1]))]
)
def test_parameters_that_do_not_fit_are_refused(scale, offset):
    x = np.zeros((2, 3, 2), np.int32)
    with pytest.raises(ConvertError, match="fit|differ in length|but its operator gives float64"):
        convert(to_float(x, scale, offset), Options(strip=True))
