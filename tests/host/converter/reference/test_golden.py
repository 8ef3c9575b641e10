"""Inputs of golden vectors that nobody gives: the first ones that the model takes."""

import numpy as np
from onnx import TensorProto, helper

from tools.converter.convert import convert

VALUE = helper.make_tensor_value_info


def test_where_random_numbers_are_refused_others_are_tried():
    """An index has to be one of 0 to 2; the random floats become -1, and 3 where absolute."""
    nodes = [
        helper.make_node("Mul", ["x", "far"], ["f"]),
        helper.make_node("Cast", ["f"], ["i"], to=TensorProto.INT64),
        helper.make_node("Gather", ["table", "i"], ["y"]),
    ]
    constants = [
        helper.make_tensor("far", TensorProto.FLOAT, [], [1000.0]),
        helper.make_tensor("table", TensorProto.FLOAT, [3], [5.0, 6.0, 7.0]),
    ]
    x, y = VALUE("x", TensorProto.FLOAT, [4]), VALUE("y", TensorProto.FLOAT, [4])
    graph = helper.make_graph(nodes, "g", [x], [y], constants)
    done = convert(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    assert not any("golden" in note for note in done.notes)
    assert np.array([5.0] * 4, np.float32).tobytes() in done.data
