"""Activations are merged into Conv and Gemm."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

WEIGHTS = {"w": randn(4, 3, 3, 3), "b": randn(4), "m": randn(5, 4), "s": np.int64([2, 4])}
LIMITS = {"low": np.float32(-0.5), "high": np.float32(0.5)}
CONV, GEMM = node("Conv", "x w b", "a"), node("Gemm", "x m b", "a")
IMAGE, ROWS = randn(1, 3, 6, 6), randn(2, 5)
SIMPLE = [
    node("Relu", "a", "y"),
    node("LeakyRelu", "a", "y", alpha=0.3),
    node("LeakyRelu", "a", "y"),
    node("HardSigmoid", "a", "y", alpha=0.3, beta=0.4),
    node("HardSigmoid", "a", "y"),
    node("Sigmoid", "a", "y"),
    node("Tanh", "a", "y"),
]
CLIPS = [
    node("Clip", "a low high", "y"),
    node("Clip", "a low", "y"),
    node("Clip", "a - high", "y"),
]


def ops(nodes, x, **kwargs):
    return Case(nodes, {"x": x}, {**WEIGHTS, **LIMITS}, **kwargs).rewritten()


@pytest.mark.parametrize("activation", [*SIMPLE, *CLIPS])
def test_an_activation_behind_conv_is_merged(activation):
    assert ops([CONV, activation], IMAGE) == {"FusedConv": 1}


@pytest.mark.parametrize("activation", SIMPLE)
def test_an_activation_behind_gemm_or_matmul_is_merged(activation):
    assert ops([GEMM, activation], ROWS) == {"FusedGemm": 1}
    assert ops([node("MatMul", "x m", "a"), activation], ROWS) == {"FusedGemm": 1}


def test_limits_may_be_attributes():
    assert ops([CONV, node("Clip", "a", "y", min=0.0, max=6.0)], IMAGE, opset=9) == {
        "FusedConv": 1
    }


def test_a_view_moves_behind_the_activation():
    nodes = [GEMM, node("Reshape", "a s", "c"), node("Relu", "c", "y")]
    case = Case(nodes, {"x": ROWS}, {**WEIGHTS, "s": np.int64([1, 2, 4])})
    assert case.rewritten() == {"FusedGemm": 1, "Reshape": 1}


@pytest.mark.parametrize(
    "nodes",
    [
        [CONV, node("Relu", "a", "c"), node("Sub", "a c", "y")],
        [CONV, node("Elu", "a", "y")],
        [CONV, node("ReduceMax", "x", "top", keepdims=0), node("Clip", "a low top", "y")],
    ],
)
def test_activations_that_do_not_fit_stay(nodes):
    result = ops(nodes, IMAGE)
    assert "FusedConv" not in result and result["Conv"] == 1


def test_only_one_activation_is_merged():
    assert ops([CONV, node("Relu", "a", "c"), node("Tanh", "c", "y")], IMAGE) == {
        "FusedConv": 1,
        "Tanh": 1,
    }


def test_activations_of_quantized_tensors_stay():
    """There is no integer product with an int32 output, as here, either."""
    constants = {"scale": np.float32(0.1), "w": np.eye(5, 4, dtype=np.float32)}
    nodes = [
        node("DequantizeLinear", "x scale", "v"),
        node("MatMul", "v w", "a"),
        node("Relu", "a", "y"),
    ]
    result = Case(nodes, {"x": (ROWS * 50).astype(np.int32)}, constants).rewritten()
    assert result["Relu"] == result["MatMul"] == 1


def test_float16_is_not_changed():
    halves = {name: c.astype(np.float16) for name, c in WEIGHTS.items() if name != "s"}
    nodes = [GEMM, node("Relu", "a", "y")]
    result = Case(nodes, {"x": ROWS.astype(np.float16)}, halves).rewritten()
    assert result == {"Gemm": 1, "Relu": 1}
