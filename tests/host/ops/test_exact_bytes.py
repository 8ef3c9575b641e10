"""Sums, products and means of quantized bytes are exact fractions, rounded once, half to even.

A sum or a product has 65,536 pairs of bytes, and all of them are tried. Means have too many
inputs: those whose results lie next to a tie between two integers are tried.
"""

import os
from fractions import Fraction

import numpy as np
import pytest

from tests.host.ops.against_ort import run
from tests.host.ops.ms_node import MsNode

LONG = os.environ.get("MPCONNXR_LONG") == "1"
TARGETS = ["unix", "unix32", "unix-plain", "mps2-an385", "mps2-an385-v6m", "virt-rv32"]
EMULATED = TARGETS[3:]
F = np.float32
BYTES = np.arange(256, dtype=np.uint8)
COUNTS = [1, 2, 3, 6, 7, 12, 49, 96, 100, 192, 576]  # of items; an equal scale has middles

on_targets = pytest.mark.parametrize("target", TARGETS, indirect=True)


def count(target, most):
    if LONG:
        return 8 * most  # 1e7 pairs
    return most if target.name not in EMULATED else 1 + most // 8


def scales_of(rng, spread):
    """Return scales of two inputs and an output: random, powers of two, or equal ones."""
    scales = np.exp2(rng.uniform(-10, 0, 3))
    scales[2] *= spread * scales[0] / scales[2]
    kind = rng.integers(3)
    if kind == 1:
        scales = np.exp2(np.rint(np.log2(scales)))
    elif kind == 2:
        scales[1:] = scales[0]
    return scales.astype(F)


def limited(exact, zero, dtype):
    info = np.iinfo(dtype)
    return np.clip([round(v) + int(zero) for v in exact], info.min, info.max).astype(dtype)


def to_even(numerators, denominator):
    """Return quotients of Python integers in an array, rounded half to even."""
    whole, rest = numerators // denominator, numerators % denominator
    return (whole + (2 * rest + whole % 2 > denominator)).astype(np.int64)


def rounded_pairs(op, a, b, scales):
    """Return (a * x + b * w) / y or (a * x) * (b * w) / y of any integers, rounded."""
    x, w, y = (Fraction(float(v)) for v in scales)
    if op == "QLinearMul":
        scale = x * w / y
        return to_even(scale.numerator * a * b, scale.denominator)
    ratios = [x / y, w / y]
    denominator = ratios[0].denominator * ratios[1].denominator
    first, second = (int(r * denominator) for r in ratios)
    return to_even(first * a + second * b, denominator)


def pairs_node(rng, op, dtype):
    """Return a node of all pairs of bytes, and its right output."""
    x, w, y = scales_of(rng, np.exp2(rng.uniform(-1, 2)))
    if op == "QLinearMul":
        y = F(np.exp2(rng.uniform(5, 8)) * x * w if rng.integers(2) else 128 * x * w)
    elif w > 8 * y:
        w = F(x * np.exp2(rng.uniform(-3, 2)))
    zeros = rng.integers(0, 256, 3)
    shift = -128 if dtype == np.int8 else 0
    a, b = (BYTES.astype(object) - int(z) for z in zeros[:2])
    right = rounded_pairs(op, a[:, None], b, (x, w, y)) + zeros[2] + shift
    right = np.clip(right, shift, 255 + shift).astype(dtype)
    x_zero, w_zero, y_zero = (np.array(z + shift, dtype) for z in zeros)
    elements = (BYTES.astype(np.int64) + shift).astype(dtype)
    inputs = [elements.reshape(256, 1), x, x_zero, elements, w, w_zero, y, y_zero]
    inputs = [np.asarray(v) for v in inputs]
    fixed = (1, 2, 4, 5, 6, 7)
    return MsNode(op, inputs, fixed=fixed, dtypes=(dtype,)), right


@on_targets
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_all_pairs_of_bytes_are_exact(target, op):
    rng = np.random.default_rng(31)
    made = [pairs_node(rng, op, (np.uint8, np.int8)[i % 2]) for i in range(count(target, 24))]
    nodes, right = [n for n, _ in made], [[r] for _, r in made]
    kernels = {n.converted(r).graph.steps[0].kernel for n, r in zip(nodes, right, strict=True)}
    assert kernels == {"qbinary"}
    for node, [got], [want] in zip(nodes, run(target, nodes, right), right, strict=True):
        assert np.count_nonzero(got != want) == 0, [str(v) for v in node.inputs[1:]]


def means_node(rng, n, dtype):
    """Return a node of planes of n elements, most of whose means lie near ties."""
    x, _, y = scales_of(rng, np.exp2(rng.uniform(-2, 1)))
    x_zero, y_zero = (int(z) for z in rng.integers(0, 256, 2))
    scale = Fraction(float(x)) / Fraction(float(y)) / n
    middles = rng.integers(-y_zero, 256 - y_zero, 200) + Fraction(1, 2)
    sums = np.array([int(m / scale) for m in middles]) + rng.integers(-1, 2, 200)
    totals = np.clip(sums + n * x_zero, 0, 255 * n)
    planes = np.repeat(totals[:, None] // n, n, 1)
    planes += np.arange(n) < (totals % n)[:, None]
    exact = [int(v) * scale for v in totals - n * x_zero]
    shift = -128 if dtype == np.int8 else 0
    right = limited(exact, y_zero + shift, dtype).reshape(1, -1, 1, 1)
    planes = (rng.permuted(planes, axis=1) + shift).astype(dtype).reshape(1, -1, 1, n)
    zeros = [np.array(z + shift, dtype) for z in (x_zero, y_zero)]
    inputs = [np.asarray(v) for v in (planes, x, zeros[0], y, zeros[1])]
    return MsNode("QLinearGlobalAveragePool", inputs, fixed=(1, 2, 3, 4), dtypes=(dtype,)), right


@on_targets
def test_means_are_exact(target):
    rng = np.random.default_rng(32)
    n = count(target, 5)
    made = [means_node(rng, k, t) for k in COUNTS for t in (np.uint8, np.int8) for _ in range(n)]
    nodes, right = [node for node, _ in made], [[r] for _, r in made]
    kernels = {n.converted(r).graph.steps[0].kernel for n, r in zip(nodes, right, strict=True)}
    assert kernels == {"qaverage_pool"}
    for node, [got], [want] in zip(nodes, run(target, nodes, right), right, strict=True):
        wrong = np.count_nonzero(got != want)
        assert wrong == 0, [wrong, node.inputs[0].shape, *map(str, node.inputs[1:])]
