"""Numbers near the limits of their range."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

INT32 = (-(1 << 31), (1 << 31) - 1)
FLOATS = ("nan", "inf", "-inf", "0", "-0", "1e-45", "3.4e38", "-3.4e38", "1e30", "-1", "1e-30")
MANY = 3  # items of a list that one change touches at most


def near_limit(value: int, rng: Random, others: Sequence[int] = ()) -> int:
    """Return a number near a value, near a limit of its range, or near another number.

    Args:
        value: the value.
        rng: random numbers.
        others: further numbers to be near to.
    """
    kind = rng.randrange(10)
    if kind < 3:
        return value + rng.choice((1, -1, 2, -2, 4, -4, 8))
    if kind == 3:
        return rng.choice((0, 1, -1, 2, 3))
    if kind == 4:
        power = 1 << rng.randrange(31)
        return rng.choice((power, -power, power - 1, power + 1, INT32[0], INT32[1]))
    if kind in (5, 6) and others:
        return rng.choice(others) + rng.choice((0, 0, 0, 1, -1))
    if kind == 7:
        return rng.choice((value * 2, value // 2, -value, -1 - value, value ^ 1, value * 3))
    if kind == 8:
        return value ^ 1 << rng.randrange(16)
    return rng.choice((rng.randint(*INT32), rng.randint(-100, 300), rng.randint(0, 16)))


def fitting(value: int) -> int:
    """Return the nearest number that the format can store."""
    return min(max(value, INT32[0]), INT32[1])
