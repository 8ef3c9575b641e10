"""Emission of means of windows of bytes -> kernels qaverage_pool, qmeans and wide_means."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from ..ir import Tensor
from ..shapes.extent import any_open
from ._dtypes import INT32
from ._levels import levels_of
from ._qblend import SCALES
from ._qweights import scalar, shift_of
from ._requantize import mean_multipliers, range_of
from ._windows import Windows

_LARGEST = 1 << 22  # the device's


def params_of(
    x: Sequence[Tensor],
    y: Sequence[Tensor],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
) -> list[int] | None:
    """The kernel's parameters; None if it can't be by integers.

    x, y: values, scale, zero point, two spatial dims; pads: y, x at the begin, then at the end.
    """
    (values, *of_x), (out, *of_y) = x, y
    known = [scalar(t) for t in (*of_x, *of_y)]
    if any(v is None for v in known) or any_open(kernel) or 0 in out.shape:
        return None
    if math.prod(kernel) > _LARGEST:
        return None
    _, x_zero, _, y_zero = known
    shift, planes = shift_of(values), math.prod(values.shape[:-2])
    (h, w), (kh, kw), (oh, ow) = values.shape[-2:], kernel, out.shape[-2:]
    params = {"planes": planes, "h": h, "w": w, "kh": kh, "kw": kw, "oh": oh, "ow": ow}
    params |= {"strides": strides, "pads": pads[:2], "zx": x_zero + shift, "zy": y_zero + shift}
    return params


def _words_of(x, y, kernel, pads, counts_padding):
    """The multipliers by number of items, or one; None where there are none."""
    (x_scale, x_zero), (y_scale, y_zero) = ([scalar(v) for v in t[1:]] for t in (x, y))
    if not all(math.isfinite(v) and v > 0 for v in (x_scale, y_scale)):
        return None
    ratio = Fraction(float(np.float32(x_scale))) / Fraction(float(np.float32(y_scale)))
    whole = math.prod(kernel)
    fixed = counts_padding or not any(pads)
    counts = np.array([whole] if fixed else range(1, whole + 1))
    (least, most), (low, high) = range_of(x[0].dtype), range_of(y[0].dtype)
    # Where padding counts, so do items that are not there: their sums are less.
    least, most = min(least - x_zero, 0) * counts, max(most - x_zero, 0) * counts
    scales = [ratio / n for n in counts.tolist()]
    words = mean_multipliers(scales, least, most, low - y_zero, high - y_zero)
    if words is None:
        return None
    words = words if fixed else np.concatenate([[[0, 1 << 30]], words])
    return words.astype(np.int32).reshape(-1)


def emit_means(
    node,
    x: Sequence[Tensor],
    y: Sequence[Tensor],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    counts_padding: bool = False,
) -> bool:
    """y = means of windows of x, see params_of. False if it can't be by integers."""
    if 0 in y[0].shape:
        return None not in [scalar(t) for t in (*x[1:], *y[1:])]
    params = params_of(x, y, kernel, strides, pads)
    if params is None:
        return False
    words = _words_of(x, y, kernel, pads, counts_padding)
    if words is None:
        return False
    node.emit("qaverage_pool", [x[0], node.constant(words)], [y[0]], **params)
    return True


_MOST_ITEMS = 64  # of a window; of more the mean is seldom in the middle
_NEAR = 2.0**-14  # steps; float32 is less than that from the exact mean
_MANY = 0.01  # of all sums
_LEVELS, _WORDS = 255, 192  # of the device
_MOST_WIDE, _MOST_APART = 8000, 256  # of 16 bits: of items times numerator, times denominator
_SAME_WIDE = 2.0**-23
ROWS, COLUMNS, PLANES = 0, 1, 2  # orders of sums, see the device's loops/means
_OPSET_OF_DILATIONS = 19  # of AveragePool
_SAME = 2.0**-21  # two scales of float32 are that near to their ratio


