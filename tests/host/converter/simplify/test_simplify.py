"""Simplified models compute what the originals compute: onnxruntime runs both."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host import zoo
from tools.converter import load
from tools.converter.convert import convert
from tools.converter.reference.ort_session import open_session
from tools.converter.shapes import dims
from tools.converter.simplify import simplify

_RTOL = 1e-5


def run(model, inputs):
    session = open_session(model)
    return session.run(None, dict(zip(session.inputs, inputs, strict=True)))


def simplified(model, inputs):
    model = load.prepare(model)
    shapes = {i.name: x.shape for i, x in zip(model.graph.input, inputs, strict=True)}
    dims.fix(model, shapes, {}, {})
    return simplify(model)


def assert_same(model, inputs):
    for a, b in zip(run(model, inputs), run(simplified(model, inputs), inputs), strict=True):
        if isinstance(a, np.ndarray) and a.dtype.kind == "f":
            np.testing.assert_allclose(b, a, rtol=_RTOL, atol=_RTOL * np.abs(a).max(initial=0))
        else:
            assert np.array_equal(a, b)


@zoo.needs_zoo
@pytest.mark.parametrize("name", zoo.models())
def test_real_models_keep_their_outputs(name):
    model = onnx.load(zoo.model_path(name))
    assert_same(model, zoo.sample(name, 0, "input"))


def test_constants_fold_at_an_old_opset():
    # BatchNormalization of constants at opset 9: onnx's reference evaluator is off here
    rng = np.random.default_rng(0)
    names = ("c", "scale", "bias", "mean")
    values = {n: rng.standard_normal((1, 3, 2, 2) if n == "c" else 3) for n in names}
    values["var"] = rng.random(3) + 0.1
    inits = [numpy_helper.from_array(v.astype(np.float32), n) for n, v in values.items()]
    nodes = [
        helper.make_node("BatchNormalization", [*names, "var"], ["n"], epsilon=1e-2),
        helper.make_node("Add", ["x", "n"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 3, 2, 2)) for n in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=4)
    assert_same(model, [rng.standard_normal((1, 3, 2, 2)).astype(np.float32)])


@pytest.mark.parametrize(
    ("op", "constants", "shape"),
    [
        ("Expand", [np.ones((1, 2), np.float32), np.array([3, 2])], (3, 2)),
        ("Tile", [np.ones((1, 2), np.float32), np.array([1, 2])], (1, 4)),
        ("ConstantOfShape", [np.array([2, 2])], (2, 2)),
        ("Range", [np.float32(0), np.float32(3), np.float32(1)], (3,)),
    ],
)
def test_branches_of_only_constants_have_shapes(op, constants, shape):
    """onnx's inference does not know the values that a branch captures; folding computes them."""
    names = [f"k{i}" for i in range(len(constants))]
    then = [helper.make_node(op, names, ["t"])]
    other = [helper.make_node(op, names, ["m"]), helper.make_node("Neg", ["m"], ["e"])]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "tez"]
    branches = {
        "then_branch": helper.make_graph(then, "then", [], ends[:1]),
        "else_branch": helper.make_graph(other, "else", [], ends[1:2]),
    }
    nodes = [
        helper.make_node("If", ["c"], ["y"], **branches),
        helper.make_node("Relu", ["y"], ["z"]),
    ]
    c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    tensors = [
        numpy_helper.from_array(np.asarray(v), k) for k, v in zip(names, constants, strict=True)
    ]
    graph = helper.make_graph(nodes, "g", [c], ends[2:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert convert(model).graph.outputs[0].shape == shape
