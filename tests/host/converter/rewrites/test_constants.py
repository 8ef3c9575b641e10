"""Constant factors and summands are merged into the weights beside them."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

CONV = {"w": randn(4, 3, 3, 3), "b": randn(4) * np.float32(1e-3)}
IMAGE = randn(1, 3, 6, 6)


def ops(nodes, x=IMAGE, **constants):
    return Case(nodes, {"x": x}, {**CONV, **constants}).rewritten()


@pytest.mark.parametrize(
    "behind",
    [
        node("Mul", "a c", "y"),
        node("Mul", "c a", "y"),
        node("Add", "c a", "y"),
        node("Sub", "a c", "y"),
        node("Sub", "c a", "y"),
        node("Div", "a c", "y"),
        node("Neg", "a", "y"),
    ],
)
@pytest.mark.parametrize("c", [np.float32(0.3), randn(4, 1, 1), randn(1, 4, 1, 1)])
def test_constants_behind_conv_are_merged(behind, c):
    assert ops([node("Conv", "x w b", "a"), behind], c=c) == {"Conv": 1}


@pytest.mark.parametrize(
    ("in_front", "c"),
    [("Sub", randn(3, 1, 1)), ("Div", np.float32([255])), ("Mul", np.float32(2))],
)
def test_constants_in_front_of_conv_are_merged(in_front, c):
    assert ops([node(in_front, "x c", "a"), node("Conv", "a w b", "y")], c=c) == {"Conv": 1}


def test_a_normalized_image_costs_nothing():
    nodes = [
        node("Sub", "x mean", "a"),
        node("Div", "a deviation", "c"),
        node("Conv", "c w b", "y"),
    ]
    result = ops(nodes, mean=randn(3, 1, 1), deviation=np.abs(randn(3, 1, 1)) + 0.5)
    assert result == {"Conv": 1}


@pytest.mark.parametrize(("most", "left"), [(200, {"Gemm": 1}), (1e6, {"Div": 1, "Gemm": 1})])
def test_features_of_different_units_are_scaled_first(most, left):
    """scikit-learn's StandardScaler scales each feature by its own unit."""
    units = np.geomspace(1, most, 8).astype(np.float32)
    nodes = [node("Div", "x units", "a"), node("MatMul", "a w", "c"), node("Add", "c b", "y")]
    x = randn(4, 8) * units
    case = Case(nodes, {"x": x}, {"units": units, "w": randn(8, 4), "b": randn(4)})
    assert case.rewritten() == left


def test_before_padding_factors_are_merged_and_summands_stay():
    conv = node("Conv", "a w b", "y", pads=[1, 1, 1, 1])
    assert ops([node("Mul", "x c", "a"), conv], c=randn(3, 1, 1)) == {"Conv": 1}
    assert ops([node("Add", "x c", "a"), conv], c=randn(3, 1, 1)) == {"Conv": 1, "Add": 1}


@pytest.mark.parametrize(
    ("behind", "c"),
    [
        (node("Mul", "a c", "y"), randn(1, 1, 4, 4)),
        (node("Add", "a c", "y"), randn(2, 4, 4, 4)),
        (node("Div", "c a", "y"), np.float32(1)),
        (node("Mul", "a c", "y"), np.float32(3e38) * np.ones((4, 1, 1), np.float32)),
    ],
)
def test_constants_that_do_not_fit_stay(behind, c):
    result = ops([node("Conv", "x w b", "a"), behind], IMAGE * np.float32(1e-3), c=c)
    assert result == {"Conv": 1, behind.op_type: 1}


def test_a_division_by_zero_stays():
    nodes = [node("Conv", "x w b", "a"), node("Div", "a c", "d"), node("Sign", "d", "y")]
    assert ops(nodes, c=np.float32([0]))["Div"] == 1


def test_matmul_with_a_summand_becomes_gemm():
    nodes = [node("MatMul", "x m", "a"), node("Add", "a c", "d"), node("Mul", "d e", "y")]
    result = ops(nodes, randn(2, 5), m=randn(5, 4), c=randn(4), e=randn(4))
    assert result == {"Gemm": 1}


def test_constants_behind_a_view_of_gemm_are_merged():
    nodes = [node("MatMul", "x m", "a"), node("Add", "a c", "d"), node("Mul", "d e", "y")]
    result = ops(nodes, randn(1, 3, 5), m=randn(5, 4), c=randn(4), e=np.float32(0.5))
    assert result == {"Gemm": 1, "Reshape": 2}


def test_consecutive_constants_are_merged():
    nodes = [
        node("Add", "x c", "a"),
        node("Sub", "a d", "e"),
        node("Mul", "e c", "f"),
        node("Div", "f d", "g"),
        node("Relu", "g", "y"),
    ]
    result = ops(nodes, c=np.float32([2]), d=randn(3, 1, 1))
    assert result == {"Add": 1, "Mul": 1, "Relu": 1}


def test_float64_and_float16_are_not_changed():
    nodes = [node("Mul", "x c", "a"), node("Mul", "a c", "y")]
    for dtype in (np.float16, np.float64):
        assert ops(nodes, IMAGE.astype(dtype), c=dtype([3])) == {"Mul": 2}


def test_scalars_stay_scalars():
    nodes = [node("Mul", "x c", "a"), node("Mul", "a c", "y")]
    assert ops(nodes, np.asarray(2, np.float32), c=np.float32(3)) == {"Mul": 1}


def test_a_product_of_vectors_has_no_channels():
    nodes = [node("MatMul", "x v", "a"), node("Mul", "a c", "y")]
    assert ops(nodes, randn(5), v=randn(5), c=np.float32(3)) == {"MatMul": 1, "Mul": 1}
