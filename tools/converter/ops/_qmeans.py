"""Emission of the device kernel `qmeans`: means of windows of bytes, as float32 has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from ..ir import Tensor
from ._integer import INT32
from ._levels import levels_of
from ._qblend import SCALES
from ._qpool import means_of
from ._qweights import scalar

_MOST_ITEMS = 64  # of a window; of more the mean is seldom in the middle
_NEAR = 2.0**-14  # steps; float32 is less than that from the exact mean
_MANY = 0.01  # of all sums
_LEVELS, _WORDS = 255, 639  # of the device
_SAME = 2.0**-21  # two scales of float32 are that near to their ratio


def often_in_the_middle(x_scale: Tensor, y_scale: Tensor, counts: Sequence[int]) -> bool:
    """True if many means of so many bytes are so near to the middle between two integers that the
    last bits of float32 decide."""
    scales = scalar(x_scale), scalar(y_scale)
    if None in scales or not all(SCALES[0] <= v <= SCALES[1] for v in scales):
        return False
    ratio = scales[0] / scales[1]
    means = [np.arange(1, 255 * n) / n * ratio for n in counts]
    is_small = max(counts) <= _MOST_ITEMS
    return is_small and any((np.abs(m % 1 - 0.5) < _NEAR).mean() > _MANY for m in means)


def emit_float_means(
    node,
    x: Sequence[Tensor],
    y: Sequence[Tensor],
    windows: Sequence,
    by_columns: bool,
    level: Callable[[np.ndarray], np.ndarray] | None,
) -> bool:
    """y = means of windows of x, as means_of has them.

    by_columns: the sums of columns are added up, not items row after row; level: the integer of a
    float32, where it is not QuantizeLinear's. False if it can't be by integers.
    """
    found, (values, x_scale, _), (out, y_scale, _) = means_of(node, x, y, *windows), x, y
    if found is None or 0 in out.shape:
        return False
    constant, params = found
    levels, below = node.constant(np.float32([scalar(y_scale)])), params[-1]
    if level is not None:
        words, below = levels_of(level, np.iinfo(out.np_dtype))
        levels = node.constant(words)
        if len(words) < _LEVELS:
            return False
    kernel, _, _, counts_padding = windows
    params += [math.prod(kernel) if counts_padding else 0, int(by_columns), below]
    params += _fraction(scalar(x_scale) / scalar(y_scale))
    inputs = [values, constant, node.constant(np.float32([scalar(x_scale)])), levels]
    node.emit("qmeans", inputs, [out], params, [node.temp(INT32, (_WORDS,))])
    return True


def _fraction(ratio: float) -> list[int]:
    """Numerator and denominator; 0, 1 if it is not one of small numbers."""
    found = Fraction(ratio).limit_denominator(_MOST_ITEMS)
    is_close = abs(float(found) / ratio - 1) < _SAME and found.numerator <= _MOST_ITEMS
    return [found.numerator, found.denominator] if is_close else [0, 1]
