"""Requantization: the multipliers and shifts by which the device applies a scale to integer sums.

docs/quantization.md explains the arithmetic. Products with known weights (mpconnxr/loops/qdot.py),
means, and products of two tensors get multipliers of 31 bits; sums of two tensors get factors as
long. For every possible sum the result is that of the real scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..ir import Tensor

# A sum is shifted so that its multiplier is from 2**-17 to 2**-16: sums of 2**25 then saturate.
_UNIT = -16
MOST_LEFT = 25  # larger codes are shifts to the right, for the channels of products
_MAX_RIGHT = 6
_LIMIT = 1 << 25
NEAR = 32  # flag in a shift of means: values near halfway count as halfway
_MAX_QUICK = 12  # the loops are fast for shifts up to this
LOW_BITS = 7  # of a mantissa's 31 bits: those below the upper 24
_ODD_BITS = 3  # shared bits to give up for odd mantissas
_TOLERANCE = 2.0**-40  # of a float comparison
_SATURATING = Fraction((1 << 31) - 1, 1 << 23)


class Sums(NamedTuple):
    """Limits of the integer sums of each channel.

    Attributes:
        constants: number with which each sum starts.
        least: the smallest possible sum.
        most: the largest possible sum.
    """

    constants: np.ndarray
    least: np.ndarray
    most: np.ndarray


class Channels(NamedTuple):
    """Constants of each channel, as loops/qdot reads them.

    Attributes:
        constants: c, added to the sum.
        shifts: f.
        mantissas: M.
        are_exact: all sums are rounded as with the real scale.
    """

    constants: np.ndarray
    shifts: np.ndarray
    mantissas: np.ndarray
    are_exact: np.ndarray

    @property
    def first_words(self) -> np.ndarray:
        return self.constants << 5 | self.shifts


def channel_multipliers(scales: Sequence[Fraction], sums: Sums, low: int, high: int) -> Channels:
    """Return the constants with which loops/qdot multiplies each channel by its scale.

    Args:
        scales: the scale of each channel.
        sums: their ranges and constants.
        low: the smallest result, before its zero point is added.
        high: the largest result, before its zero point is added.

    Raises:
        ValueError: if a constant is too large.
    """
    scales = [min(scale, _SATURATING) for scale in scales]
    fractions, exponents = np.frexp([float(scale) for scale in scales])
    left = exponents.astype(np.int64) - _UNIT
    # Only sums that could overflow are shifted to the right; others use a shorter mantissa.
    is_whole = np.maximum(np.abs(sums.least), np.abs(sums.most)) <= _LIMIT
    right = np.where(is_whole, 0, np.clip(-left, 0, _MAX_RIGHT))
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
        one = _constant_result(scales[i], *(int(v[i]) for v in sums))
        if one:
            constants[i], shifts[i], is_exact[i] = *one, True
            mantissas[i] = 1 << 30 | lowest
    if (np.abs(constants) >> 26).any():
        raise ValueError("a constant beyond 27 bits")
    return Channels(constants, shifts, mantissas, is_exact)


def mean_multipliers(
    scales: Sequence[Fraction], least: np.ndarray, most: np.ndarray, low: int, high: int
) -> np.ndarray | None:
    """Return the shift and mantissa of each scale, int64 (n, 2), as loops/qpool reads them.

    Args:
        scales: exact scales.
        least: the smallest possible sum for each scale.
        most: the largest possible sum for each scale.
        low: as for channel_multipliers.
        high: as for channel_multipliers.

    Returns:
        The multipliers, or None if a scale is too small.
    """
    channels = channel_multipliers(scales, Sums(least * 0, least, most), low, high)
    if (channels.shifts > MOST_LEFT).any():
        return None
    largest = np.maximum(-least, most).tolist()
    # With a multiplier that is not a power of 2, halfway sums would all go to one side.
    pairs = zip(scales, largest, strict=True)
    has_middles = [s.denominator % 2 == 0 and s.denominator <= 2 * m for s, m in pairs]
    takes_near = ~channels.are_exact & np.array(has_middles)
    return np.stack([channels.shifts | NEAR * takes_near, channels.mantissas], 1)


def _constant_result(scale, constant, least, most):
    """Return constant and shift of a channel whose sums all give one result; None for others.

    Args:
        scale: its exact scale.
        constant: number with which its sum starts.
        least: the smallest possible sum.
        most: the largest possible sum.
    """
    result = round(least * scale)
    largest = max(constant - least, most - constant)
    bits = (4 * largest + 1).bit_length()  # a step of so many bits: no sum reaches half of it
    if result != round(most * scale) or abs(result) >> 9 or bits > 17 + _MAX_RIGHT:
        return None
    if bits > 17:
        return result << 17, MOST_LEFT + bits - 17
    left = min(17 - bits, _MAX_QUICK)
    return result << 17 - left, left


def _bounds(scales, left, limits, low, high):
    """Return the least and the greatest mantissa of each channel that round every sum exactly.

    A mantissa between them gives each possible sum the result of the exact scale. If the least is
    above the greatest, there is none.

    Args:
        scales: the exact scale of each channel.
        left: bits by which each channel's sums are shifted to the left.
        limits: Sums with the least and the greatest possible sum of each channel.
        low: the smallest result, without its zero point.
        high: the largest result, without its zero point.
    """
    real = np.array([float(scale) for scale in scales])[:, None, None]
    middles = np.arange(low, high)[:, None] + 0.5
    sums = np.floor(middles / real) + [0, 1]
    above = sums * real - middles
    twice = np.broadcast_to(2 * np.arange(low, high)[:, None] + 1, sums.shape)
    sums = sums.astype(np.int64)
    sides = np.sign(above)
    for at in np.argwhere(np.abs(above) < _TOLERANCE):  # floats cannot tell
        exact = 2 * int(sums[tuple(at)]) * scales[at[0]] - int(twice[tuple(at)])
        sides[tuple(at)] = (exact > 0) - (exact < 0)
    least, most = limits.least[:, None, None], limits.most[:, None, None]
    counts = (least <= sums) & (sums <= most) & (sums != 0)
    counts &= np.abs(sums) <= _LIMIT >> left[:, None, None]
    a = np.where(counts, sums << left[:, None, None], 1)
    ends = np.where(a < 0, -twice, twice) << 46
    a, sides = np.abs(a), np.where(sums < 0, -sides, sides)
    # Halfway sums go to the even neighbour; twice & 2: it is the one above.
    is_even, to_larger = sides == 0, (twice & 2 > 0) ^ (sums < 0)
    floor = ends // a
    ceiling = floor + (floor * a != ends)  # cheaper than a second division
    lower = np.where(is_even, ceiling, floor + 1)
    upper = np.where(is_even, floor, ceiling - 1)
    is_lower = counts & np.where(is_even, to_larger, sides > 0)
    is_upper = counts & np.where(is_even, ~to_larger, sides < 0)
    lower = np.where(is_lower, lower, 0).max((1, 2), initial=0)
    upper = np.where(is_upper, upper, (1 << 31) - 1).min((1, 2), initial=(1 << 31) - 1)
    return lower, upper


def _alike(lower, upper, nearest, is_exact):
    """Choose mantissas within their bounds so that as many of the 7 lowest bits as possible agree.

    Common bits take no space in a file (see numbers/qtables.py). Odd mantissas are
    preferred, because the loops multiply by them faster: no product lies halfway.

    Args:
        lower: the least mantissa of each channel.
        upper: the greatest mantissa of each channel.
        nearest: the mantissa nearest to each scale, which a channel without exact ones takes.
        is_exact: True for channels that have exact mantissas.

    Returns:
        The mantissas, and the value of their common low bits; 1 if they share none.
    """
    parts = [_shared(lower, upper, is_exact, is_odd) for is_odd in (True, False)]
    (bits, *_), (bits_of_even, *_) = parts
    bits, at, first, last = parts[0] if bits and bits + _ODD_BITS >= bits_of_even else parts[1]
    if bits:
        unit = 1 << bits
        mantissas = nearest + (at - nearest + unit // 2) % unit - unit // 2
        return np.where(is_exact, np.clip(mantissas, first, last), mantissas), at
    mantissas = np.where(is_exact, np.clip(nearest, lower, upper), nearest)
    for step in (1, -1):
        fits = (
            (lower <= mantissas + step)
            & (mantissas + step <= upper)
            & is_exact
            & (mantissas & 1 == 0)
        )
        mantissas = mantissas + step * fits
    return mantissas, 1


def _shared(lower, upper, is_exact, is_odd):
    """Return how many low bits all exact mantissas can share, the bits, and new bounds.

    Args:
        lower: the least mantissa of each channel.
        upper: the greatest mantissa of each channel.
        is_exact: True for channels that have exact mantissas; the others don't count.
        is_odd: the shared bits must end with 1; otherwise with 0.

    Returns:
        (number of bits, their value, least mantissas with these bits, greatest ones).
    """
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
    """Return the smallest and largest value of an integer dtype (an ONNX number)."""
    info = np.iinfo(Tensor("", dtype, ()).np_dtype)
    return int(info.min), int(info.max)
