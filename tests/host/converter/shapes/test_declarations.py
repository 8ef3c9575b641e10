"""Shapes and dtypes follow from the operators, whatever a model declares."""

import pytest
from onnx import TensorProto, ValueInfoProto, helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError

VALUE = helper.make_tensor_value_info
F, INT = TensorProto.FLOAT, TensorProto.INT64


def arg_max(declared):
    node = helper.make_node("ArgMax", ["x"], ["y"], axis=1)
    graph = helper.make_graph([node], "g", [VALUE("x", F, ["N", 3])], [VALUE("y", INT, declared)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def stump(declared):
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[0, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_values=[0.5, 0.0, 0.0],
        nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        target_treeids=[0, 0],
        target_nodeids=[1, 2],
        target_ids=[0, 0],
        target_weights=[-1.0, 2.0],
    )
    graph = helper.make_graph([node], "g", [VALUE("x", F, ["N", 3])], [VALUE("y", F, declared)])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets)


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
@pytest.mark.parametrize("make", [arg_max, stump])
@pytest.mark.parametrize("declared", [["N"], [None], ["N", "a", "b"]])
def test_the_shape_is_the_operators(make, declared, target):
    model = make(declared)
    model.ir_version = 8
    converted = convert(model)
    (note,) = (n for n in converted.notes if n.startswith("output "))
    assert note.startswith("output y has the shape [1, 1], not the declared [")
    lines = "import mpconnxr\nprint(list(mpconnxr.load('m.bin').run([0.25, 3, -1])[0].data))"
    (printed,) = small.lines(target, lines, m=converted.data)
    assert printed == str([{arg_max: 1, stump: -1.0}[make]])


@pytest.mark.parametrize("make", [arg_max, stump])
@pytest.mark.parametrize("declared", [["N", 1], [None, None], ["N", "k"]])
def test_symbolic_dims_give_no_note(make, declared):
    converted = convert(make(declared))
    assert converted.graph.outputs[0].shape == (1, 1)
    assert not any(n.startswith("output ") for n in converted.notes)


def one(op, inputs, declared, attributes=None, initializers=(), inner=(), opset=13):
    """Return a model of one node, x -> y, with a declared output."""
    node = helper.make_node(op, ["x", *(t.name for t in initializers)], ["y"], **attributes or {})
    graph = helper.make_graph([node], "g", [inputs], [declared], list(initializers))
    graph.value_info.extend(inner)
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def axes(*values):
    return helper.make_tensor("axes", INT, [len(values)], values)


@pytest.mark.parametrize(
    ("model", "shape", "declared"),
    [
        (
            one("Squeeze", VALUE("x", F, [1, 2, 1, 3]), VALUE("y", F, [2, 3]), None, [axes(-2)]),
            (1, 2, 3),
            "[2, 3]",
        ),
        (
            one(
                "Unsqueeze",
                VALUE("x", F, [2, 3]),
                VALUE("y", F, [1, 1, 2, 3]),
                None,
                [axes(-2, 0)],
            ),
            (1, 2, 1, 3),
            "[1, 1, 2, 3]",
        ),
        (one("Transpose", VALUE("x", F, [2, 3]), VALUE("y", F, [2, 3])), (3, 2), "[2, 3]"),
        (one("Relu", VALUE("x", F, [4]), VALUE("y", F, [5, 5])), (4,), "[5, 5]"),
        (one("Identity", VALUE("x", F, [4]), VALUE("y", F, [2, 2])), (4,), "[2, 2]"),
    ],
)
def test_the_operator_wins_and_there_is_a_note(model, shape, declared):
    converted = convert(model)
    assert converted.graph.outputs[0].shape == shape
    assert f"output y has the shape {[*shape]}, not the declared {declared}" in converted.notes


def test_the_operator_wins_for_each_of_two_outputs_of_one_name():
    model = one("Transpose", VALUE("x", F, [3, 5]), VALUE("y", F, [6, 3]), {"perm": [1, 0]})
    model.graph.output.append(VALUE("y", F, [6, 4]))
    converted = convert(model, Options(vector=True))
    assert [t.shape for t in converted.graph.outputs] == [(5, 3), (5, 3)]
    assert len(converted.notes) == 2


def branches(declared):
    """Return an If whose branches declare their outputs as `declared` says."""
    bodies = [
        helper.make_graph([helper.make_node(op, ["x"], [op])], op, [], [declared(op)])
        for op in ("Transpose", "Relu")
    ]
    names = ("then_branch", "else_branch")
    node = helper.make_node("If", ["c"], ["y"], **dict(zip(names, bodies, strict=True)))
    inputs = [VALUE("c", TensorProto.BOOL, []), VALUE("x", F, [2, 2])]
    graph = helper.make_graph([node], "g", inputs, [VALUE("y", F, [2, 2])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.mark.parametrize("shape", [[4], [2, 3], [1, 2, 2], None])
@pytest.mark.parametrize("dtype", [F, INT])
def test_declarations_in_bodies_are_corrected(shape, dtype):
    converted = convert(branches(lambda name: VALUE(name, dtype, shape)))
    assert (converted.graph.outputs[0].shape, converted.graph.outputs[0].dtype) == ((2, 2), F)


def test_a_wrong_dtype_of_an_output_is_refused():
    model = one("Relu", VALUE("x", F, [4]), VALUE("y", INT, [4]))
    with pytest.raises(ConvertError, match="y is declared as int64, but its operator gives float"):
        convert(model)


@pytest.mark.parametrize("declared", [VALUE("y", F, None), ValueInfoProto(name="y")])
def test_an_output_needs_no_shape_and_no_type(declared):
    converted = convert(one("Relu", VALUE("x", F, [1, 4]), declared))
    assert converted.graph.outputs[0].shape == (1, 4) and not converted.notes


def test_an_input_without_a_shape_gets_one_by_its_option():
    converted = convert(
        one("Relu", VALUE("x", F, None), VALUE("y", F, None)), Options(shapes={"x": [1, 4]})
    )
    assert converted.graph.outputs[0].shape == (1, 4)


def test_a_wrongly_declared_inner_value_gives_a_note():
    nodes = [helper.make_node("Transpose", ["x"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
    graph = helper.make_graph(nodes, "g", [VALUE("x", F, [2, 3])], [VALUE("y", F, [3, 2])])
    graph.value_info.append(VALUE("t", F, [2, 3]))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    converted = convert(model)
    assert converted.graph.outputs[0].shape == (3, 2)
    expected = "inner values have other shapes than the model declares: t [3, 2], not [2, 3]"
    assert converted.notes == [expected]


def test_a_declaration_counts_if_the_operator_infers_nothing():
    model = one("Reshape", VALUE("x", F, [6]), VALUE("y", F, [2, 3]), opset=14)
    model.graph.node[0].input.append("to")
    model.graph.input.append(VALUE("to", INT, [2]))
    converted = convert(model)
    assert converted.graph.outputs[0].shape == (2, 3)
    assert (
        "output y has the shape [2, 3], as declared: its operator does not fix it"
        in converted.notes
    )
