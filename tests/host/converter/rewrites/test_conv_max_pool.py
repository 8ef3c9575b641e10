"""Conv and MaxPool become one; tests/host/ops/test_conv_max_pool.py compares the numbers."""

import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn
from tools.converter import pipeline

CONV = node("Conv", "x w", "a")
POOL = {"kernel_shape": [2, 2], "strides": [2, 2]}


def ops(*nodes, level=2, outputs="y"):
    case = Case(nodes, {"x": randn(1, 3, 8, 8)}, {"w": randn(4, 3, 3, 3)}, outputs=outputs)
    case.rewritten()
    result, _ = pipeline.rewrite_model(case.done, level, group="rewrite_for_boards")
    return [n.op_type for n in result.graph.node]


def pool(x="a", **attributes):
    return node("MaxPool", x, "y", **{**POOL, **attributes})


@pytest.mark.parametrize(
    "nodes",
    [
        [CONV, pool()],
        [CONV, node("Relu", "a", "b"), pool("b")],
        [CONV, node("Clip", "a", "b"), pool("b")],
    ],
)
def test_conv_and_max_pool_become_one(nodes):
    assert ops(*nodes) == ["ConvMaxPool"]


@pytest.mark.parametrize(
    "nodes",
    [
        [CONV, pool(strides=[1, 1])],
        [CONV, pool(kernel_shape=[3, 3])],
        [CONV, pool(pads=[1, 1, 0, 0])],
        [node("Conv", "x w", "a", pads=[1, 0, 0, 0]), pool(ceil_mode=1)],
        [CONV, node("Tanh", "a", "b"), pool("b")],
        [CONV, node("Relu", "a", "b"), node("AveragePool", "b", "y", **POOL)],
        [node("Conv", "x w", "c"), node("Exp", "c", "e"), node("Add", "c e", "a"), pool()],
    ],
)
def test_pairs_that_do_not_fit_stay(nodes):
    assert "ConvMaxPool" not in ops(*nodes)


def test_a_plane_with_other_readers_stays():
    assert "ConvMaxPool" not in ops(CONV, pool(), node("Neg", "a", "z"), outputs="y z")


def test_level_1_changes_nothing():
    assert ops(CONV, pool(), level=1) == ["Conv", "MaxPool"]