def often_in_the_middle(x_scale: Tensor, y_scale: Tensor, counts: Sequence[int]) -> bool:
    """True if many means of so many bytes are so near to the middle between two integers that the
    last bits of float32 decide.
    """
    scales = scalar(x_scale), scalar(y_scale)
    if any_open(counts) or None in scales or not all(SCALES[0] <= v <= SCALES[1] for v in scales):
        return False
    ratio = scales[0] / scales[1]
    means = [np.arange(1, 255 * n) / n * ratio for n in counts]
    is_small = max(counts) <= _MOST_ITEMS
    return is_small and any((np.abs(m % 1 - 0.5) < _NEAR).mean() > _MANY for m in means)


def order_of(node, w: Windows) -> int:
    """That of onnxruntime's AveragePool: before opset 19 it adds up a plane in four sums where
    strides are 1, else columns first where they are short.
    """
    if node.onnx_opset >= _OPSET_OF_DILATIONS:
        return ROWS
    if w.kernel == w.in_dims and not any(w.pads) and max(w.strides) == 1:
        return PLANES
    return COLUMNS if w.strides[2] <= 2 else ROWS


def emit_float_means(
    node,
    x: Sequence[Tensor],
    y: Sequence[Tensor],
    windows: Sequence,
    order: int,
    level: Callable[[np.ndarray], np.ndarray] | None = None,
) -> bool:
    """y = means of windows of x, as emit_means has them.

    order: ROWS, COLUMNS or PLANES, of the sums; level: the integer of a float32, where it is not
    QuantizeLinear's. False if it can't be by integers.
    """
    kernel, strides, pads, counts_padding = windows
    pool = params_of(x, y, kernel, strides, pads)
    if pool is None:
        return False
    (x_scale, y_scale), count = (scalar(t) for t in (x[1], y[1])), math.prod(kernel)
    levels, below = node.constant(np.float32([y_scale])), 0
    if level is not None:
        words, below = levels_of(level, np.iinfo(y[0].np_dtype))
        levels = node.constant(words)
        if len(words) < _LEVELS:
            return False
    params = {"count": count if counts_padding else 0, "order": order, "below": below}
    params["ratio"] = _fraction(x_scale / y_scale, count)
    inputs = [x[0], node.constant(np.float32([x_scale])), levels]
    node.emit("qmeans", inputs, [y[0]], scratch=[node.temp(INT32, (_WORDS,))], pool=pool, **params)
    return True


def emit_wide_means(
    node, x: Sequence[Tensor], y: Sequence[Tensor], windows: Sequence, order: int
) -> bool:
    """The same of 16 bits, where many means lie in the middle; padding counts."""
    kernel, strides, pads = windows
    pool, count = params_of(x, y, kernel, strides, pads), math.prod(kernel)
    if pool is None or count > _MOST_ITEMS:
        return False
    scales = [scalar(t) for t in (x[1], y[1])]
    up, down = _fraction(scales[0] / scales[1], count, _SAME_WIDE)
    if not up or count * up > _MOST_WIDE or count * down > _MOST_APART:
        return False
    if not all(SCALES[0] <= v <= SCALES[1] for v in scales):
        return False
    inputs = [x[0], *(node.constant(np.float32([v])) for v in scales)]
    scratch = [node.temp(INT32, (_WORDS,))]
    params = {"pool": pool, "count": count, "order": order, "ratio": [up, down]}
    node.emit("wide_means", inputs, [y[0]], scratch=scratch, **params)
    return True


def _fraction(ratio: float, count: int, same: float = _SAME) -> list[int]:
    """Numerator and denominator; 0, 1 if it is not one of small numbers.

    It is so close that no mean of so many items which it puts beside the middle lies there.
    """
    found = Fraction(ratio).limit_denominator(_MOST_ITEMS)
    apart = abs(float(found) / ratio - 1)
    is_close = apart < min(same, 1 / (1024 * count * found.denominator))
    is_small = found.numerator <= _MOST_ITEMS
    return [found.numerator, found.denominator] if is_close and is_small else [0, 1]
