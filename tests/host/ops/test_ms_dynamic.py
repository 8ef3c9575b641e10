"""com.microsoft's operators that quantize as they run, and its attention, against onnxruntime."""

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.host import zoo
from tests.host.device import small
from tests.host.ops.against_ort import compare
from tests.host.ops.ms_node import MsNode
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.converter.reference import golden
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
rng = np.random.default_rng(17)
F = np.float32
DTYPES = [np.int8, np.uint8]


def floats(*shape):
    return rng.standard_normal(shape).astype(F)


def octets(dtype, *shape):
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)


def scales(n):
    return rng.uniform(0.001, 0.01, n).astype(F)


def lstm(dtype, directions=1, batch=1, seq=5, inputs=3, hidden=6, by_channel=False, **attrs):
    """Return a DynamicQuantizeLSTM with all optional inputs but sequence_lens."""
    n = 4 * hidden
    state = (directions, batch, hidden)
    many = (directions, n) if by_channel else (directions,)
    zero = np.full(many, 0 if dtype == np.int8 else 121, dtype)
    direction = ["forward", "bidirectional"][directions - 1]
    values = [floats(seq, batch, inputs), octets(dtype, directions, inputs, n)]
    values += [octets(dtype, directions, hidden, n), floats(directions, 2 * n), None]
    values += [floats(*state), floats(*state), floats(directions, 3 * hidden)]
    values += [scales(many), zero, scales(many), zero]
    fixed = (1, 2, 3, 8, 9, 10, 11)
    attributes = {"hidden_size": hidden, "direction": direction} | attrs
    return MsNode("DynamicQuantizeLSTM", values, attributes, fixed=fixed, dtypes=(F,) * 3)


@on_targets
def test_dynamic_quantize_lstm_agrees(target):
    """A byte of h may be rounded to the other side: a 255th of its range, times a weight."""
    nodes = [lstm(dtype, *sizes) for dtype in DTYPES for sizes in ((), (2,), (1, 3, 4, 5, 7))]
    nodes += [lstm(dtype, by_channel=True) for dtype in DTYPES]
    for node in nodes[::2]:
        node.inputs[7] = None  # P: without it the gates are integers too
    nodes += [
        lstm(np.int8, clip=0.5),
        lstm(np.int8, 2, 2, activations=["Relu", "Tanh", "Elu"] * 2),
    ]
    compare(target, nodes, rtol=1e-4, atol=2e-5)


@on_targets
@pytest.mark.parametrize("lengths", [[2], [0], [4]])
def test_rows_behind_the_longest_sequence_do_not_count(target, lengths):
    modes = ("forward", "reverse")
    nodes = [lstm(dtype, seq=4, direction=direction) for dtype in DTYPES for direction in modes]
    for node in nodes:
        node.inputs[0][2:] *= 10
        node.inputs[4] = np.array(lengths, np.int32)
        node.inputs[7] = None
    compare(target, nodes, rtol=1e-4, atol=2e-5)


@on_targets
@pytest.mark.parametrize("length", [-1, -(2**31), 5])
def test_a_length_outside_of_the_sequence_is_refused(target, length):
    """It is refused before its range of x, which has no elements, is read."""
    node = lstm(np.int8, seq=4)
    node.inputs[4], node.inputs[7] = np.array([length], np.int32), None
    converted = convert(node.model(), Options(strip=True))
    inputs = [x for i, x in enumerate(node.inputs) if x is not None and i not in node.fixed]
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes() for x in inputs]])])
    assert outcome.error == "InputError", outcome.message


@on_targets
def test_inputs_without_a_range_are_right(target):
    """x has only zeros, one sign, or huge numbers."""
    nodes = []
    for x in (np.zeros((4, 1, 3)), np.full((4, 1, 3), 2.5), -np.full((4, 1, 3), 1e30)):
        node = lstm(np.int8, seq=4)
        node.inputs[0] = x.astype(F)
        nodes.append(node)
    compare(target, nodes, rtol=1e-4, atol=2e-5)


