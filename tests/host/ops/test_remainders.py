"""Mod of float32 on MicroPython against numpy, to the last bit."""

import numpy as np

from tests.host.ops.against_ort import Node, run
from tests.host.ops.single_node import INF, NAN, Case, check, on_targets

rng = np.random.default_rng(6)
ENDS = [0.0, -0.0, 1, -1, 3, -2.5, 1e-45, -3e-45, 1.2e-38, -1e-39, 3.4e38, -1e30, INF, -INF, NAN]


def pairs():
    a, b = [v.ravel() for v in np.meshgrid(ENDS, ENDS)]
    near = rng.standard_normal((2, 300)) * 2.0 ** rng.integers(-6, 7, (2, 300))
    words = rng.integers(0, 1 << 32, (2, 300), np.uint32).view(np.float32)
    small = rng.integers(-60, 60, (2, 200))
    with np.errstate(all="ignore"):
        result = np.concatenate([np.stack([a, b]), near, words, small], axis=1)
        return result.astype(np.float32)


@on_targets
def test_remainders_agree_with_numpy(target):
    a, b = pairs()
    rows = a[:120].reshape(8, 15), b[30:45]
    with np.errstate(all="ignore"):
        cases = [Case(np.fmod(a, b), "Mod", a, b, fmod=1), Case(np.mod(a, b), "Mod", a, b)]
        cases.append(Case(np.fmod(*rows), "Mod", *rows, fmod=1))
    check(target, cases)


@on_targets
def test_zero_remainders_have_the_right_sign(target):
    x, y = np.float32([[4, -4, 0, -0.0], [2, 2, -3, 5]])
    over = np.float32([1, 1, -1, -1]), np.float32([1, -1, 1, -1])
    for flag, sign in ((1, [1, -1, 1, -1]), (0, [1, 1, -1, 1])):
        node = Node("Mod", [x, y], {"fmod": flag}, 13)
        [[got]] = run(target, [node], [[np.zeros(4, np.float32)]])
        assert not got.any() and np.sign(np.copysign(1, got)).tolist() == sign
        node = Node("Mod", [over[0] * 0.5, over[1] * np.float32(INF)], {"fmod": flag}, 13)
        [[got]] = run(target, [node], [[np.zeros(4, np.float32)]])
        expected = [0.5, 0.5, -0.5, -0.5] if flag else [0.5, -INF, INF, -0.5]
        assert got.tolist() == expected
