"""BatchNormalization is merged into the weights beside it."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

NORM = {
    "scale": randn(6, seed=1),
    "shift": randn(6, seed=2),
    "mean": randn(6, seed=3),
    "var": np.abs(randn(6, seed=4)) + 0.1,
}


def norm(x, y, **attributes):
    return node("BatchNormalization", f"{x} scale shift mean var", y, **attributes)


def ops(nodes, x, constants, **kwargs):
    return Case(nodes, {"x": x}, {**NORM, **constants}, **kwargs).rewritten()


@pytest.mark.parametrize(
    ("linear", "x", "constants"),
    [
        (node("Conv", "x w", "a"), randn(1, 3, 5, 5), {"w": randn(6, 3, 3, 3)}),
        (
            node("Conv", "x w b", "a", group=3, pads=[1, 0, 1, 2]),
            randn(2, 3, 5, 5),
            {"w": randn(6, 1, 3, 3), "b": randn(6)},
        ),
        (
            node("ConvTranspose", "x w", "a", strides=[2, 2]),
            randn(1, 3, 4, 4),
            {"w": randn(3, 6, 3, 3)},
        ),
        (
            node("ConvTranspose", "x w b", "a", group=2),
            randn(1, 4, 4),
            {"w": randn(4, 3, 3), "b": randn(6)},
        ),
        (
            node("Gemm", "x w b", "a", alpha=0.5, beta=2.0, transB=1),
            randn(2, 4),
            {"w": randn(6, 4), "b": randn(6)},
        ),
        (node("Gemm", "x w b", "a", transA=1), randn(4, 2), {"w": randn(4, 6), "b": randn(1)}),
        (node("MatMul", "x w", "a"), randn(2, 4), {"w": randn(4, 6)}),
    ],
)
def test_a_norm_behind_a_layer_is_merged(linear, x, constants):
    result = ops([linear, norm("a", "y", epsilon=0.01)], x, constants)
    assert "BatchNormalization" not in result and result.total() == 1


@pytest.mark.parametrize(
    ("linear", "x", "constants"),
    [
        (node("Conv", "a w", "y"), randn(1, 6, 5, 5), {"w": randn(3, 6, 3, 3)}),
        (
            node("Conv", "a w b", "y", group=2),
            randn(1, 6, 5),
            {"w": randn(4, 3, 3), "b": randn(4)},
        ),
        (node("Gemm", "a w b", "y"), randn(2, 6), {"w": randn(6, 4), "b": randn(1, 4)}),
        (node("MatMul", "a w", "y"), randn(2, 6), {"w": randn(6, 4)}),
    ],
)
def test_a_norm_in_front_of_a_layer_is_merged(linear, x, constants):
    result = ops([norm("x", "a"), linear], x, constants)
    assert "BatchNormalization" not in result and result.total() == 1


@pytest.mark.parametrize(
    ("nodes", "x", "constants"),
    [
        (
            [norm("x", "a"), node("Conv", "a w", "y", pads=[1, 1, 1, 1])],
            randn(1, 6, 5, 5),
            {"w": randn(3, 6, 3, 3)},
        ),
        (
            [norm("x", "a"), node("ConvTranspose", "a w", "y")],
            randn(1, 6, 5, 5),
            {"w": randn(6, 3, 3, 3)},
        ),
        (
            [node("Conv", "x w", "a"), norm("a", "b"), node("Sub", "a b", "y")],
            randn(1, 3, 5, 5),
            {"w": randn(6, 3, 3, 3)},
        ),
        (
            [node("Relu", "x", "a"), norm("a", "b"), node("Relu", "b", "y")],
            randn(1, 6, 5, 5),
            {},
        ),
    ],
)
def test_norms_that_do_not_fit_stay(nodes, x, constants):
    assert ops(nodes, x, constants)["BatchNormalization"] == 1


@pytest.mark.parametrize(("channels", "left"), [(3, 0), (12, 1)])
def test_shared_weights_are_copied_if_small(channels, left):
    nodes = [node("Conv", "x w", "a"), norm("a", "b"), node("Conv", "x w", "c", pads=[1] * 4)]
    nodes += [node("GlobalAveragePool", "c", "d"), node("Sub", "b d", "y")]
    result = ops(nodes, randn(1, channels, 5, 5), {"w": randn(6, channels, 3, 3)})
    assert (result["BatchNormalization"], result["Conv"]) == (left, 2)
