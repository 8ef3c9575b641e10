"""An output that is declared with the wrong number of dims gets those of its node."""

import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.converter.convert import convert

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
def test_the_shape_is_that_of_the_node(make, declared, target):
    model = make(declared)
    model.ir_version = 8
    done = convert(model)
    (note,) = (n for n in done.notes if n.startswith("output "))
    assert note == "output y has the shape [1, 1], not the one that is declared"
    lines = "import mpconnxr\nprint(list(mpconnxr.load('m.bin').run([0.25, 3, -1])[0].data))"
    (printed,) = small.lines(target, lines, m=done.data)
    assert printed == str([{arg_max: 1, stump: -1.0}[make]])


@pytest.mark.parametrize("make", [arg_max, stump])
@pytest.mark.parametrize("declared", [["N", 1], [None, None], ["N", "k"]])
def test_dims_that_have_no_number_are_no_reason_for_a_note(make, declared):
    done = convert(make(declared))
    assert done.graph.outputs[0].shape == (1, 1)
    assert not any(n.startswith("output ") for n in done.notes)
