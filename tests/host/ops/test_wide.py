"""Integer operators of 16-bit activations and 8-bit weights, against onnxruntime.

onnxruntime computes in float32, whose products and sums are less exact than the integers: a result
of 30,000 steps has a last bit of 2**-9 of one. So most are equal, and none is further than 1.
"""

import numpy as np
import pytest
from onnx import helper

from tests.host import zoo
from tests.host.converter.rewrites.qdq_net import (
    Net,
    by_onnxruntime,
    on_device,
    operators,
    rewritten,
    steps_apart,
)
from tests.host.device import small
from tests.host.ops.against_ort import Node, compare
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
S16, U16 = np.int16, np.uint16
X_SCALE = 3e-4


def conv(x_shape, w_shape, y_scale, bias=True, dtype=S16, opset=21, **attrs):
    net = Net(opset)
    zero = 0 if dtype == S16 else 30000
    x = net.dq(net.input(x_shape, dtype), X_SCALE, zero, dtype)
    scales = net.rng.uniform(0.005, 0.01, w_shape[0]).astype(np.float32)
    w = net.weights(w_shape, scales, axis=0)
    inputs = [x, w]
    if bias:
        values = net.constant(net.rng.integers(-9999, 9999, w_shape[0]), np.int32)
        inputs.append(net.dq(values, np.float32(X_SCALE) * scales, 0, np.int32, axis=0))
    y = net.op("Conv", *inputs, **attrs)
    model = net.model(net.q(y, y_scale, zero, dtype))
    return _by_microsoft(model) if opset < 21 else model, net.values()


def _by_microsoft(model):
    """Use com.microsoft's operators for 16 bits, which ONNX's own ones lack at this opset."""
    for node in model.graph.node:
        node.domain = "com.microsoft" if node.op_type.endswith("Linear") else ""
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def gemm(n, k, m, y_scale, op="Gemm"):
    net = Net(21)
    x = net.dq(net.input([n, k], S16), X_SCALE, 0, S16)
    if op == "Gemm":
        y = net.op("Gemm", x, net.weights([m, k]), net.bias(m, X_SCALE * 0.01), transB=1)
    else:
        y = net.op("Add", net.op("MatMul", x, net.weights([k, m])), net.bias(m, X_SCALE * 0.01))
    return net.model(net.q(y, y_scale, 0, S16)), net.values()


def of_two(op, dtype, y_scale, zeros=(0, 0, 0)):
    net = Net(21)
    a = net.dq(net.input([2, 700], dtype), X_SCALE, zeros[0], dtype)
    b = net.dq(net.input([2, 700], dtype), 2.7e-4, zeros[1], dtype)
    return net.model(net.q(net.op(op, a, b), y_scale, zeros[2], dtype)), net.values()


def of_one(op, y_scale, shape=(1, 5, 9, 8), dtype=S16, zero=0, opset=21, **attrs):
    net = Net(opset)
    x = net.dq(net.input(list(shape), dtype), X_SCALE, zero, dtype)
    model = net.model(net.q(net.op(op, x, **attrs), y_scale, zero, dtype))
    return _by_microsoft(model) if opset < 21 else model, net.values()


def halved(kernel):
    return {"kernel_shape": kernel, "strides": [2, 2]}


def clip(low, high, y_scale):
    net = Net(21)
    x = net.dq(net.input([3, 500], S16), X_SCALE, 0, S16)
    y = net.op("Clip", x, net.constant(low), net.constant(high))
    return net.model(net.q(y, y_scale, 0, S16)), net.values()


