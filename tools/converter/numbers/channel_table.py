"""The table of a quantized product's channels in few bits: mpconnxr/ops/_qtable.py, the other way.

Of the 8 bytes a channel about 5 are left: as many bits as the largest difference from the least
number takes. A *short* one leaves out what a zero point adds to a sum, which follows from the
weights, where a step has the time to add them up again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ir import Step
from ..ops._qweights import row_sums
from ..ops._requantize import LOW_BITS, MOST_LEFT

_MOST_BITS = 24
_MOST_FIELD_BITS = 29
_LEAST_POSITIONS = 32  # for which a step adds up its weights once


class Fields(NamedTuple):
    """values plus the least one are the numbers; of multipliers `least` is in 2**16, with bits."""

    values: np.ndarray
    bits: int
    least: int


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
            self.x_zero = step["zx"]

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
    word = multiplier_fields(rows.shifts, rows.mantissas)
    lowest = rows.mantissas & (1 << LOW_BITS) - 1
    low = _low_bits(lowest)
    of_all = int(lowest[0]) & (1 << LOW_BITS - low) - 1
    if c.bits > _MOST_BITS or c.bits + low > _MOST_FIELD_BITS or abs(c.least) >> 26:
        return None
    named = {"table.bits": c.bits + low, "table.word_bits": word.bits, "table.word": word.least}
    named |= {"table.low": low << 7 | of_all, "table.least": c.least}
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


def multiplier_fields(shifts: np.ndarray, mantissas: np.ndarray) -> Fields:
    """Shift and 24 bits of mantissa in one number, which rises with the scale."""
    numbers = shifts << 23 | mantissas >> LOW_BITS & 0x7FFFFF
    if (numbers == numbers[0]).all():
        return Fields(numbers * 0, 0, int(numbers[0]))
    numbers -= (least := int(numbers.min()) >> 16) << 16
    return Fields(numbers, _bits(numbers), least)


def _bits(values: np.ndarray) -> int:
    return int(values.max()).bit_length()
