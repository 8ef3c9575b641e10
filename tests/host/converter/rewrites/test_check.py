"""A rewrite that changes a model's values is left out and named, one that rounds them is not."""

import numpy as np
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.converter.rewrites.graphs import add_rewrite
from tools.converter import load
from tools.converter.convert import Options, convert
from tools.converter.rewrites import check
from tools.converter.simplify import simplify

VALUE = helper.make_tensor_value_info


def network(nodes, shape=(4,), constants=(), dtype=TensorProto.FLOAT):
    graph = helper.make_graph(
        nodes,
        "g",
        [VALUE("x", dtype, shape)],
        [VALUE("y", dtype, shape)],
        [numpy_helper.from_array(np.asarray(a), name) for name, a in constants],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def simplified(nodes, constants):
    return simplify(load.prepare(network(nodes, constants=constants)))


def node(op_type, inputs, output):
    return helper.make_node(op_type, inputs.split(), [output])


def halving(model: ir.Model) -> int:
    """A mistake: the constant of a Mul becomes half of it, once."""
    for n in model.graph:
        if n.op_type == "Mul" and "halved" not in n.metadata_props:
            value = n.inputs[1].const_value.numpy() * np.float32(0.5)
            n.inputs[1].const_value = ir.tensor(value, name=n.inputs[1].name)
            n.metadata_props["halved"] = "1"
            return 1
    return 0


@pytest.fixture
def mistaken(monkeypatch):
    add_rewrite(monkeypatch, halving, level=1, name="halving", at=7)


MUL = [
    node("Mul", "x c", "a"),
    node("Sin", "a", "b"),
    node("Sin", "a", "d"),
    node("Add", "b d", "e"),
    node("Cos", "e", "y"),
]
C = [("c", np.array([1.5, 2, 3, 4], np.float32))]


def test_a_rewrite_that_changes_values_is_left_out_and_named(mistaken):
    done = convert(network(MUL, constants=C))
    (note,) = (n for n in done.notes if n.startswith("rewrite "))
    assert note.startswith("rewrite halving left out: it changes the model's values.")
    assert "halving" not in done.log


def test_without_the_check_it_stays(mistaken):
    done = convert(network(MUL, constants=C), Options(check=False))
    assert not any(n.startswith("rewrite ") for n in done.notes) and done.log["halving"] == 1


def test_the_rewrites_of_the_project_stay():
    twice = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), node("Sin", "t", "s")]
    back = helper.make_node("Transpose", ["s"], ["y"], perm=[1, 0])
    done = convert(network([*twice, back], shape=(3, 4)))
    assert not any(n.startswith("rewrite ") for n in done.notes) and done.log


def pair(*constants):
    return [simplified(MUL, [("c", np.array(c, np.float32))]) for c in constants]


def test_the_deviation_is_relative_to_the_largest_value():
    same, other = pair([1, 1, 1, 1], [1, 1, 1, 1 + 1e-4])
    assert check.deviation(same, same) == 0.0
    assert 0 < check.deviation(same, other) < 1e-3


def test_a_value_that_is_not_finite_counts_unless_both_have_it():
    nan, one = pair([1, 1, 1, np.nan], [1, 1, 1, 1])
    assert check.deviation(nan, nan) == 0.0
    assert check.deviation(one, nan) == np.inf


def test_nothing_is_said_of_what_onnxruntime_does_not_run():
    model = network([node("Teleport", "x", "y")])
    assert check.deviation(model, model) is None


def quantized(scale):
    q = [("s", np.float32(0.1)), ("z", np.int8(0)), ("t", np.float32(scale))]
    nodes = [
        node("QuantizeLinear", "x s z", "a"),
        node("DequantizeLinear", "a s z", "b"),
        node("Mul", "b t", "c"),
        node("QuantizeLinear", "c s z", "d"),
        node("DequantizeLinear", "d s z", "y"),
    ]
    return simplified(nodes, q)


def test_integers_may_move_by_some_steps_and_not_by_a_factor():
    assert check.deviation(quantized(1.0), quantized(1.02)) <= 0.25
    assert check.deviation(quantized(1.0), quantized(-1.0)) > 0.25
