"""The table of a quantized product's channels in few bits: mpconnxr/ops/_qtable.py, the other way.

Of the 8 bytes a channel about 5 are left: as many bits as the largest difference from the least
number takes. In a *short* one about 4: what a zero point adds to a sum follows from the weights,
and is left out where a step has the time to add them up again; and multipliers get fewer bits than
a float32 has (docs/quantization.md says what that changes).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..ir import Step
from ..ops._qweights import row_sums
from ..ops._requantize import LOW_BITS, MOST_LEFT, requantized

_MOST_BITS = 24
_MOST_FIELD_BITS = 29
_UNITS = 16  # see mpconnxr/ops/_qtable.py
_LARGEST_UNIT = 768  # that multipliers are rounded to: in the last place of a float32
_LEAST_POSITIONS = 32  # for which a step adds up its weights once


class Fields(NamedTuple):
    """values * unit and the least one are the numbers; of multipliers `least` may be in 2**16."""

    values: np.ndarray
    bits: int
    least: int
    unit: int = 1


class _Rows:
    """A step's channels: their numbers, and the weights of each as the kernel knows them."""

    def __init__(self, step: Step, channels: int):
        flat = step.inputs[1].data.reshape(-1)
        table = flat[: 8 * channels].view("<u4").reshape(channels, 2)
        first = table[:, 0].view("<i4").astype(np.int64)
        self.constants, self.shifts = first >> 5, first & 31
        self.mantissas = table[:, 1].astype(np.int64)
        self.is_qconv = step.kernel == "qconv"
        weights = flat[8 * channels :]
        self.padded = len(weights) // channels
        if self.is_qconv:
            self.sums = row_sums(weights, step["g"], step["m"])
            self.positions = step["n"] * step["oh"] * step["ow"]
        else:
            self.sums = weights.reshape(channels, -1).sum(1, dtype=np.int64)
        k = step["kh"] * step["kw"] * (step["c"] if self.is_qconv else 1)
        self.x_zero, zero = step["zx"], step["zw"]
        self.at_rest = self.constants - self.x_zero * (k * zero - self.sums)  # all x are zx

    def without_sums(self) -> np.ndarray | None:
        """constants without -zx * (sum of their row); None where that is not to be."""
        if not self.is_qconv or self.positions < _LEAST_POSITIONS:
            return None
        if 255 * self.padded * self.x_zero >> 26 or (self.shifts > MOST_LEFT).any():
            return None
        found = self.constants + self.x_zero * self.sums
        return found if fields(found).bits < fields(self.constants).bits else None


def channel_table(
    step: Step, channels: int, is_short: bool
) -> tuple[list[tuple[np.ndarray, int]], dict[str, int]] | None:
    """The fields (values, bits) of each channel, and the step's parameters for them by name.

    None where the kernel cannot take it.
    """
    rows = _Rows(step, channels)
    if (rows.mantissas >> 30 == 0).any():
        return None
    lacking = rows.without_sums() if is_short else None
    c = fields(rows.constants if lacking is None else lacking)
    word = multiplier_fields(rows.shifts, rows.mantissas, is_short, rows.at_rest)
    lowest = rows.mantissas & (1 << LOW_BITS) - 1 if word.unit == 1 else rows.mantissas * 0
    low = _low_bits(lowest)
    of_all = int(lowest[0]) & (1 << LOW_BITS - low) - 1
    if c.bits > _MOST_BITS or c.bits + low > _MOST_FIELD_BITS or abs(c.least) >> 26:
        return None
    named = {"table.bits": c.bits + low, "table.word_bits": word.bits, "table.word": word.least}
    code = low << 7 | of_all
    code = code + _UNITS if code else word.unit >> 6
    named |= {"table.low": code, "table.least": c.least}
    if rows.is_qconv:
        named["lacks_sums"] = int(lacking is not None)
    lowest >>= LOW_BITS - low
    return [(c.values << low | lowest, c.bits + low), (word.values, word.bits)], named


def _low_bits(lowest: np.ndarray) -> int:
    """How many of the lowest bits of mantissas, but for the last ones, are not those of all."""
    differ = int(np.bitwise_or.reduce(lowest ^ lowest[0])) | 1 << LOW_BITS
    return LOW_BITS - ((differ & -differ).bit_length() - 1)


def fields(numbers: np.ndarray) -> Fields:
    """Return the table of these numbers."""
    least = int(numbers.min())
    return Fields(numbers - least, _bits(numbers - least), least)


def multiplier_fields(
    shifts: np.ndarray, mantissas: np.ndarray, are_rounded: bool, at_rest: np.ndarray
) -> Fields:
    """Shift and 24 bits of mantissa in one number, which rises with the scale.

    With one they are never rounded. at_rest: a sum of each channel that is to give the same in
    any case: a channel whose inputs are zero has it at many positions.
    """
    numbers = shifts << 23 | mantissas >> LOW_BITS & 0x7FFFFF
    if (numbers == numbers[0]).all():
        return Fields(numbers * 0, 0, int(numbers[0]))
    numbers -= (least := int(numbers.min()) >> 16) << 16
    most, bits, unit = int(numbers.max()), _bits(numbers), 1
    if not are_rounded or shifts.max() > MOST_LEFT:
        return Fields(numbers, bits, least)
    while bits > 1 and (next_unit := _unit(most, bits - 1)) <= _LARGEST_UNIT:
        bits, unit = bits - 1, next_unit
    nearest = (numbers + unit // 2) // unit
    found = Fields(nearest, bits, least, unit)
    other = nearest + np.where(nearest * unit < numbers, 1, -1)
    right = requantized(at_rest, shifts, mantissas)
    is_off = requantized(at_rest, *numbers_of(found)) != right
    is_off &= requantized(at_rest, *numbers_of(found._replace(values=other))) == right
    is_off &= (other >= 0) & (other < 1 << bits)
    return found._replace(values=np.where(is_off, other, nearest))


def numbers_of(multipliers: Fields) -> tuple[np.ndarray, np.ndarray]:
    """Shifts and mantissas that a step makes of them, without low bits: see loops/channels."""
    by = 16 if multipliers.bits else 0
    numbers = (multipliers.least << by) + multipliers.values * multipliers.unit
    return numbers >> 23, (numbers & 0x7FFFFF | 0x800000) << LOW_BITS


def _unit(most: int, bits: int) -> int:
    """The least 64 n + 1 of which that many bits hold up to `most`."""
    return math.ceil((most / ((1 << bits) - 1) - 1) / 64) * 64 + 1


def _bits(values: np.ndarray) -> int:
    return int(values.max()).bit_length()
