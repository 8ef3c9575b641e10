"""Operators on 32-bit integers and booleans agree with numpy, also near the ends of the range."""

import numpy as np

from tests.host.ops.single_node import Case, check, on_targets

rng = np.random.default_rng(8)
ENDS = [
    -(1 << 31),
    (1 << 31) - 1,
    -(1 << 30),
    (1 << 30) - 1,
    1 << 30,
    -1,
    0,
    1,
    65535,
    65536,
    -65536,
]
ARITHMETIC = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}
COMPARED = {
    "Less": np.less,
    "Greater": np.greater,
    "Equal": np.equal,
    "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal,
}
TRUTHS = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}


def pairs(dtype):
    """Return all pairs of extreme integers and as many random ones; some broadcast the second."""
    a, b = [v.ravel() for v in np.meshgrid(ENDS, ENDS)]
    a = np.concatenate([a, rng.integers(-(1 << 31), 1 << 31, 60)]).astype(dtype)
    b = np.concatenate([b, rng.integers(-(1 << 31), 1 << 31, 60)]).astype(dtype)
    return [(a, b), (a.reshape(-1, 1), b[:7]), (a[:12].reshape(3, 4), b[9:10])]


@on_targets
def test_arithmetic_wraps_around(target):
    cases = []
    for dtype in (np.int32, np.uint32):
        for a, b in pairs(dtype):
            for op, function in ARITHMETIC.items():
                cases.append(Case(function(a, b), op, a, b))
    check(target, cases)


def cut_off(a, b):
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


QUOTIENTS = (("Div", cut_off, {}), ("Mod", np.mod, {}), ("Mod", np.fmod, {"fmod": 1}))


@on_targets
def test_quotients_and_remainders_agree_with_numpy(target):
    cases = []
    for dtype in (np.int32, np.uint32):
        for a, b in pairs(dtype):
            b = np.where(b == 0, 7, b).astype(dtype)
            wide = a.astype(np.int64), b.astype(np.int64)
            for op, function, attrs in QUOTIENTS:
                cases.append(Case(function(*wide).astype(dtype), op, a, b, **attrs))
        small = rng.integers(-99 if dtype == np.int32 else 0, 100, 50).astype(dtype)
        for divisor in np.array([1, 2, 10, 641, 1 << 30, (1 << 31) - 1]).astype(dtype):
            for x in (small, pairs(dtype)[0][0]):
                for op, function, attrs in QUOTIENTS:
                    expected = function(x.astype(np.int64), np.int64(divisor)).astype(dtype)
                    cases.append(Case(expected, op, x, np.array([divisor]), **attrs))
        zero = np.zeros_like(small)
        cases += [Case(zero, op, small, zero, **attrs) for op, _, attrs in QUOTIENTS]
    check(target, cases)


@on_targets
def test_comparisons_of_extreme_integers_agree_with_numpy(target):
    cases = []
    for dtype in (np.int32, np.uint32, np.int64):
        for a, b in pairs(dtype):
            for op, function in COMPARED.items():
                cases.append(Case(function(a, b), op, a, b))
            cases.append(Case(np.minimum(a, b), "Min", a, b))
            cases.append(Case(np.maximum(a, b), "Max", a, b))
    check(target, cases)


@on_targets
def test_booleans_agree_with_numpy(target):
    a, b = rng.integers(0, 2, (2, 40)).astype(bool)
    cases = [Case(function(a, b), op, a, b) for op, function in TRUTHS.items()]
    rows = a.reshape(8, 5)
    cases += [Case(f(rows, b[:5]), op, rows, b[:5]) for op, f in TRUTHS.items()]
    check(target, [*cases, Case(~a, "Not", a)])
