"""Parts of LayerNormalization become one operator."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

X = {"x": randn(2, 3, 8) + np.float32(2)}
CONSTANTS = {
    "two": np.float32(2),
    "one": np.float32(1),
    "e": np.float32(1e-3),
    "scale": randn(8),
    "bias": randn(8),
    "wide": randn(3, 1),
}
SQUARES = node("Mul", "d d", "q")
TORCH = [
    node("ReduceMean", "x", "m", axes=[-1]),
    node("Sub", "x m", "d"),
    SQUARES,
    node("ReduceMean", "q", "v", axes=[-1]),
    node("Add", "v e", "t"),
    node("Sqrt", "t", "r"),
]
ENDING = [node("Mul", "n scale", "s"), node("Add", "s bias", "y")]


def ops(*nodes, opset=17, outputs="y"):
    return Case(nodes, X, CONSTANTS, opset=opset, outputs=outputs).rewritten()


@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("squares", [SQUARES, node("Pow", "d two", "q")])
@pytest.mark.parametrize(
    "quotient",
    [
        [node("Div", "d r", "n")],
        [node("Reciprocal", "r", "i"), node("Mul", "i d", "n")],
        [node("Div", "one r", "i"), node("Mul", "d i", "n")],
    ],
)
def test_the_parts_as_torch_writes_them_become_one(quotient, squares, opset):
    nodes = [squares if n is SQUARES else n for n in TORCH]
    assert ops(*nodes, *quotient, *ENDING, opset=opset) == {"LayerNormalization": 1}


@pytest.mark.parametrize("opset", [13, 17])
def test_scale_and_bias_may_be_missing(opset):
    plain = [*TORCH, node("Div", "d r", "y")]
    assert ops(*plain, opset=opset) == {"LayerNormalization": 1}
    scaled = [*TORCH, node("Div", "d r", "n"), node("Mul", "n scale", "y")]
    assert ops(*scaled, opset=opset) == {"LayerNormalization": 1}


def test_factors_that_vary_over_rows_stay_behind():
    nodes = [*TORCH, node("Div", "d r", "n"), node("Mul", "n wide", "y")]
    assert ops(*nodes) == {"LayerNormalization": 1, "Mul": 1}


@pytest.mark.parametrize("axes", [[1], [1, 2]])
def test_norms_over_other_axes_stay(axes):
    nodes = [
        node("ReduceMean", n.input[0], n.output[0], axes=axes) if n.op_type == "ReduceMean" else n
        for n in TORCH
    ]
    assert "LayerNormalization" not in ops(*nodes, node("Div", "d r", "y"))


def test_parts_with_other_readers_stay_for_them():
    nodes = [*TORCH, node("Div", "d r", "n"), *ENDING, node("Neg", "n", "z")]
    assert "LayerNormalization" in ops(*nodes, outputs="y z")
