"""Requantization by integers: what the device multiplies and shifts by for a scale.

docs/quantization.md has the arithmetic. Products with known weights (mpconnxr/loops/qdot.py),
means and products of two tensors get multipliers of 31 bits, sums of two tensors factors as long.
They give, for every sum there can be, what the real scale gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..ir import Tensor

# A sum is shifted so that its multiplier is from 2**-17 to 2**-16: 2**25 of it then saturate.
_UNIT = -16
MOST_LEFT = 25  # codes above are shifts to the right of the channels of products
_MOST_RIGHT_OF_CHANNELS = 6
_LIMIT = 1 << 25
NEAR = 32  # in a shift of means: what is near the middle counts as the middle
_MOST_QUICK = 12  # a shift up to which all loops have a quick way
LOW_BITS = 7  # of a channel's 31, beside 24
_WORTH_ODD = 3  # bits of a channel
_SURE = 2.0**-40
_SATURATING = Fraction((1 << 31) - 1, 1 << 23)


class Sums(NamedTuple):
    """Of each channel: what its sum starts with, and the least and the largest that there is."""

    constants: np.ndarray
    least: np.ndarray
    most: np.ndarray


class Channels(NamedTuple):
    """What loops/qdot takes of each channel; are_exact: all sums come out as the scale says."""

    constants: np.ndarray  # c
    shifts: np.ndarray  # f
    mantissas: np.ndarray  # M
    are_exact: np.ndarray

    @property
    def first_words(self) -> np.ndarray:
        return self.constants << 5 | self.shifts


def channel_multipliers(scales: Sequence[Fraction], sums: Sums, low: int, high: int) -> Channels:
    """low, high: limits of the results before their zero point is added.

    Raises ValueError for a constant that is too large.
    """
    scales = [min(scale, _SATURATING) for scale in scales]
    fractions, exponents = np.frexp([float(scale) for scale in scales])
    left = exponents.astype(np.int64) - _UNIT
    # Only sums that could be cut off are shifted to the right; others take less of a mantissa.
    is_whole = np.maximum(np.abs(sums.least), np.abs(sums.most)) <= _LIMIT
    right = np.where(is_whole, 0, np.clip(-left, 0, _MOST_RIGHT_OF_CHANNELS))
    nearest = np.rint(np.ldexp(fractions, 31 + np.minimum(left + right, 0))).astype(np.int64)
    nearest = np.minimum(nearest, (1 << 31) - 1)
    lower, upper = _bounds(scales, np.maximum(left, 0), sums, low, high)
    lower = np.where(left < 0, lower, np.maximum(lower, 1 << 30))
    if len(set(scales)) == 1 and lower.max() <= upper.min():  # one mantissa for all
        lower, upper = np.full_like(lower, lower.max()), np.full_like(upper, upper.min())
    is_exact = (right == 0) & (lower <= upper)
    mantissas, lowest = _alike(lower, upper, nearest, is_exact)
    is_long = (left >= 0) & (nearest >> 30 > 0)
    mantissas = np.where(is_long, np.clip(mantissas, 1 << 30, (1 << 31) - 1), mantissas)
    shifts = np.where(right > 0, MOST_LEFT + right, np.maximum(left, 0))
    constants = sums.constants + (1 << right >> 1) >> right
    for i in np.flatnonzero(left < 0):
        one = _of_one_result(scales[i], *(int(v[i]) for v in sums))
        if one:
            constants[i], shifts[i], is_exact[i] = *one, True
            mantissas[i] = 1 << 30 | lowest
    if (np.abs(constants) >> 26).any():
        raise ValueError("a constant beyond 27 bits")
    return Channels(constants, shifts, mantissas, is_exact)


def mean_multipliers(
    scales: Sequence[Fraction], least: np.ndarray, most: np.ndarray, low: int, high: int
) -> np.ndarray | None:
    """What loops/qpool takes for each scale, int64 (n, 2); None for a scale that is too small.

    least, most: of the sums of each; low, high: of the results before their zero point is added.
    """
    found = channel_multipliers(scales, Sums(least * 0, least, most), low, high)
    if (found.shifts > MOST_LEFT).any():
        return None
    largest = np.maximum(-least, most).tolist()
    # With a multiplier that is none of 2**n, sums in the middle would all go to one side.
    pairs = zip(scales, largest, strict=True)
    has_middles = [s.denominator % 2 == 0 and s.denominator <= 2 * m for s, m in pairs]
    takes_near = ~found.are_exact & np.array(has_middles)
    return np.stack([found.shifts | NEAR * takes_near, found.mantissas], 1)


def _of_one_result(scale, constant, least, most):
    """Constant and shift of a channel whose weights hardly count; None for others."""
    result = round(least * scale)
    largest = max(constant - least, most - constant)
    bits = (4 * largest + 1).bit_length()  # of a step, so large that none reaches a half
    if result != round(most * scale) or abs(result) >> 9 or bits > 17 + _MOST_RIGHT_OF_CHANNELS:
        return None
    if bits > 17:
        return result << 17, MOST_LEFT + bits - 17
    left = min(17 - bits, _MOST_QUICK)
    return result << 17 - left, left


def _bounds(scales, left, limits, low, high):
    """Least and largest mantissa with which all sums come out right. low .. high: of results."""
    real = np.array([float(scale) for scale in scales])[:, None, None]
    middles = np.arange(low, high)[:, None] + 0.5
    sums = np.floor(middles / real) + [0, 1]
    above = sums * real - middles
    twice = np.broadcast_to(2 * np.arange(low, high)[:, None] + 1, sums.shape)
    sums = sums.astype(np.int64)
    sides = np.sign(above)
    for at in np.argwhere(np.abs(above) < _SURE):  # floats do not tell
        exact = 2 * int(sums[tuple(at)]) * scales[at[0]] - int(twice[tuple(at)])
        sides[tuple(at)] = (exact > 0) - (exact < 0)
    least, most = limits.least[:, None, None], limits.most[:, None, None]
    counts = (least <= sums) & (sums <= most) & (sums != 0)
    counts &= np.abs(sums) <= _LIMIT >> left[:, None, None]
    a = np.where(counts, sums << left[:, None, None], 1)
    ends = np.where(a < 0, -twice, twice) << 46
    a, sides = np.abs(a), np.where(sums < 0, -sides, sides)
    # In the middle: to the even one; twice & 2: that is the one above.
    is_even, to_larger = sides == 0, (twice & 2 > 0) ^ (sums < 0)
    floor = ends // a
    ceiling = floor + (floor * a != ends)  # divisions take longest here
    lower = np.where(is_even, ceiling, floor + 1)
    upper = np.where(is_even, floor, ceiling - 1)
    is_lower = counts & np.where(is_even, to_larger, sides > 0)
    is_upper = counts & np.where(is_even, ~to_larger, sides < 0)
    lower = np.where(is_lower, lower, 0).max((1, 2), initial=0)
    upper = np.where(is_upper, upper, (1 << 31) - 1).min((1, 2), initial=(1 << 31) - 1)
    return lower, upper


def _alike(lower, upper, nearest, is_exact):
    """Mantissas between the bounds; as many of their 7 lowest bits as can be are those of all.

    Such bits take no room in a file (see numbers/channel_table.py). Odd ones come first, which
    loops multiply by more quickly: no product lies in the middle.
    """
    parts = [_shared(lower, upper, is_exact, is_odd) for is_odd in (True, False)]
    (bits, *_), (bits_of_even, *_) = parts
    bits, at, first, last = parts[0] if bits and bits + _WORTH_ODD >= bits_of_even else parts[1]
    if bits:
        unit = 1 << bits
        found = nearest + (at - nearest + unit // 2) % unit - unit // 2
        return np.where(is_exact, np.clip(found, first, last), found), at
    found = np.where(is_exact, np.clip(nearest, lower, upper), nearest)
    for step in (1, -1):
        fits = (lower <= found + step) & (found + step <= upper) & is_exact & (found & 1 == 0)
        found = found + step * fits
    return found, 1


def _shared(lower, upper, is_exact, is_odd):
    """(bits, what they are, least and largest mantissa with them) of those that all can share."""
    for bits in range(LOW_BITS, 0, -1):
        unit = 1 << bits
        lowest = np.arange(is_odd, unit, 2)[:, None]
        first, last = lower + (lowest - lower) % unit, upper - (upper - lowest) % unit
        fits = ((first <= last) | ~is_exact).all(1)
        if fits.any():
            i = int(fits.argmax())
            return bits, int(lowest[i, 0]), first[i], last[i]
    return 0, 0, lower, upper


def range_of(dtype: int) -> tuple[int, int]:
    """Least and greatest value of an integer dtype (an ONNX number)."""
    info = np.iinfo(Tensor("", dtype, ()).np_dtype)
    return int(info.min), int(info.max)