@zoo.needs_zoo
@on_targets
def test_a_real_model_with_dynamic_lstm_agrees(target):
    converted = convert(zoo.model_path("gesture_lstm_dynq"), Options(strip=True))
    samples = [zoo.sample("gesture_lstm_dynq", k, "input") for k in range(2)]
    [outcome] = run_jobs(target, [Job(converted.data, [[s[0].tobytes()] for s in samples])])
    assert not outcome.error, outcome.message
    assert len(converted.graph.steps[0].outputs) == 1  # the last state
    for k, run in enumerate(outcome.runs):
        [want] = zoo.sample("gesture_lstm_dynq", k, "output")
        got = np.frombuffer(run.outputs[0], F).reshape(want.shape)
        assert np.abs(got - want).max() <= 1e-3 * np.abs(want).max()
        assert got.argmax() == want.argmax()


@on_targets
def test_dynamic_quantize_matmul_agrees(target):
    nodes = []
    for dtype in DTYPES:
        a, b, zero = floats(2, 3, 5), octets(dtype, 5, 4), octets(dtype, 1)[0]
        op, fixed = "DynamicQuantizeMatMul", (1, 2, 3)
        nodes += [
            MsNode(op, [a, b, scales(1)[0]]),
            MsNode(op, [a, b, scales(4), np.full(4, zero), floats(4)], fixed=(*fixed, 4)),
            MsNode(op, [a, b, scales(1)[0], zero, floats(4)], fixed=fixed),
        ]
    compare(target, nodes, rtol=1e-5, atol=1e-5)


@on_targets
def test_matmul_integer_to_float_agrees(target):
    nodes = []
    for dtype in DTYPES:
        a, b = octets(np.uint8, 3, 5), octets(dtype, 5, 4)
        scale, zero = scales(2), octets(np.uint8, 1)[0]
        op = "MatMulIntegerToFloat"
        nodes += [
            MsNode(op, [a, b, scale[0], scale[1]]),
            MsNode(op, [a, b, scale[0], scales(4), zero, octets(dtype, 1)[0]], fixed=(1,)),
            MsNode(op, [a, b, scale[0], scale[1], zero, None, floats(4)], fixed=(1, 3, 6)),
        ]
    compare(target, nodes, rtol=1e-5, atol=1e-5)


@on_targets
def test_multi_head_attention_agrees(target):
    q, k, v = floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8)
    op, heads = "MultiHeadAttention", {"num_heads": 2}
    nodes = [
        MsNode(op, [q, k, v], heads),
        MsNode(op, [q, k, v, floats(24)], {**heads, "scale": 0.3}, fixed=(3,)),
        MsNode(op, [q, k, v, None, None, floats(1, 2, 3, 5)], heads),
    ]
    compare(target, nodes, rtol=1e-5, atol=1e-5)


@on_targets
def test_packed_attention_agrees(target):
    """onnxruntime's CPU provider computes the same for three tensors only."""
    q, k, v, bias = *(floats(2, 3, 8) for _ in range(3)), floats(24)
    op, heads = "MultiHeadAttention", {"num_heads": 2, "unidirectional": 1}
    by_head = [x.reshape(2, 3, 2, 1, 4) for x in (q, k, v)]
    plain = [MsNode(op, [q, k, v, b], heads) for b in (None, bias)]
    for i in (0, 1):
        packed = np.concatenate(by_head[i:], 3)
        inputs = [packed, None, None] if i == 0 else [q, packed, None]
        nodes = [MsNode(op, [*inputs, b], heads) for b in (None, bias)]
        compare(target, nodes, [n.expected() for n in plain], rtol=1e-5, atol=1e-5)


@on_targets
def test_attention_agrees(target):
    x, w, b = floats(2, 4, 6), floats(6, 24), floats(24)
    nodes = [
        MsNode("Attention", [x, w, b], {"num_heads": 2}, fixed=(1, 2)),
        MsNode("Attention", [x, w, b], {"num_heads": 4, "unidirectional": 1}),
    ]
    compare(target, nodes, rtol=1e-5, atol=1e-5)


