"""Emission of the device kernel `qmeans`: means of windows of bytes, as float32 has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..ir import Tensor
from ._integer import INT32
from ._levels import levels_of
from ._qblend import SCALES
from ._qweights import scalar, shift_of

_MOST_ITEMS = 64  # of a window; of more the mean is seldom in the middle
_NEAR = 2.0**-14  # steps; float32 is less than that from the exact mean
_MANY = 0.01  # of all sums
_LEVELS, _WORDS = 255, 511  # of the device


def often_in_the_middle(x_scale: Tensor, y_scale: Tensor, counts: Sequence[int]) -> bool:
    """True if many means of so many bytes are so near to the middle between two integers that the
    last bits of float32 decide."""
    scales = scalar(x_scale), scalar(y_scale)
    if None in scales or not all(SCALES[0] <= v <= SCALES[1] for v in scales):
        return False
    ratio = scales[0] / scales[1]
    means = [np.arange(1, 255 * n) / n * ratio for n in counts if n <= _MOST_ITEMS]
    return any((np.abs(m % 1 - 0.5) < _NEAR).mean() > _MANY for m in means)


def emit_float_means(
    node,
    x: Sequence[Tensor],
    y: Sequence[Tensor],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    counts_padding: bool,
    by_columns: bool,
    level: Callable[[np.ndarray], np.ndarray] | None,
) -> bool:
    """y = means of windows of x (two spatial dims), both as (values, scale, zero point).

    by_columns: the sums of columns are added up, not items row after row; level: the integer of a
    float32, where it is not QuantizeLinear's. False if zero points are not known.
    """
    (values, x_scale, x_zero), (out, y_scale, y_zero) = x, y
    zeros = scalar(x_zero), scalar(y_zero)
    if None in zeros or 0 in out.shape:
        return False
    shift = shift_of(values)
    levels, below = node.constant(np.float32([scalar(y_scale)])), zeros[1] + shift
    if level is not None:
        words, below = levels_of(level, np.iinfo(out.np_dtype))
        levels = node.constant(words)
        if len(words) < _LEVELS:
            return False
    planes = math.prod(values.shape[:-2])
    params = [planes, *values.shape[-2:], *kernel, *out.shape[-2:], *strides, *pads[:2]]
    params += [zeros[0] + shift, below]
    params += [math.prod(kernel) if counts_padding else 0, int(by_columns)]
    inputs = [values, node.constant(np.float32([scalar(x_scale)])), levels]
    scratch = node.temp(INT32, (_WORDS,))
    node.emit("qmeans", inputs, [out], params, [scratch])
    return True
