"""Pad is merged into the node that reads it."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

X = randn(1, 2, 6, 7)
LOWEST = np.finfo(np.float32).min


def ops(reader, pads=(0, 0, 1, 0, 0, 0, 1, 2), fill=0.0, before=None, **attributes):
    nodes = [node("Pad", "a pads fill", "p", **attributes), reader]
    nodes.insert(0, before or node("Neg", "x", "a"))
    constants = {"pads": np.int64(pads), "fill": np.float32(fill), "w": randn(3, 2, 3, 3)}
    result = Case(nodes, {"x": X}, constants).rewritten()
    del result[nodes[0].op_type]
    return result


def conv(**attributes):
    return node("Conv", "p w", "y", **attributes)


def pool(op, **attributes):
    return node(op, "p", "y", kernel_shape=[3, 3], **attributes)


def test_zeros_are_merged_into_conv():
    assert ops(conv()) == {"Conv": 1}
    assert ops(conv(pads=[0, 1, 0, 1], strides=[2, 2], dilations=[2, 1])) == {"Conv": 1}
    assert ops(conv(auto_pad="VALID")) == {"Conv": 1}


def test_zeros_are_merged_into_an_average_pool_that_counts_them():
    assert ops(pool("AveragePool", strides=[2, 2])) == {"AveragePool": 1}
    counted = pool("AveragePool", pads=[1, 0, 1, 0], count_include_pad=1)
    assert ops(counted) == {"AveragePool": 1}


def test_lowest_values_are_merged_into_max_pool():
    assert ops(pool("MaxPool"), fill=LOWEST) == {"MaxPool": 1}
    assert ops(pool("MaxPool"), fill=-np.inf) == {"MaxPool": 1}
    assert ops(pool("MaxPool"), before=node("Relu", "x", "a")) == {"MaxPool": 1}


@pytest.mark.parametrize(
    ("reader", "how"),
    [
        (conv(), {"fill": 1.0}),
        (conv(), {"mode": "reflect"}),
        (conv(), {"pads": (0, 0, -1, 0, 0, 0, 1, 0)}),
        (conv(), {"pads": (1, 0, 1, 0, 0, 0, 1, 0)}),
        (conv(auto_pad="SAME_UPPER"), {}),
        (pool("MaxPool"), {}),
        (pool("MaxPool"), {"pads": (0, 0, 4, 0, 0, 0, 0, 0), "fill": LOWEST}),
        (pool("MaxPool", ceil_mode=1, strides=[2, 2]), {"fill": LOWEST}),
        (pool("AveragePool", pads=[1, 1, 1, 1]), {}),
        (pool("LpPool"), {}),
    ],
)
def test_pads_that_do_not_fit_stay(reader, how):
    assert ops(reader, **how)["Pad"] == 1


def test_a_padded_tensor_with_other_readers_stays():
    nodes = [node("Pad", "x pads", "p"), conv(), node("Relu", "p", "z")]
    case = Case(nodes, {"x": X}, {"pads": np.int64([0, 0, 1, 1] * 2), "w": randn(3, 2, 3, 3)})
    case.outputs = "y z"
    assert case.rewritten()["Pad"] == 1


@pytest.mark.parametrize(("fill", "results"), [(9, {"QLinearConv": 1}), (0, None)])
def test_zero_points_are_merged_into_an_integer_conv(fill, results):
    nodes = [node("Pad", "x pads fill", "p"), node("QLinearConv", "p s z w s r s z", "y")]
    ints = np.random.default_rng(0).integers
    constants = {
        "pads": np.int64([0, 0, 1, 0, 0, 0, 1, 2]),
        "fill": np.uint8(fill),
        "w": ints(-99, 99, (3, 2, 3, 3)).astype(np.int8),
        "s": np.float32(0.1),
        "z": np.uint8(9),
        "r": np.int8(0),
    }
    x = ints(0, 255, (1, 2, 6, 7)).astype(np.uint8)
    assert Case(nodes, {"x": x}, constants).rewritten() == (
        results or {"Pad": 1, "QLinearConv": 1}
    )
