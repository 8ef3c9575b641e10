"""Pools whose last window may begin in the padding agree with onnxruntime, at every opset.

MPCONNXR_LONG=1: many of them.
"""

import os

import numpy as np
import onnx
import pytest

from tests.host.ops.against_ort import Node, compare
from tests.host.ops.test_open_inputs import agrees
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError, UnsupportedModel
from tools.converter.reference.ort_session import OrtError, open_session
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
on_unix = pytest.mark.parametrize("target", ["unix"], indirect=True)
N = 2000 if os.environ.get("MPCONNXR_LONG") == "1" else 60
# Opsets from which a pool has the attribute.
CEIL = {"AveragePool": 10, "LpPool": 18, "MaxPool": 10}
DILATIONS = {"AveragePool": 19, "LpPool": 18, "MaxPool": 10}


def random_pool(rng):
    def chance(p):
        return rng.random() < p

    op, opset, rank = str(rng.choice(list(CEIL))), int(rng.integers(7, 25)), rng.integers(1, 4)
    kernel = rng.integers(1, 4, rank).tolist()
    attrs = {"kernel_shape": kernel}
    if chance(0.8):
        attrs["strides"] = rng.integers(1, 5, rank).tolist()
    if opset >= CEIL[op] and chance(0.8):
        attrs["ceil_mode"] = 1
    if opset >= DILATIONS[op] and chance(0.4):
        attrs["dilations"] = rng.integers(1, 4, rank).tolist()
    # onnxruntime forgets the dilations beside SAME, and crops where strides are longer.
    plain = zip(kernel, attrs.get("strides", [1] * rank), strict=True)
    if chance(0.2) and "dilations" not in attrs and all(k >= s for k, s in plain):
        attrs["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    elif chance(0.8):
        attrs["pads"] = [int(rng.integers(0, k)) for k in kernel * 2]
    if op == "AveragePool":
        attrs["count_include_pad"] = int(chance(0.5))
    x = rng.standard_normal((1, 2, *rng.integers(1, 9, rank))).astype(np.float32)
    if op == "MaxPool" and opset >= 12 and chance(0.4):
        x = rng.integers(0, 100, x.shape).astype(rng.choice([np.int8, np.uint8]))
    outputs = (x.dtype, np.int64) if op == "MaxPool" and opset >= 8 and chance(0.3) else (x.dtype,)
    return Node(op, [x], attrs, opset, dtypes=outputs)


@pytest.mark.slow
@on_targets
def test_random_pools_agree_with_onnxruntime(target):
    pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(32)
    nodes, expected = [], []
    for node in (random_pool(rng) for _ in range(N)):
        try:
            due = open_session(node.model()).run(None, {"x0": node.inputs[0]})
            node.converted(due)
        except (OrtError, UnsupportedModel) as e:  # a window larger than the input, or beside it
            assert "kernel_shape" in str(e) or "padding alone" in str(e), f"{node}: {e}"
            continue
        assert all(np.isfinite(y).all() for y in due)
        nodes.append(node)
        expected.append(due)
    assert len(nodes) > 0.8 * N
    compare(target, nodes, expected)


POOL = "kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1], ceil_mode = 1"
QUANTIZED = """q = QuantizeLinear (x, scale, zero)
    d = DequantizeLinear (q, scale, zero)
    {}
    r = QuantizeLinear (p, scale, zero)
    y = DequantizeLinear (r, scale, zero)"""
AVERAGE = f"p = AveragePool <{POOL}> (x)"
BODIES = {
    "AveragePool": f"{AVERAGE} y = Add (p, c)",
    "MaxPool": f"p = MaxPool <{POOL}> (x) y = Add (p, c)",
    "LpPool": f"p = LpPool <{POOL}> (x) y = Add (p, c)",
    "chain": f"{AVERAGE} e = Sqrt (p) y = MaxPool <{POOL}> (e)",
    "If": f"""b = Greater (s, s)
        y = If (b) <then_branch = t () => (float[1, 1, 3, 3] u) {{ u = Neg (c) }},
        else_branch = e () => (float[1, 1, 4, 4] v) {{ {AVERAGE} v = Exp (p) }}>""",
    "QDQ AveragePool": QUANTIZED.format(f"p = AveragePool <{POOL}> (d)"),
    "QDQ MaxPool": QUANTIZED.format(f"p = MaxPool <{POOL}> (d)"),
}


def model_of(body, opset, shape="1, 1, 5, 5", out="1, 1, 4, 4", zero="uint8 zero = {3}"):
    """Return a model whose output has the shape that onnx infers below opset 22."""
    nines = ", ".join(["0.5"] * 9)
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float[{shape}] x) => (float[{out}] y) <float[1, 1, 3, 3] c = {{{nines}}},
        float[1] s = {{0.1}}, float scale = {{0.05}}, {zero}, float[1, 1, 4, 4] p> {{ {body} }}""")


def at_opset_22(model):
    """Return the model at opset 22, where onnx's inference is right; no shape is declared."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.opset_import[0].version = 22
    del copy.graph.value_info[:]
    bodies = [a.g for node in copy.graph.node for a in node.attribute if a.HasField("g")]
    for graph in (copy.graph, *bodies):
        graph.output[0].type.tensor_type.ClearField("shape")
    return copy


