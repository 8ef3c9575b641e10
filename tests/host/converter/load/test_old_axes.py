"""Before opset 11, negative axes and bounds beyond the input mean what onnxruntime does."""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.converter.check import check
from tools.converter.convert import Options, convert
from tools.converter.reference import golden

FLOAT = TensorProto.FLOAT
CASES = [
    ("Unsqueeze", {"axes": [-1]}),
    ("Unsqueeze", {"axes": [-2, 0]}),
    ("Squeeze", {"axes": [-2]}),
    ("Concat", {"axis": -1}),
    ("Slice", {"starts": [1000], "ends": [1000]}),
    ("Slice", {"axes": [-1, 0], "starts": [-1, -9], "ends": [-3, 9]}),
]


def one(op, attributes, declared, opset):
    inputs = "x x" if op == "Concat" else "x"
    nodes = [(op, inputs, "m", attributes), ("Identity", "m", "y", {})]
    x, y = small.value("x", (3, 1, 5)), small.value("y", declared)
    return small.model(nodes, [x], [y], opset)


@pytest.mark.parametrize("op, attributes", CASES)
@pytest.mark.parametrize("declared", [None, (7, 2, 9)])
@pytest.mark.parametrize("opset", [7, 9])
def test_shapes_are_those_of_onnxruntime(op, attributes, declared, opset):
    model = one(op, attributes, declared, opset)
    [right] = golden.reference(model, [np.zeros((3, 1, 5), np.float32)])
    options = Options(vector=True)
    converted = convert(model, options)
    assert converted.graph.outputs[0].shape == right.shape
    assert check(converted, options).is_checked


def test_a_chain_of_old_axes_has_the_right_shape():
    nodes = [("Unsqueeze", "x", "a", {"axes": [-1]}), ("Concat", "a a", "b", {"axis": -1})]
    nodes += [
        ("Squeeze", "b", "c", {"axes": [-3]}),
        ("Slice", "c", "y", {"starts": [-2], "ends": [99]}),
    ]
    model = small.model(nodes, [small.value("x", (3, 1, 5))], [small.value("y", None)], 9)
    assert convert(model).graph.outputs[0].shape == (2, 5, 2)


@pytest.mark.parametrize("axis", [-1, -2, -4, 1])
def test_one_hot_counts_axes_in_its_output(axis):
    nodes = [("OneHot", "x depth values", "y", {"axis": axis})]
    constants = {"depth": np.array([4], np.int64), "values": np.float32([0, 1])}
    x = small.value("x", (3, 2, 5), TensorProto.INT64)
    model = small.model(nodes, [x], [small.value("y", None)], 9, **constants)
    [right] = golden.reference(model, [np.zeros((3, 2, 5), np.int64)])
    assert convert(model).graph.outputs[0].shape == right.shape


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("opset", [8, 11, 22])
def test_auto_pad_wins_over_pads(op, auto_pad, opset):
    attributes = {"kernel_shape": [3, 3], "auto_pad": auto_pad, "pads": [2, 0, 2, 1]}
    nodes = [(op, "x", "y", attributes)]
    model = small.model(nodes, [small.value("x", (1, 2, 6, 7))], [small.value("y", None)], opset)
    [right] = golden.reference(model, [small.floats(1, 2, 6, 7)])
    options = Options(vector=True)
    converted = convert(model, options)
    assert converted.graph.outputs[0].shape == right.shape
    assert check(converted, options).is_checked
