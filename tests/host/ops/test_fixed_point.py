"""Norms and gates in front of DynamicQuantizeLinear compute in fixed point."""

import math
from dataclasses import replace

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.fuzz import modelfile
from tests.host.converter.rewrites.qdq_net import Net, by_onnxruntime, on_device
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.ops.fixed_point import gate_table
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
F = np.float32
APART = 0.002  # of the bytes may be one away: those whose float is in the middle between two


def norm(size=1.0, scale=1.0, bias=0.1, rows=7, n=33, axis=-1, epsilon=1e-5, seed=0):
    """Return (model, input): LayerNormalization, DynamicQuantizeLinear with all results."""
    net = Net(seed=seed)
    x = net.input([2, rows, n], F)
    own = [rows, n][-1 if axis == -1 else 0 :]
    factors = [
        net.constant(scale * (1 + 0.2 * net.rng.standard_normal(own))),
        net.constant(bias * net.rng.standard_normal(own)),
    ]
    y = net.op("LayerNormalization", x, *factors, axis=axis, epsilon=epsilon)
    outputs = net.op("DynamicQuantizeLinear", y, outputs=3)
    return net.model(*outputs), [net.values()[0] * F(size)]


def gate(op="Gelu", size=1.0, bias=0.3, by_channel=True, k=20, n=12, seed=0, **attributes):
    """Return (model, input): product of bytes, scale, bias, com.microsoft's gate, quantization."""
    net = Net(seed=seed)
    x = net.input([2, 9, k], F)
    q, scale, zero = net.op("DynamicQuantizeLinear", x, outputs=3)
    w = net.constant(net.rng.integers(-127, 127, (k, n)), np.int8)
    sums = net.op("Cast", net.op("MatMulInteger", q, w, zero), to=1)
    own = net.rng.uniform(0.002, 0.006, n) if by_channel else 0.004
    y = net.op("Mul", sums, net.op("Mul", scale, net.constant(own)))
    if bias:
        y = net.op("Add", y, net.constant(bias * net.rng.standard_normal(n)))
    y = net.op(op, y, domain="com.microsoft", **attributes)
    outputs = net.op("DynamicQuantizeLinear", y, outputs=3)
    dtypes, shapes = (TensorProto.UINT8, TensorProto.FLOAT, TensorProto.UINT8), ([2, 9, n], [], [])
    infos = map(helper.make_tensor_value_info, outputs, dtypes, shapes)
    graph = helper.make_graph(net.nodes, "gate", net.inputs, list(infos), net.constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    return model, [net.values()[0] * F(size)]


NORMS = {
    "usual": norm(),
    "of two axes": norm(axis=1),
    "large": norm(size=1e15),
    "small": norm(size=1e-15, epsilon=0.0),
    "nothing but epsilon": norm(size=1e-6),
    "wide": norm(rows=2, n=1000),
    "of one": norm(n=1),
    "large bias": norm(bias=50.0),
    "no bias": norm(bias=0.0),
    "small scale": norm(scale=1e-4, bias=0.0),
}
GATES = {
    "usual": gate(),
    "by tensor": gate(by_channel=False),
    "without bias": gate(bias=0),
    "large": gate(size=100.0),
    "larger": gate(size=1e5),
    "small": gate(size=0.01, bias=0),
    "smaller": gate(size=1e-5, bias=0),
    "large bias": gate(bias=30.0),
    "of many": gate(k=300),
    "tanh": gate("FastGelu"),
    "swish": gate("QuickGelu"),
    "silu": gate("QuickGelu", alpha=1.0, size=3.0),
}


def kernels(model):
    return [s.kernel for s in convert(model, Options(strip=True)).graph.steps]


@pytest.mark.parametrize("name", NORMS)
def test_a_norm_becomes_one_step(name):
    assert kernels(NORMS[name][0]) == ["dynamic_normalize"]


@pytest.mark.parametrize("name", GATES)
def test_a_gate_becomes_one_step(name):
    result = kernels(GATES[name][0])
    assert result[-1] == "dynamic_gate" and not {"to_float", "curve"} & {*result}


@on_targets
@pytest.mark.parametrize("cases", [NORMS, GATES], ids=["norms", "gates"])
def test_the_bytes_agree_with_onnxruntime(target, cases):
    models, inputs = zip(*cases.values(), strict=True)
    result = on_device(target, models, inputs)
    for name, model, xs, got in zip(cases, models, inputs, result, strict=True):
        want = by_onnxruntime(model, xs)
        np.testing.assert_allclose(got[1], want[1], rtol=2e-6, err_msg=name)
        apart = np.abs(got[0].astype(int) - want[0])
        assert abs(int(got[2]) - int(want[2])) <= 1, name
        assert apart.max() <= 1 and np.count_nonzero(apart) <= max(APART * apart.size, 1), name


@on_targets
def test_rows_that_are_not_finite_count_as_0(target):
    model, [x] = norm()
    x[0, 2, 5], x[1, 3, 0] = np.inf, np.nan
    [[y, scale, zero]] = on_device(target, [model], [[x]])
    assert (y[0, 2] == zero).all() and (y[1, 3] == zero).all() and np.isfinite(scale)
    expected = by_onnxruntime(model, [np.where(np.isfinite(x), x, 0)])
    others = np.ones(y.shape[:2], bool)
    others[0, 2] = others[1, 3] = False
    assert np.abs(y[others].astype(int) - expected[0][others]).max() <= 1


@on_targets
def test_damaged_models_do_no_harm(target):
    for model, _ in (norm(n=5), gate(k=3, n=2)):
        report = small.damage(target, small.binary(model), "several", "200")
        assert report.ok and report.refused and report.ran, report


def damaged(model, kernel, i):
    """Return the model's file with large words in a kernel's constant input i."""
    file = modelfile.read(small.binary(model))
    [node] = [node for node in file.nodes if node.kernel == kernel]
    tensor = file.tensors[node.inputs[i]]
    [(start, chunk)] = [
        (start, chunk)
        for start, chunk in file.data_offsets()
        if start <= tensor.place < start + len(chunk.data)
    ]
    first = tensor.place - start
    last = first + tensor.nbytes
    words = np.frombuffer(chunk.data[first:last], np.int32) | 0x3F000000
    data = chunk.data[:first] + words.tobytes() + chunk.data[last:]
    file.chunks[file.chunks.index(chunk)] = replace(chunk, data=data)
    return file.data()


@on_targets
@pytest.mark.parametrize(
    ("model", "kernel", "i"),
    [(gate(k=3, n=2)[0], "dynamic_gate", 3), (norm(n=5)[0], "dynamic_normalize", 1)],
    ids=["gate", "norm"],
)
def test_a_run_with_overflowing_elements_ends(target, model, kernel, i):
    script = """
import mpconnxr
model = mpconnxr.load("model.bin")
for k in range(8):
    x = model.inputs[0].data
    for i in range(len(x)):
        x[i] = (i * (k + 3) % 7 - 3) * 10.0 ** (k - 4)
    model.run()
"""
    small.run(target, script, {"model.bin": damaged(model, kernel, i)}, timeout=20)


@pytest.mark.parametrize(
    ("gate", "function"),
    [
        ("gelu", lambda u: 0.5 * math.erfc(-u / math.sqrt(2))),
        ("swish", lambda u: 1 / (1 + math.exp(-u))),
    ],
)
def test_tables_of_gates_are_exact(gate, function):
    table = gate_table(gate).astype(float)
    table[:, :2] -= 1 << 30
    for i, row in enumerate(table):
        for t in (0.0, 0.3, 0.7, 1.0):
            assert abs(np.polyval(row, t) / 2**21 - function((i + t) / 8)) < 1e-6
    assert 1 - function(len(table) / 8) < 2.0**-23


def test_other_patterns_stay_float():
    """They are read elsewhere, or have a computed scale."""
    net = Net()
    x, scale = net.input([3, 8], F), net.input([8], F)
    y = net.op("LayerNormalization", x, scale)
    model = net.model(*net.op("DynamicQuantizeLinear", y, outputs=3))
    assert kernels(model) == ["normalize", "dynamic_quantize"]
    net = Net()
    y = net.op("LayerNormalization", net.input([3, 8], F), net.constant(np.ones(8)))
    model = net.model(*net.op("DynamicQuantizeLinear", y, outputs=3), y)
    assert "normalize" in kernels(model) and "dynamic_normalize" not in kernels(model)
