"""Compute the table of sigmoid for kernel gated, which holds polynomials of degree 3.

In an interval of u, with t from 0 to 1, sigmoid(u) is c0 + t * (c1 - t * (c2 - t * c3)). Intervals
are 1/16 wide up to u = 4, 1/8 up to 8, and 1/2 up to 18; beyond, sigmoid is 1.
"""

from __future__ import annotations

from functools import cache

import numpy as np

_ONE = 1 << 29
_FRACTION = 23  # bits of t
_BITS_OF_C2 = 26  # c0, c1 and c3 have 29 fraction bits
_LAST = 116
_STEP = 2039  # distance of the t at which the error is measured


@cache
def gate_table() -> np.ndarray:
    """Return the table, int32 (117, 3): c0, c1, c2 << 16 | c3 + 2**15."""
    rows = [_entry(i) for i in range(_LAST)] + [[_ONE - 1, 0, 0, 0]]
    return np.array([[c0, c1, c2 << 16 | c3 + (1 << 15)] for c0, c1, c2, c3 in rows], np.int32)


def sigmoid_of(entry: np.ndarray | list[int], t: np.ndarray) -> np.ndarray:
    """Compute the sigmoid from one entry of the table, bit by bit as loops/gated does.

    Args:
        entry: c0 to c3.
        t: place within the entry's interval, 23 bits.
    """
    c0, c1, c2, c3 = entry
    high, low = t >> 11, t & 2047
    b = (c2 << 3) - ((c3 * (t >> 8)) >> 15)
    b = c1 - ((b * high + ((b * low) >> 11)) >> 12)
    a, b = b >> 12, b & 4095
    return c0 + a * high + ((a * low) >> 11) + ((b * high) >> 12)


def interval(i: int) -> tuple[float, float]:
    """Return where interval i begins and how wide it is."""
    if i < 64:
        return i / 16, 1 / 16
    if i < 96:
        return i / 8 - 4, 1 / 8
    return i / 2 - 40, 1 / 2


def _entry(i: int) -> list[int]:
    first, width = interval(i)
    nodes = (np.cos((np.arange(4) + 0.5) * np.pi / 4) + 1) / 2
    c3, c2, *_ = np.polyfit(nodes, _sigmoid(first + width * nodes), 3)
    entry = [0, 0, max(round(-c2 * (1 << _BITS_OF_C2)), 0), round(c3 * _ONE)]
    t = np.arange(0, 1 << _FRACTION, _STEP)
    fraction = t / (1 << _FRACTION)
    expected = _ONE * _sigmoid(first + width * fraction)
    # each coefficient makes up for the rounding of those before it
    entry[1] = round(np.polyfit(fraction, expected - sigmoid_of(entry, t), 1)[0])
    rest = expected - sigmoid_of(entry, t)
    entry[0] = _ONE // 2 if i == 0 else round((rest.max() + rest.min()) / 2)
    return entry


def _sigmoid(u):
    return 1 / (1 + np.exp(-u))
