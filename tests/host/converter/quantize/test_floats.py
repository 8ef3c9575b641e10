"""Notes on operators that stay in float although --quantize was requested."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.host.converter.quantize.net import array, calibration, net
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
from tools.converter.stays_float import lines

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_HIDDEN = 5


def recurrent(operator):
    """Return a recurrent layer, and a Gemm on its last state."""
    rng, gates = np.random.default_rng(0), _GATES[operator] * _HIDDEN
    nodes = [
        (operator, "x w r", "h last", {"hidden_size": _HIDDEN}),
        ("Squeeze", "last axes", "s", {}),
        ("Gemm", "s g", "y", {"transB": 1}),
    ]
    constants = {
        "w": rng.normal(size=(1, gates, 3)).astype(np.float32),
        "r": rng.normal(size=(1, gates, _HIDDEN)).astype(np.float32),
        "g": rng.normal(size=(4, _HIDDEN)).astype(np.float32),
        "axes": np.array([0]),
    }
    return small.model(
        nodes, [small.value("x", [6, 1, 3])], [small.value("y", [1, 4])], **constants
    )


def samples(*shape):
    rng = np.random.default_rng(1)
    return [{"x": rng.normal(size=shape).astype(np.float32)} for _ in range(4)]


def notes(model, mode="int8", data=None, **options):
    settings = Settings(mode, samples=data or samples(6, 1, 3))
    return convert(model, Options(strip=True, quantize=settings, **options)).notes


@pytest.mark.parametrize("operator", sorted(_GATES))
@pytest.mark.parametrize("mode", ["int8", "int16x8"])
def test_a_recurrent_layer_is_named(operator, mode):
    [note] = notes(recurrent(operator), mode)
    assert f"({operator}) stays in float: --quantize {mode} quantizes no" in note
    assert ("--quantize dynamic does" in note) == (operator == "LSTM")
    assert note.endswith("; its weights have 8 bits")


@pytest.mark.parametrize("operator", sorted(_GATES))
def test_weights_of_a_recurrent_layer_take_a_byte(operator):
    def converted(**options):
        settings = Settings(samples=samples(6, 1, 3), **options)
        return convert(recurrent(operator), Options(strip=True, quantize=settings))

    rounded, exact = converted(), converted(exclude=[f"{operator}_0"])
    w, r = (_weights_of(rounded, operator, i) for i in (1, 2))
    gates = _GATES[operator] * _HIDDEN
    assert (w.nbytes, r.nbytes) == (gates * 3, gates * _HIDDEN)
    [row] = rounded.narrowed
    assert row.operator == operator and 38 < row.weights < 50
    assert not exact.narrowed


def _weights_of(converted, operator, i):
    [step] = [step for step in converted.graph.steps if operator in step.node]
    return step.inputs[i]


@pytest.mark.parametrize("bits, least", [("int8", 38), ("int4", 15)])
def test_the_loss_is_that_of_all_roundings(bits, least):
    settings = Settings(samples=samples(6, 1, 3))
    rows = convert(recurrent("GRU"), Options(weights=bits, quantize=settings)).narrowed
    [row] = [row for row in rows if row.operator == "GRU"]
    assert least < row.weights < least + 10


def test_a_model_of_the_newest_ir_version_is_quantized():
    """onnx writes versions that no released onnxruntime reads."""
    model = recurrent("GRU")
    model.ir_version = onnx.IR_VERSION
    assert notes(model)


def test_dynamic_quantization_takes_an_lstm_and_no_gru():
    assert notes(recurrent("LSTM"), "dynamic") == []
    [note] = notes(recurrent("GRU"), "dynamic")
    assert "(GRU) stays in float: --quantize dynamic quantizes no such operator" in note


def test_what_rounding_its_weights_advises_works():
    convert(recurrent("GRU"), Options(weights="int8", quantize=Settings(samples=samples(6, 1, 3))))


def test_a_model_of_integers_alone_has_no_note():
    assert notes(net(), data=calibration(4)) == []


def test_a_function_of_floats_is_named():
    """Exp is computed beside the quantized layer; Reshape computes nothing."""
    nodes = [
        ("Exp", "z", "e", {}),
        ("Reshape", "e shape", "r", {}),
        ("Gemm", "x g", "y", {"transB": 1}),
    ]
    constants = {"g": np.ones((4, 3), np.float32), "shape": np.array([3])}
    inputs, outputs = [small.value(n, [1, 3]) for n in "xz"], [small.value("r", [3])]
    model = small.model(nodes, inputs, [*outputs, small.value("y", [1, 4])], **constants)
    [note] = notes(model, data=[s | {"z": s["x"]} for s in samples(1, 3)])
    assert "(Exp) stays in float: --quantize int8 quantizes no such operator" in note


def test_operators_in_a_body_are_named():
    inner = helper.make_graph(
        [
            helper.make_node("MatMul", ["s", "w"], ["t"], "inner"),
            helper.make_node("Tanh", ["t"], ["s_out"], "bend"),
            helper.make_node("Identity", ["c"], ["c_out"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, 3]),
        ],
        [
            helper.make_tensor_value_info("c_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("s_out", TensorProto.FLOAT, [1, 3]),
        ],
        [array("w", np.eye(3) / 2)],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Loop", ["n", "go", "x"], ["l"], "loop", body=inner),
            helper.make_node("Gemm", ["l", "g"], ["y"], "last", transB=1),
        ],
        "net",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3]),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        [array("g", np.ones((4, 3))), onnx.numpy_helper.from_array(np.array(2), "n")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    data = [s | {"go": np.array(True)} for s in samples(1, 3)]
    reasons = notes(model, data=data)
    assert [note.partition(" stays")[0] for note in reasons] == ["inner (MatMul)", "bend (Tanh)"]
    assert all("changes nothing inside of an If, Loop or Scan" in note for note in reasons)


@pytest.mark.parametrize("name", ["first", "second", "last"])
def test_an_excluded_layer_is_named_with_the_option(name):
    settings = Settings(samples=calibration(4), exclude=[name])
    converted = convert(net(), Options(strip=True, quantize=settings))
    [note] = [note for note in converted.notes if note.startswith(f"{name} (")]
    assert "stays in float: --exclude names it" in note


def test_without_rewrites_one_note_speaks_of_all():
    [note] = notes(net(), data=calibration(4), optimize=0)
    assert note.startswith("--optimize 0 leaves the operators as they are, in float")


def test_nodes_with_one_reason_share_a_line():
    rows = [(f"add{i}", "Add", "why") for i in range(6)]
    assert lines(rows[:3]) == [f"add{i} (Add) stays in float: why" for i in range(3)]
    [line] = lines(rows)
    assert line == "6 Add (add0, add1, add2, add3 and 2 more) stay in float: why"
    [line] = lines([*rows, ("d", "Div", "why")])
    assert line == "7 nodes (6 Add, 1 Div) stay in float: why"
    assert lines([*rows[:2], ("d", "Div", "because")])[2] == "d (Div) stays in float: because"
