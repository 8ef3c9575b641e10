"""Patterns are found in the branches of an If, with constants of the outer graph."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.converter.rewrites.graphs import Case, node, randn

NORM = [
    node("ReduceMean", "x", "m", axes=[-1]),
    node("Sub", "x m", "d"),
    node("Mul", "d d", "q"),
    node("ReduceMean", "q", "v", axes=[-1]),
    node("Add", "v e", "t"),
    node("Sqrt", "t", "r"),
    node("Div", "d r", "z"),
]


def operators(nodes, constants, outside, shape=(2, 8), opset=17):
    """Return the rewritten operators of a branch; its constants may be the outer graph's."""
    tensors = [numpy_helper.from_array(np.asarray(c), name) for name, c in constants.items()]
    info = helper.make_tensor_value_info("z", TensorProto.FLOAT, shape)
    own = [] if outside else tensors
    then = helper.make_graph(nodes, "then", [], [info], own)
    other = helper.make_graph([node("Neg", "x", "z")], "else", [], [info])
    branch = node("If", "chosen", "y", then_branch=then, else_branch=other)
    inputs = {"x": randn(*shape), "chosen": np.asarray(True)}
    case = Case([branch], inputs, constants if outside else {}, opset=opset)
    case.rewritten()
    [body] = [a.g for a in case.done.graph.node[0].attribute if a.name == "then_branch"]
    return [n.op_type for n in body.node]


@pytest.mark.parametrize("opset", [13, 17])
@pytest.mark.parametrize("outside", [False, True])
def test_rewritten_operators_depend_on_the_opset(opset, outside):
    result = operators(NORM, {"e": np.float32(1e-3)}, outside, opset=opset)
    assert result == ["LayerNormalization"]


def test_new_values_get_unique_names():
    """Two Transposes become one, inside and outside of the branch."""
    perm = {"perm": [1, 2, 0]}
    turned = [node("Transpose", "u", "r", **perm), node("Transpose", "r", "z", **perm)]
    info = helper.make_tensor_value_info("z", TensorProto.FLOAT, (3, 4, 2))
    then = helper.make_graph([*turned, node("Neg", "z", "s")], "then", [], [_named(info, "s")])
    other = helper.make_graph([node("Transpose", "u", "z", perm=[2, 0, 1])], "else", [], [info])
    nodes = [
        node("Transpose", "x", "p", **perm),
        node("Transpose", "p", "t", **perm),
        node("Softplus", "t", "u"),
        node("If", "chosen", "y", then_branch=then, else_branch=other),
    ]
    case = Case(nodes, {"x": randn(2, 3, 4), "chosen": np.asarray(True)})
    assert case.rewritten()["If"] == 1


def _named(info, name):
    copy = onnx.ValueInfoProto()
    copy.CopyFrom(info)
    copy.name = name
    return copy
