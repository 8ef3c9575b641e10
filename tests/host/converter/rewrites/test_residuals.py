"""Additions are merged into FusedConv."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

WEIGHTS = {"w": randn(4, 4, 3, 3), "v": randn(4, 4, 1, 1), "b": randn(4)}
CONV = node("Conv", "x w b", "a", pads=[1, 1, 1, 1])
X = randn(1, 4, 5, 5)


def ops(*nodes, x=X):
    return Case(nodes, {"x": x}, WEIGHTS).rewritten()


@pytest.mark.parametrize("inputs", ["a x", "x a"])
def test_a_sum_is_merged_into_conv(inputs):
    assert ops(CONV, node("Add", inputs, "y")) == {"FusedConv": 1}


def test_a_sum_and_its_activation_are_merged():
    assert ops(CONV, node("Add", "a x", "s"), node("Relu", "s", "y")) == {"FusedConv": 1}


def test_one_of_two_convs_takes_the_sum():
    nodes = [CONV, node("Conv", "x v", "c"), node("Add", "a c", "s"), node("Relu", "s", "y")]
    assert ops(*nodes) == {"FusedConv": 1, "Conv": 1}


def test_a_conv_without_bias_takes_the_sum():
    assert ops(node("Conv", "x v", "a"), node("Add", "a x", "y")) == {"FusedConv": 1}


def test_a_broadcast_sum_stays():
    small = node("GlobalMaxPool", "x", "g")
    assert ops(CONV, small, node("Add", "a g", "y"))["Conv"] == 1


def test_a_sum_behind_an_activation_stays():
    result = ops(CONV, node("Relu", "a", "r"), node("Add", "r x", "y"))
    assert result == {"FusedConv": 1, "Add": 1}


def test_float16_is_not_changed():
    halves = {name: c.astype(np.float16) for name, c in WEIGHTS.items()}
    nodes = [CONV, node("Add", "a x", "y")]
    result = Case(nodes, {"x": X.astype(np.float16)}, halves).rewritten()
    assert result == {"Conv": 1, "Add": 1}