@on_targets
@pytest.mark.parametrize("mode", [("bits", "11"), ("words", "1"), ("several", "300")])
def test_damaged_models_do_no_harm(target, mode):
    node = lstm(np.uint8, seq=2, inputs=2, hidden=2)
    report = small.damage(target, node.converted(node.expected()).data, *mode)
    assert report.ok and report.refused > 100 and report.ran > 20, report


def test_operators_without_a_definition_are_refused():
    alone = MsNode("MultiHeadAttention", [floats(1, 2, 4)], {"num_heads": 1})
    with pytest.raises(UnsupportedModel, match="MultiHeadAttention .*3 dimensions is not packed"):
        convert(alone.model([(1, 2, 4)]))
    x, w, b = floats(2, 4, 6), floats(6, 18), floats(18)
    rotary = [floats(1, 2, 4), np.array([0]), floats(3, 2), floats(3, 2)]
    old = MsNode("RotaryEmbedding", rotary, opset=12)
    with pytest.raises(UnsupportedModel, match="needs opset 13 of ai.onnx"):
        convert(old.model([(1, 2, 4)]))
    other = MsNode("Attention", [x, w, b, np.ones((1, 1, 4, 4), np.int32)], {"num_heads": 2})
    with pytest.raises(UnsupportedModel, match="mask_index of 4 dimensions"):
        convert(other.model([(2, 4, 6)]))


@on_targets
def test_a_small_transformer_agrees(target):
    """Each body, as onnxruntime leaves it, needs shapes of the one before."""
    size, heads = 8, {"num_heads": 2}
    ids, mask = np.array([[1, 4, 2, 0], [3, 3, 1, 2]], np.int32), np.ones((2, 4), np.int32)
    mask[0, 3] = 0
    constants, nodes = {}, []

    def add(op, inputs, n=1, **attributes):
        names = [constant(x) if isinstance(x, np.ndarray) else x for x in inputs]
        outputs = [f"{op}{len(nodes)}_{i}" for i in range(n)]
        domain = "" if op == "MatMul" else "com.microsoft"
        nodes.append(helper.make_node(op, names, outputs, domain=domain, **attributes))
        return outputs if n > 1 else outputs[0]

    def constant(x):
        constants[f"c{len(constants)}"] = x
        return f"c{len(constants) - 1}"

    tables = [floats(5, size), floats(4, size), floats(2, size), floats(size), floats(size)]
    h, index = add("EmbedLayerNormalization", ["ids", "segments", *tables, "mask"], 2)
    for _ in range(6):
        weights = [floats(size, 3 * size), floats(3 * size), index]
        y = add("MatMul", [add("Attention", [h, *weights], **heads), floats(size, size)])
        h = add("SkipLayerNormalization", [y, h, floats(size), floats(size), floats(size)])
        y = add("BiasGelu", [add("MatMul", [h, floats(size, 16)]), floats(16)])
        y = add("MatMul", [y, floats(16, size)])
        h = add("SkipLayerNormalization", [y, h, floats(size), floats(size), floats(size)])
    names = ("ids", "segments", "mask")
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(n, onnx.TensorProto.INT32, [2, 4]) for n in names],
        [helper.make_tensor_value_info(h, onnx.TensorProto.FLOAT, [2, 4, size])],
        [onnx.numpy_helper.from_array(x, n) for n, x in constants.items()],
    )
    opsets = [helper.make_opsetid("", 12), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    values = [ids, np.array([[0, 0, 1, 1]] * 2, np.int32), mask]
    [due] = golden.reference(model, values)
    converted = convert(model, Options(strip=True))
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes() for x in values]])])
    assert not outcome.error, outcome.message
    got = np.frombuffer(outcome.runs[0].outputs[0], F).reshape(due.shape)
    np.testing.assert_allclose(got, due, 1e-4, 1e-5)


def test_zero_points_by_channel_are_refused():
    node = lstm(np.uint8, by_channel=True)
    node.inputs[9] = octets(np.uint8, 1, 24)
    with pytest.raises(UnsupportedModel, match="zero points that differ"):
        convert(node.model([(5, 1, 1, 6), (1, 1, 6), (1, 1, 6)]))