MODELS = {
    "conv": conv((2, 3, 9, 11), (5, 3, 3, 3), 6e-4, pads=[1, 1, 1, 1]),
    "conv of uint16": conv((1, 6, 7, 8), (8, 3, 2, 3), 5e-4, dtype=U16, group=2, strides=[2, 1]),
    "depthwise": conv((1, 7, 9, 5), (7, 1, 3, 3), 3e-4, bias=False, group=7, pads=[1] * 4),
    "conv of 1-D": conv((1, 3, 30), (4, 3, 5), 5e-4, pads=[2, 2], strides=[2], dilations=[2]),
    "conv of many": conv((1, 300, 3, 4), (3, 300, 1, 1), 4e-3),
    "conv by com.microsoft": conv((1, 3, 5, 5), (2, 3, 3, 3), 6e-4, opset=17),
    "gemm": gemm(3, 33, 6, 2e-3),
    "gemm of many": gemm(2, 1500, 3, 9e-3),
    "matmul": gemm(5, 16, 7, 1e-3, "MatMul"),
    "add": of_two("Add", S16, 5e-4),
    "add of uint16": of_two("Add", U16, 6.1e-4, (32768, 30000, 33000)),
    "add that saturates": of_two("Add", S16, 9e-5),
    "sub": of_two("Sub", S16, 5.1e-4, (40, -3, 7)),
    "sub of uint16": of_two("Sub", U16, 6.1e-4, (32768, 30000, 33000)),
    "mul": of_two("Mul", S16, 2.3e-3),
    "mul of uint16": of_two("Mul", U16, 1.9e-3, (32768, 32768, 20000)),
    "mul that saturates": of_two("Mul", S16, 1e-4, (0, 0, 900)),
    "mul of large steps": of_two("Mul", S16, 3.0),
    "relu": of_one("Relu", 3.1e-4),
    "relu of uint16": of_one("Relu", X_SCALE, dtype=U16, zero=20000),
    "clip": clip(-2.0, 6.0, 2.5e-4),
    "average pool": of_one("AveragePool", 2.7e-4, kernel_shape=[3, 2], strides=[2, 2]),
    "average pool, padded": of_one(
        "AveragePool", 2.7e-4, kernel_shape=[3, 3], pads=[1, 0, 1, 1], count_include_pad=1
    ),
    "global pool": of_one("GlobalAveragePool", 2.7e-4),
    "means of 2x2": of_one("AveragePool", X_SCALE, (2, 9, 16, 16), **halved([2, 2])),
    "means of 2x2, uint16": of_one(
        "AveragePool", X_SCALE, (2, 9, 16, 16), U16, 30000, **halved([2, 2])
    ),
    "means of 2x2, opset 17": of_one(
        "AveragePool", X_SCALE, (2, 9, 16, 16), opset=17, **halved([2, 2])
    ),
    "means of 3x2 to a third": of_one(
        "AveragePool", X_SCALE / 3, (1, 9, 17, 16), opset=17, zero=-900, **halved([3, 2])
    ),
    "means with padding": of_one(
        "AveragePool",
        X_SCALE,
        (1, 9, 15, 16),
        pads=[1, 0, 1, 1],
        count_include_pad=1,
        **halved([2, 2]),
    ),
    "means of pairs": of_one("AveragePool", X_SCALE, (1, 9, 100), kernel_shape=[2], strides=[2]),
    "means of planes": of_one("GlobalAveragePool", X_SCALE, (3, 50, 6, 6)),
    "means of planes, opset 17": of_one(
        "AveragePool", X_SCALE, (3, 50, 6, 5), opset=17, kernel_shape=[6, 5]
    ),
    "max pool": of_one("MaxPool", X_SCALE, kernel_shape=[3, 3], pads=[1, 0, 1, 2], strides=[2, 1]),
    "max pool of uint16": of_one("MaxPool", X_SCALE, dtype=U16, kernel_shape=[2, 2]),
}
EXACT = ("max pool", "relu of uint16", "means")


@pytest.mark.parametrize("name", MODELS)
def test_regions_become_one_operator(name):
    model = rewritten(MODELS[name][0])
    [op] = operators(model)
    assert op.startswith("Wide")


def test_the_operators_are_functions_of_onnx_operators():
    """onnxruntime runs the rewritten model, with the outputs of the original."""
    for name, (model, values) in MODELS.items():
        [want] = by_onnxruntime(model, values)
        [got] = by_onnxruntime(rewritten(model), values)
        np.testing.assert_array_equal(got, want, name)


