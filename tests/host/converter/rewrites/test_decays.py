"""Exp of squared distances becomes one operator for boards, whose kernel computes both."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import node, randn
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.ops.distances import decay_words

NUMBERS = {"w": randn(5, 4), "two": np.float32([2]), "half": np.float32(-0.5)}


def steps(nodes, metric="sqeuclidean"):
    """Return [(kernel, factor of its decay)] of the converted distances d and these nodes."""
    apart = node("CDist", "x w", "d", "com.microsoft", metric=metric)
    ends = [small.value("x", (3, 4))], [small.value("y", (3, 5))]
    model = small.model([apart, *nodes], *ends, 18, **NUMBERS)
    converted = convert(model, Options(strip=True)).graph.steps
    return [
        (s.kernel, s["decay.factor"] if s.kernel == "block_distances" else 0) for s in converted
    ]


@pytest.mark.parametrize(
    ("nodes", "gamma"),
    [
        ([node("Mul", "d half", "e"), node("Exp", "e", "y")], 0.5),
        ([node("Mul", "half d", "e"), node("Exp", "e", "y")], 0.5),
        ([node("Neg", "d", "e"), node("Exp", "e", "y")], 1),
        ([node("Div", "d two", "e"), node("Neg", "e", "f"), node("Exp", "f", "y")], 0.5),
    ],
)
def test_exp_of_distances_becomes_one_step(nodes, gamma):
    assert steps(nodes) == [("block_distances", decay_words(gamma)[0])]


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Mul", "d two", "e"), node("Exp", "e", "y")],  # grows
        [node("Div", "half d", "e"), node("Exp", "e", "y")],
        [node("Neg", "d", "e"), node("Exp", "e", "f"), node("Add", "f d", "y")],  # is read
    ],
)
def test_other_patterns_stay(nodes):
    result = steps(nodes)
    assert result[0] == ("block_distances", 0) and len(result) > 1


def test_exp_of_unsquared_distances_stays():
    result = steps([node("Neg", "d", "e"), node("Exp", "e", "y")], "euclidean")
    assert result[0] == ("block_distances", 0) and len(result) > 1