@on_unix
@pytest.mark.parametrize(
    ("name", "opset"),
    [(name, opset) for name in BODIES for opset in (11, 18, 21, 22)[name == "LpPool" :]],
)
def test_nodes_behind_a_pool_have_its_shape(target, name, opset):
    """The model may declare any other shape."""
    agrees_with(target, model_of(BODIES[name], opset))


def agrees_with(target, model, shape=(1, 1, 5, 5)):
    pytest.importorskip("onnxruntime")
    x = np.random.default_rng(0).uniform(0, 1, shape).astype(np.float32)
    [due] = open_session(at_opset_22(model)).run(None, {"x": x})
    converted = convert(model, Options(strip=True))
    assert converted.graph.outputs[0].shape == due.shape
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes()]])])
    assert not outcome.error, outcome.message
    got = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(due.shape)
    np.testing.assert_allclose(got, due, 1e-5, 1e-5)


@on_unix
@pytest.mark.parametrize("pool", ["AveragePool", "MaxPool"])
def test_pools_of_16_bit_integers_are_right(target, pool):
    body = QUANTIZED.format(f"p = {pool} <{POOL}> (d)")
    agrees_with(target, model_of(body, 21, zero="int16 zero = {3}"))


@on_unix
@pytest.mark.parametrize("name", ["AveragePool", "MaxPool"])
def test_pools_of_open_sizes_are_right(target, name):
    body = f"y = {name} <{POOL}> (x)"
    model = model_of(body, 17, "1, 1, N, 5", "1, 1, M, 3")
    samples = [[np.random.default_rng(n).uniform(0, 1, (1, 1, n, 5))] for n in range(1, 8)]
    agrees(target, model, [[x.astype(np.float32)] for [x] in samples], N=7)


@pytest.mark.parametrize(
    ("op", "attributes", "reason"),
    [
        ("AveragePool", "kernel_shape = [1, 1], pads = [1, 0, 0, 0]", "padding alone"),
        ("MaxPool", "kernel_shape = [1, 1], pads = [0, 0, 0, 1]", "padding alone"),
        ("MaxPool", "kernel_shape = [2, 7], strides = [2, 3]", "window of 7 elements over 5"),
        ("LpPool", "kernel_shape = [7, 2], strides = [3, 2]", "window of 7 elements over 5"),
    ],
)
def test_windows_without_elements_are_refused(op, attributes, reason):
    model = model_of(f"y = {op} <{attributes}> (x)", 17, out="a, b, c, d")
    with pytest.raises(ConvertError, match=reason):
        convert(model)


def test_an_empty_window_of_norms_or_of_counted_padding_is_zero():
    for text in ("AveragePool <count_include_pad = 1, ", "LpPool <"):
        body = f"y = {text} kernel_shape = [1, 1], pads = [1, 0, 0, 0]> (x)"
        assert convert(model_of(body, 17, out="a, b, c, d")).graph.outputs[0].shape[2] == 6


@on_unix
@pytest.mark.parametrize("pool", CEIL)
def test_a_pool_of_a_constant_is_right(target, pool):
    """onnx's reference evaluator, which folds constants, is wrong here."""
    windows = "kernel_shape = [3, 2], strides = [2, 3], pads = [0, 0, 1, 0], ceil_mode = 1"
    values = ", ".join(f"{v:.3f}" for v in np.random.default_rng(0).standard_normal(35))
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[1] x) => (float[a, b, c, d] y) <float[1, 1, 5, 7] c = {{{values}}}>
        {{ p = {pool} <{windows}> (c) y = Mul (p, x) }}""")
    agrees_with(target, model, (1,))