@on_targets
def test_integers_agree_with_onnxruntime(target):
    models, inputs = zip(*MODELS.values(), strict=True)
    result = on_device(target, models, inputs)
    different = total = 0
    for name, model, values, [got] in zip(MODELS, models, inputs, result, strict=True):
        [want] = by_onnxruntime(model, values)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        apart = steps_apart(got, want)
        assert apart.max() <= (0 if name.startswith(EXACT) else 1), name
        different, total = different + np.count_nonzero(apart), total + apart.size
    assert different <= 0.001 * total


def floats(scale):
    """Return random floats, ties between two integers with their neighbours, special floats."""
    rng, scale = np.random.default_rng(8), np.float32(scale)
    middles = (rng.integers(-33000, 66000, 300) + np.float32(0.5)).astype(np.float32) * scale
    near = [np.nextafter(middles, np.float32(end)) for end in (-np.inf, np.inf)]
    special = np.float32([0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38, -3.4e38])
    spread = rng.standard_normal(300).astype(np.float32) * (20000 * scale)
    return np.concatenate([middles, *near, spread, special])


@on_targets
@pytest.mark.parametrize("dtype", [S16, U16])
def test_quantize_and_dequantize_are_exact(target, dtype):
    nodes = []
    for scale in (1.0, 3e-4, 0.1, 2e25):
        zero = dtype(0 if dtype == S16 else 30000)
        inputs = [floats(scale), np.float32(scale), zero]
        nodes.append(Node("QuantizeLinear", inputs, {}, 21, fixed=(1, 2), dtypes=(dtype,)))
        q = np.random.default_rng(9).integers(0, 65536, 500).astype(U16).view(dtype)
        inputs = [q, np.float32(scale), zero]
        nodes.append(Node("DequantizeLinear", inputs, {}, 21, fixed=(1, 2)))
    compare(target, nodes, rtol=0, atol=0)


@pytest.mark.slow
@on_targets
def test_damaged_models_do_no_harm(target):
    for name in ("conv of uint16", "add", "mul", "max pool", "means with padding"):
        report = small.damage(target, small.binary(MODELS[name][0]), "words", "1")
        assert report.ok and report.refused and report.ran, report


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_a_run_allocates_nothing(target):
    for name in ("conv", "add that saturates", "mul", "max pool", "average pool", "means of 2x2"):
        model, values = MODELS[name]
        data = convert(model, Options(strip=True)).data
        script = (small.SCRIPTS / "allocation.py").read_text().replace("n = 50", "n = 5")
        files = {"model.bin": data, "x.bin": values[0].tobytes()}
        assert small.run(target, script, files).split()[:2] == ["0", "0"], name


def test_a_note_says_why_regions_stay_in_float():
    net = Net(21)
    x = net.dq(net.input([1, 3, 8, 8], S16), X_SCALE, 0, S16)
    y = net.op("AveragePool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    [note] = convert(net.model(net.q(y, X_SCALE, 0, S16)), Options(strip=True)).notes
    assert "AveragePool) stays in float: it has padding" in note


@zoo.needs_zoo
@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_a_real_model_runs_in_16_bit_integers(target):
    """With --quantize int16x8 no step is float, and classes are those of floats."""
    name = "digits_cnn_f32"
    [key] = zoo.input_names(name)
    xs = [zoo.sample(name, k, "input")[0] for k in range(6)]
    settings = Settings("int16x8", samples=[{key: x} for x in xs])
    converted = convert(zoo.model_path(name), Options(strip=True, quantize=settings))
    kernels = {step.kernel for step in converted.graph.steps}
    assert converted.notes == []
    assert kernels == {"wide_quantize", "dequantize", "wide_conv", "wide_max_pool"}
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes()] for x in xs])])
    assert not outcome.error, outcome.message
    for k, run in enumerate(outcome.runs):
        [want] = zoo.sample(name, k, "output")
        got = np.frombuffer(run.outputs[0], np.float32).reshape(want.shape)
        assert got.argmax() == want.argmax()
        assert np.abs(got - want).max() <= 0.02 * np.abs(want).max()
