"""Exp of squared distances as one operator for boards: the kernel computes both."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.converter.rewrites.graphs import node, randn
from tools.converter.convert import Options, convert
from tools.converter.ops.distances import decay_words

NUMBERS = {"w": randn(5, 4), "two": np.float32([2]), "half": np.float32(-0.5)}


def steps(nodes, metric="sqeuclidean"):
    """[(kernel, factor of its decay)] of what becomes of the distances d and these nodes."""
    apart = node("CDist", "x w", "d", "com.microsoft", metric=metric)
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", (3, 4)), ("y", (3, 5)))
    )
    constants = [numpy_helper.from_array(value, name) for name, value in NUMBERS.items()]
    graph = helper.make_graph([apart, *nodes], "g", [x], [y], constants)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    done = convert(model, Options(strip=True)).graph.steps
    return [(s.kernel, s["decay.factor"] if s.kernel == "block_distances" else 0) for s in done]


@pytest.mark.parametrize(
    ("nodes", "gamma"),
    [
        ([node("Mul", "d half", "e"), node("Exp", "e", "y")], 0.5),
        ([node("Mul", "half d", "e"), node("Exp", "e", "y")], 0.5),
        ([node("Neg", "d", "e"), node("Exp", "e", "y")], 1),
        ([node("Div", "d two", "e"), node("Neg", "e", "f"), node("Exp", "f", "y")], 0.5),
    ],
)
def test_decays(nodes, gamma):
    assert steps(nodes) == [("block_distances", decay_words(gamma)[0])]


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Mul", "d two", "e"), node("Exp", "e", "y")],  # grows
        [node("Div", "half d", "e"), node("Exp", "e", "y")],
        [node("Neg", "d", "e"), node("Exp", "e", "f"), node("Add", "f d", "y")],  # is read
    ],
)
def test_what_is_something_else(nodes):
    found = steps(nodes)
    assert found[0] == ("block_distances", 0) and len(found) > 1


def test_exponentials_of_roots_are_something_else():
    found = steps([node("Neg", "d", "e"), node("Exp", "e", "y")], "euclidean")
    assert found[0] == ("block_distances", 0) and len(found) > 1
