"""Products of two computed tensors of bytes agree with exact integers and fractions."""

from fractions import Fraction

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare, run

TARGETS = ["unix", "unix32", "unix-plain", "mps2-an385", "mps2-an385-v6m", "virt-rv32"]
F = np.float32
# Of A and B: K and columns not a multiple of 4, one batch for many, batches of B alone
SHAPES = [
    ((3, 8), (8, 4)),
    ((5, 7), (7, 3)),
    ((2, 3, 12), (2, 12, 9)),
    ((1, 4, 6, 8), (1, 4, 8, 6)),
    ((2, 2, 5, 5), (5, 6)),
    ((4, 16), (3, 16, 5)),
    ((1, 1), (1, 1)),
    ((1, 1, 300), (1, 300, 2)),
]

on_targets = pytest.mark.parametrize("target", TARGETS, indirect=True)


def draw(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def requantized(rng, a_shape, b_shape, a_dtype, b_dtype):
    """Return a node and its result from exact integers and a fraction."""
    a, b = draw(rng, a_shape, a_dtype), draw(rng, b_shape, b_dtype)
    a_zero, b_zero = draw(rng, (), a_dtype), draw(rng, (), b_dtype)
    y_dtype = rng.choice([np.uint8, np.int8])
    y_zero = draw(rng, (), y_dtype)
    wide = [v.astype(object) - int(z) for v, z in ((a, a_zero), (b, b_zero))]
    sums = np.matmul(*wide)
    spread = max(1, int(np.abs(sums).max())) / 200
    scales = [F(rng.uniform(0.01, 0.1)) for _ in range(2)]
    y_scale = F(scales[0] * scales[1] * spread * rng.uniform(0.5, 2))
    scale = Fraction(float(scales[0])) * Fraction(float(scales[1])) / Fraction(float(y_scale))
    info = np.iinfo(y_dtype)
    exact = [round(scale * int(v)) + int(y_zero) for v in sums.ravel()]
    right = np.clip(exact, info.min, info.max).astype(y_dtype).reshape(sums.shape)
    inputs = [a, scales[0], a_zero, b, scales[1], b_zero, y_scale, y_zero]
    inputs = [np.asarray(v) for v in inputs]
    return Node("QLinearMatMul", inputs, fixed=(1, 2, 4, 5, 6, 7), dtypes=(y_dtype,)), right


def kernels(node, right):
    return [step.kernel for step in node.converted([right]).graph.steps]


@on_targets
def test_requantized_products_are_exact(target):
    rng = np.random.default_rng(41)
    dtypes = [(np.uint8, np.uint8), (np.int8, np.int8), (np.uint8, np.int8)]
    made = [requantized(rng, *shapes, *pair) for shapes in SHAPES for pair in dtypes]
    nodes, right = [n for n, _ in made], [[r] for _, r in made]
    # in front may be a table that makes bytes unsigned
    assert all(kernels(*one)[-2:] == ["qcolumns", "qconv"] for one in made)
    for node, [got], [want] in zip(nodes, run(target, nodes, right), right, strict=True):
        assert np.array_equal(got, want), [str(node), got.ravel(), want.ravel()]


@on_targets
def test_integer_products_are_exact(target):
    rng = np.random.default_rng(42)
    nodes, right = [], []
    for a_shape, b_shape in SHAPES:
        for a_dtype, b_dtype in ((np.uint8, np.int8), (np.int8, np.uint8)):
            a, b = draw(rng, a_shape, a_dtype), draw(rng, b_shape, b_dtype)
            zeros = draw(rng, (), a_dtype), draw(rng, (), b_dtype)
            inputs = [a, b, *map(np.asarray, zeros)]
            nodes.append(Node("MatMulInteger", inputs, fixed=(2, 3), dtypes=(np.int32,)))
            wide = [v.astype(np.int64) - int(z) for v, z in zip((a, b), zeros, strict=True)]
            right.append([np.matmul(*wide).astype(np.int32)])
    assert kernels(nodes[0], right[0][0]) == ["qcolumns", "qconv"]
    compare(target, nodes, right)


@pytest.mark.parametrize(
    "k, last", [(1024, "qconv"), (4096, "levels"), (40000, "levels")], ids=str
)
def test_long_rows_use_wider_sums(k, last):
    """Columns whose constant may exceed 27 bits have int32 sums; K is up to 33,024."""
    a, b = np.zeros((2, k), np.uint8), np.zeros((k, 2), np.uint8)
    one, zero = np.asarray(F(1)), np.asarray(np.uint8(255))
    inputs = [a, one, zero, b, one, np.asarray(np.uint8(0)), one, zero]
    node = Node("QLinearMatMul", inputs, fixed=(1, 2, 4, 5, 6, 7), dtypes=(np.uint8,))
    result = kernels(node, np.zeros((2, 2), np.uint8))
    assert result[-1] == last and ("qcolumns" in result) == (k < 33024)
