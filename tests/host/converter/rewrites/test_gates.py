"""Parts of Gelu, Swish, HardSigmoid and HardSwish become one operator."""

import math

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

X = {"x": 3 * randn(2, 7)}
NUMBERS = {
    "half": 0.5,
    "one": 1.0,
    "two": 2.0,
    "three": 3.0,
    "root": math.sqrt(2),
    "inverse_root": math.sqrt(0.5),
    "alpha": 1.702,
    "small": 0.044715,
    "slope": math.sqrt(2 / math.pi),
    "zero": 0.0,
    "six": 6.0,
    "sixth": 1 / 6,
}
NUMBERS = {name: np.float32(number) for name, number in NUMBERS.items()}
ERF = [node("Div", "x root", "a"), node("Erf", "a", "b"), node("Add", "b one", "c")]
CUBE = [node("Mul", "x x", "q"), node("Mul", "q x", "p")]
TANH = [
    node("Mul", "p small", "s"),
    node("Add", "x s", "t"),
    node("Mul", "t slope", "a"),
    node("Tanh", "a", "b"),
    node("Add", "one b", "c"),
]


def ops(*nodes, opset=17, outputs="y"):
    return Case(nodes, X, NUMBERS, opset=opset, outputs=outputs).rewritten()


@pytest.mark.parametrize(
    "ending",
    [
        [node("Mul", "x c", "d"), node("Mul", "d half", "y")],
        [node("Mul", "x half", "d"), node("Mul", "d c", "y")],
        [node("Mul", "half c", "d"), node("Mul", "x d", "y")],
        [node("Mul", "c x", "d"), node("Div", "d two", "y")],
    ],
)
def test_gelu_is_found_in_its_parts(ending):
    assert ops(*ERF, *ending) == {"Gelu": 1}
    assert ops(node("Mul", "x inverse_root", "a"), *ERF[1:], *ending) == {"Gelu": 1}
    assert ops(*CUBE, *TANH, *ending) == {"FastGelu": 1}
    assert ops(node("Pow", "x three", "p"), *TANH, *ending) == {"FastGelu": 1}


def test_gelu_keeps_another_factor():
    ending = [node("Mul", "x c", "d"), node("Mul", "d half", "e"), node("Mul", "e x", "y")]
    assert ops(*ERF, *ending) == {"Gelu": 1, "Mul": 1}


def test_other_functions_than_gelu_stay():
    assert "Gelu" not in ops(*ERF, node("Mul", "x c", "y"))
    assert "Gelu" not in ops(*ERF, node("Mul", "a c", "d"), node("Mul", "d half", "y"))
    other = [node("Div", "x two", "a"), *ERF[1:], node("Mul", "x c", "d")]
    assert "Gelu" not in ops(*other, node("Mul", "d half", "y"))
    square = [node("Mul", "x x", "p"), *TANH, node("Mul", "x c", "d"), node("Mul", "d half", "y")]
    assert "FastGelu" not in ops(*square)


def test_parts_with_other_readers_stay():
    nodes = [*ERF, node("Mul", "x c", "d"), node("Mul", "d half", "y"), node("Neg", "b", "z")]
    assert "Gelu" not in ops(*nodes, outputs="y z")


def test_swish_is_found_in_its_parts():
    assert ops(node("Sigmoid", "x", "a"), node("Mul", "x a", "y")) == {"QuickGelu": 1}
    scaled = [node("Mul", "x alpha", "s"), node("Sigmoid", "s", "a"), node("Mul", "a x", "y")]
    assert ops(*scaled) == {"QuickGelu": 1}
    assert ops(node("Sigmoid", "x", "a"), node("Mul", "a a", "y")) == {"Sigmoid": 1, "Mul": 1}


HARD = [node("Add", "x three", "a"), node("Clip", "a zero six", "b")]


@pytest.mark.parametrize("ending", [node("Div", "b six", "y"), node("Mul", "b sixth", "y")])
def test_hard_sigmoid_is_found_in_its_parts(ending):
    assert ops(*HARD, ending) == {"HardSigmoid": 1}


def test_hard_sigmoid_with_a_slope_is_found():
    nodes = [
        node("Mul", "x half", "s"),
        node("Add", "s two", "a"),
        node("Clip", "a zero one", "y"),
    ]
    assert ops(*nodes) == {"HardSigmoid": 1}


def test_hard_swish_is_found_in_its_parts():
    ending = [node("Div", "b six", "c"), node("Mul", "x c", "y")]
    assert ops(*HARD, *ending) == {"HardSwish": 1}
    assert ops(*HARD, *ending, opset=13) == {"HardSigmoid": 1, "Mul": 1}


@pytest.mark.parametrize("ending", [node("Div", "c six", "y"), node("Mul", "sixth c", "y")])
def test_hard_swish_is_found_with_the_factor_last(ending):
    assert ops(*HARD, node("Mul", "x b", "c"), ending) == {"HardSwish": 1}
    assert "HardSwish" not in ops(*HARD, node("Mul", "x b", "c"), ending, opset=13)
    assert "HardSwish" not in ops(*HARD, node("Mul", "b b", "c"), ending)
    assert "HardSwish" not in ops(*HARD, node("Mul", "x b", "c"), node("Div", "c two", "y"))


def test_a_clip_of_other_limits_stays():
    assert "HardSigmoid" not in ops(*HARD, node("Div", "b two", "y"))
    assert "HardSigmoid" not in ops(HARD[0], node("Clip", "a one six", "y"))
