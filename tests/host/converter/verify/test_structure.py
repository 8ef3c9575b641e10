"""Invalid graphs are found, as protos and in the IR, and passes that change the interface."""

from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper

from tests.host.converter.rewrites.graphs import add_rewrite
from tests.host.device import small
from tools.converter import load, pipeline, verify
from tools.converter.convert import Options, convert
from tools.converter.simplify import simplify
from tools.converter.verify import types
from tools.converter.verify.structure import fault_of, hidden_in

VALUE = helper.make_tensor_value_info
FLOAT = TensorProto.FLOAT


def graph_of(*nodes, outputs=("y",), name="g"):
    """Return a graph of the nodes, from the input x."""
    infos = [VALUE(one, FLOAT, [2]) for one in outputs]
    return helper.make_graph(nodes, name, [VALUE("x", FLOAT, [2])], infos)


def relu(x, y):
    return helper.make_node("Relu", [x], [y], f"relu_{y}")


def branch(*nodes, output):
    """Return an If on x with twice the same branch."""
    bodies = [
        helper.make_graph(nodes, f"branch{i}", [], [VALUE(output, FLOAT, [2])]) for i in (0, 1)
    ]
    return helper.make_node("If", ["x"], ["y"], "if", then_branch=bodies[0], else_branch=bodies[1])


FAULTS = {
    "relu_y reads 'a' before relu_a computes it": [relu("a", "y"), relu("x", "a")],
    "relu_y reads 'a', which no node before it computes": [relu("a", "y")],
    "no node computes the output 'y'": [relu("x", "a")],
    "relu_b reads 'a', which no node before it computes": [
        branch(relu("a", "b"), output="b"),
        relu("x", "a"),
    ],
    "relu_c reads 'b' before relu_b computes it": [
        branch(relu("b", "c"), relu("x", "b"), output="c")
    ],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_protos_are_found(fault):
    assert fault_of(graph_of(*FAULTS[fault])) == fault


@pytest.mark.parametrize("fault", [f for f, nodes in FAULTS.items() if nodes[0].op_type != "If"])
def test_faults_of_the_ir_are_found(fault):
    assert fault_of(ir.from_proto(graph_of(*FAULTS[fault]))) == fault


def test_two_values_of_one_name_are_refused():
    twice = graph_of(relu("x", "y"), relu("x", "y"))
    assert fault_of(twice) == "'y' is computed twice, again by relu_y"
    hidden = graph_of(relu("x", "a"), branch(relu("x", "a"), output="a"))
    assert fault_of(hidden) == "'a' is computed twice, again by relu_a"
    assert hidden_in(hidden) == {"a"} and not fault_of(hidden, {"a"})


def test_branches_may_share_names_and_read_outer_values():
    assert not fault_of(graph_of(relu("x", "a"), branch(relu("a", "b"), output="b")))


def test_a_declared_type_must_be_the_operators():
    model = helper.make_model(graph_of(relu("x", "a"), relu("a", "y")))
    assert not types.fault_of(model)
    model.graph.value_info.append(VALUE("a", FLOAT, [3]))
    assert types.fault_of(model) == "'a' is declared float32 [3], its operator gives float32 [2]"
    model.graph.value_info[0].CopyFrom(VALUE("a", TensorProto.INT32, [2]))
    assert types.fault_of(model) == "'a' is declared int32 [2], its operator gives float32 [2]"


@pytest.mark.parametrize(
    "change, fault",
    [
        (lambda g: g.output.reverse(), "the outputs y, z have become z, y"),
        (lambda g: g.input.pop(), "the inputs x have become "),
        (
            lambda g: g.output[0].CopyFrom(VALUE("y", FLOAT, [1, 2])),
            "the output 'y' was float32 [2] and is float32 [1, 2]",
        ),
    ],
)
def test_changes_of_the_interface_are_found(change, fault):
    graph = graph_of(relu("x", "y"), relu("x", "z"), outputs=("y", "z"))
    before = types.interface_of(graph)
    change(graph)
    assert types.changed_interface(before, types.interface_of(graph)) == fault


def misplaces(model):
    """Let a node read itself, so that no order of nodes is right."""
    node = model.graph.node("neg")
    node.replace_input_with(0, node.outputs[0])
    return 1


def mistypes(model):
    """Declare a wrong shape."""
    model.graph.node("neg").outputs[0].shape = ir.Shape((3, 4))
    return 1


def renames(model):
    """Rename an output."""
    model.graph.outputs[0].name = "other"
    return 1


@pytest.fixture
def model():
    nodes = [
        ("Transpose", "x", "t", {"perm": [1, 0]}),
        ("Neg", "t", "n", {}),
        ("Relu", "n", "y", {}),
    ]
    proto = small.model(nodes, [small.value("x", (3, 4))], [small.value("y", (4, 3))])
    proto.graph.node[1].name = "neg"
    return proto


def with_pass(monkeypatch, one, level):
    add_rewrite(monkeypatch, one, level, at=2)


@pytest.mark.parametrize(
    "one, fault",
    [
        (misplaces, "neg reads 'n' before neg computes it"),
        (mistypes, "'n' is declared float32 [3, 4], its operator gives float32 [4, 3]"),
        (renames, "the outputs y have become other"),
    ],
)
@pytest.mark.parametrize("level", [1, 2])
def test_the_error_names_the_pass(model, monkeypatch, one, fault, level):
    with_pass(monkeypatch, one, level)
    with pytest.raises(verify.InternalError) as e:
        convert(model, Options(strip=True))
    text = f"internal error after pass faulty: {fault}; please report it with the model"
    assert str(e.value) == f"{text}; --optimize {level - 1} avoids it"


def test_types_are_verified_on_request(model, monkeypatch):
    monkeypatch.delenv(verify.ENVIRONMENT)
    with_pass(monkeypatch, mistypes, 2)
    convert(model, Options(strip=True))
    with pytest.raises(verify.InternalError):
        convert(model, Options(strip=True, verify=True))


def test_the_structure_is_always_verified(model, monkeypatch):
    monkeypatch.delenv(verify.ENVIRONMENT)
    with_pass(monkeypatch, misplaces, 2)
    with pytest.raises(verify.InternalError):
        pipeline.rewrite_model(simplify(load.prepare(model)), 2)


def test_a_node_before_its_inputs_is_moved(model, monkeypatch):
    """This happens if one node replaces the last of those that it was made of."""

    def once(model):
        nodes = list(model.graph)
        if once.is_done:
            return 0
        once.is_done = True
        model.graph.insert_after(nodes[-1], nodes[0])
        return 1

    once.is_done = False
    with_pass(monkeypatch, once, 2)
    rewritten, _ = pipeline.rewrite_model(simplify(load.prepare(model)), 2)
    onnx.checker.check_model(rewritten)
