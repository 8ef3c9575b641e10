"""Normalizations on MicroPython, against numpy in doubles and onnxruntime."""

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare
from tests.host.ops.single_node import Case, check
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
rng = np.random.default_rng(5)
X = rng.standard_normal((2, 6, 4, 5)).astype(np.float32)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


@on_targets
def test_normalizations_agree_with_onnxruntime(target):
    f = np.float32
    cases = [
        Node("LayerNormalization", [X, floats(5), floats(5)], {}, 17),
        Node("LayerNormalization", [X, floats(4, 5), None], {"axis": 2, "epsilon": 0.1}, 17),
        Node(
            "LayerNormalization",
            [X, floats(6, 4, 5), floats(6, 4, 5)],
            {"axis": 1},
            17,
            (),
            (f, f, f),
        ),
        Node("InstanceNormalization", [X, floats(6), floats(6)], {"epsilon": 1e-2}, 6),
        Node("GroupNormalization", [X, floats(6), floats(6)], {"num_groups": 3}, 21),
        Node("LpNormalization", [X], {"axis": 1, "p": 1}, 1),
        Node("LpNormalization", [X], {}, 1),
        Node("LRN", [X], {"size": 3}, 13),
        Node("LRN", [X], {"size": 5, "alpha": 0.5, "beta": 0.9, "bias": 2.0}, 1),
        Node("MeanVarianceNormalization", [X], {}, 13),
        Node("MeanVarianceNormalization", [X], {"axes": [1, 3]}, 13),
    ]
    compare(target, cases, rtol=2e-5, atol=2e-6)


def normalized(x, axis, epsilon=1e-5):
    d = x.astype(np.float64)
    mean = d.mean(axis=axis, keepdims=True)
    return (d - mean) / np.sqrt(d.var(axis=axis, keepdims=True) + epsilon)


@on_targets
def test_keeps_digits_beside_a_large_mean(target):
    """The textbook's E[x^2] - E[x]^2 would lose all of them here."""
    x = (rng.standard_normal((2, 1, 999)) + 4000).astype(np.float32)
    one = np.ones(999, np.float32)
    cases = [
        (Node("LayerNormalization", [x, one], {}, 17), normalized(x, 2)),
        (Node("MeanVarianceNormalization", [x], {"axes": [2]}, 13), normalized(x, 2, 0)),
    ]
    nodes = [node for node, _ in cases]
    # the mean itself is off by half its last bit at most: 1.2e-4
    compare(target, nodes, [[y.astype(np.float32)] for _, y in cases], rtol=1e-5, atol=1.3e-4)


@on_targets
def test_rows_of_zeros_are_normalized(target):
    """0 / sqrt(0 + epsilon) is 0; an all-zero vector has no direction to keep."""
    zero = np.zeros((2, 4), np.float32)
    one = np.ones(4, np.float32)
    cases = [
        Case(zero, "LayerNormalization", zero, constants={1: one}, opset=17),
        Case(zero, "LpNormalization", zero, opset=1),
        Case(zero, "LpNormalization", zero, p=1, opset=1),
    ]
    check(target, cases)
