"""A rewrite that changes a model's values is omitted and reported; one that rounds them is not."""

import numpy as np
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from tests.host.converter.rewrites.graphs import add_rewrite
from tests.host.device import small
from tools.converter import load
from tools.converter.convert import Options, convert
from tools.converter.rewrites import check
from tools.converter.simplify import simplify

VALUE = helper.make_tensor_value_info


def network(nodes, shape=(4,), constants=(), dtype=TensorProto.FLOAT):
    ends = [small.value("x", shape, dtype)], [small.value("y", shape, dtype)]
    return small.model(nodes, *ends, 20, **dict(constants))


def simplified(nodes, constants):
    return simplify(load.prepare(network(nodes, constants=constants)))


def node(op_type, inputs, output):
    return helper.make_node(op_type, inputs.split(), [output])


def halving(model: ir.Model) -> int:
    """Halve the constant of a Mul: a rewrite with a mistake."""
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


def test_a_rewrite_that_changes_values_is_omitted_and_named(mistaken):
    converted = convert(network(MUL, constants=C))
    (note,) = (n for n in converted.notes if n.startswith("rewrite "))
    assert note.startswith("rewrite halving left out: it changes the model's values.")
    assert "halving" not in converted.log


def test_a_wrong_rewrite_stays_without_the_check(mistaken):
    converted = convert(network(MUL, constants=C), Options(check=False))
    assert (
        not any(n.startswith("rewrite ") for n in converted.notes)
        and converted.log["halving"] == 1
    )


def test_the_projects_rewrites_pass():
    twice = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), node("Sin", "t", "s")]
    back = helper.make_node("Transpose", ["s"], ["y"], perm=[1, 0])
    converted = convert(network([*twice, back], shape=(3, 4)))
    assert not any(n.startswith("rewrite ") for n in converted.notes) and converted.log


def pair(*constants):
    return [simplified(MUL, [("c", np.array(c, np.float32))]) for c in constants]


def test_the_deviation_is_relative_to_the_largest_value():
    same, other = pair([1, 1, 1, 1], [1, 1, 1, 1 + 1e-4])
    assert check.deviation(same, same) == 0.0
    assert 0 < check.deviation(same, other) < 1e-3


def test_an_infinity_in_one_model_only_is_a_deviation():
    nan, one = pair([1, 1, 1, np.nan], [1, 1, 1, 1])
    assert check.deviation(nan, nan) == 0.0
    assert check.deviation(one, nan) == np.inf


def test_models_that_onnxruntime_cannot_run_are_not_judged():
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


def test_integers_may_be_some_steps_off_but_not_scaled():
    assert check.deviation(quantized(1.0), quantized(1.02)) <= 0.25
    assert check.deviation(quantized(1.0), quantized(-1.0)) > 0.25
