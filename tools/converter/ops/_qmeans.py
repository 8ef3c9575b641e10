"""Emission of means of windows of bytes: kernels qaverage_pool, qmeans and wide_means.

Tensors are passed as (values, scale, zero point).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..ir import Tensor
from ..shapes.extent import any_open
from ._dtypes import INT32
from ._levels import levels_of
from ._qblend import SCALES
from ._qweights import scalar, shift_of
from ._requantize import mean_multipliers, range_of
from ._windows import Windows

_MAX_WINDOW = 1 << 22  # elements of a window, the kernel's limit


def params_of(
    x: Sequence[Tensor],
    y: Sequence[Tensor],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
) -> dict[str, Any] | None:
    """Return the parameters of a pool, or None if its sizes or constants are unknown.

    Args:
        x: (values, scale, zero point), with two spatial dimensions.
        y: (values, scale, zero point) of the output.
        kernel: (y, x) sizes of a window.
        strides: (y, x) strides.
        pads: y, x at the beginning, then at the end.
    """
    (values, *of_x), (out, *of_y) = x, y
    known = [scalar(t) for t in (*of_x, *of_y)]
    if any(v is None for v in known) or any_open(kernel) or 0 in out.shape:
        return None
    if math.prod(kernel) > _MAX_WINDOW:
        return None
    _, x_zero, _, y_zero = known
    shift, planes = shift_of(values), math.prod(values.shape[:-2])
    (h, w), (kh, kw), (oh, ow) = values.shape[-2:], kernel, out.shape[-2:]
    params = {"planes": planes, "h": h, "w": w, "kh": kh, "kw": kw, "oh": oh, "ow": ow}
    params |= {"strides": strides, "pads": pads[:2], "zx": x_zero + shift, "zy": y_zero + shift}
    return params


def _words_of(x, y, kernel, pads, counts_padding):
    """Return the multipliers that turn a sum of k elements into their mean in the output's scale.

    If all windows have the same number of elements (no padding, or padding that counts), there is
    one multiplier, else one for each k from 0 to the size of a window.

    Args:
        x: (tensor, scale, zero point) of the input.
        y: (tensor, scale, zero point) of the output.
        kernel: size of a window.
        pads: padding.
        counts_padding: padding counts as elements.

    Returns:
        flat int32 array, two words for each multiplier, as loops/qpool reads them; None if a scale
        is not positive and finite, or a multiplier is too small.
    """
    (x_scale, x_zero), (y_scale, y_zero) = ([scalar(v) for v in t[1:]] for t in (x, y))
    if not all(math.isfinite(v) and v > 0 for v in (x_scale, y_scale)):
        return None
    ratio = Fraction(float(np.float32(x_scale))) / Fraction(float(np.float32(y_scale)))
    whole = math.prod(kernel)
    fixed = counts_padding or not any(pads)
    counts = np.array([whole] if fixed else range(1, whole + 1))
    (least, most), (low, high) = range_of(x[0].dtype), range_of(y[0].dtype)
    # If padding counts, elements that are absent count as well: sums with them are smaller.
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
    """Emit y = means of windows of x; return False if integers cannot.

    Args:
        node: the node to lower.
        x: (tensor, scale, zero point).
        y: (tensor, scale, zero point).
        kernel: size of a window.
        strides: strides of the windows.
        pads: padding.
        counts_padding: padding counts as elements.
    """
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


_MAX_NELEM = 64  # of a window; means of more elements are seldom halfway between integers
_NEAR = 2.0**-14  # steps; the error of float32 is smaller
_MIN_SHARE = 0.01  # of all sums, from which halfway means count as frequent
_LEVELS, _WORDS = 255, 192  # the kernel's tables
_MAX_WIDE, _MAX_APART = 8000, 256  # elements times numerator, times denominator, of 16 bits
_TOLERANCE_WIDE = 2.0**-23
ROWS, COLUMNS, PLANES = 0, 1, 2  # orders of sums, see the device's loops/means
_OPSET_OF_DILATIONS = 19  # of AveragePool
_TOLERANCE = 2.0**-21  # relative difference between a fraction and the ratio of two float32 scales


def are_often_halfway(x_scale: Tensor, y_scale: Tensor, counts: Sequence[int]) -> bool:
    """Return True if many means are so near to halfway that the last bits of float32 decide.

    `counts` are the possible numbers of elements in a window.
    """
    scales = scalar(x_scale), scalar(y_scale)
    if any_open(counts) or None in scales or not all(SCALES[0] <= v <= SCALES[1] for v in scales):
        return False
    ratio = scales[0] / scales[1]
    means = [np.arange(1, 255 * n) / n * ratio for n in counts]
    is_small = max(counts) <= _MAX_NELEM
    return is_small and any((np.abs(m % 1 - 0.5) < _NEAR).mean() > _MIN_SHARE for m in means)


def order_of(node, w: Windows) -> int:
    """Return the order in which onnxruntime's AveragePool adds: PLANES, COLUMNS or ROWS.

    Before opset 19 it adds a whole plane in four sums if strides are 1; otherwise it adds columns
    first if their stride is short.
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
    """Emit y = means of windows of x as float32 rounds them; return False if integers cannot.

    Args:
        node: the node to lower.
        x: see params_of.
        y: see params_of.
        windows: (kernel, strides, pads, counts_padding) of emit_means.
        order: ROWS, COLUMNS or PLANES, the order of the sums.
        level: maps float32 to integers, if it is not QuantizeLinear.
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
    """Emit y = means of 16-bit integers, of which many lie halfway; return False if it cannot.

    Args:
        node: the node to lower.
        x: (tensor, scale, zero point).
        y: (tensor, scale, zero point).
        windows: (kernel, strides, pads); padding counts as elements.
        order: order of the sums, as order_of returns it.
    """
    kernel, strides, pads = windows
    pool, count = params_of(x, y, kernel, strides, pads), math.prod(kernel)
    if pool is None or count > _MAX_NELEM:
        return False
    scales = [scalar(t) for t in (x[1], y[1])]
    up, down = _fraction(scales[0] / scales[1], count, _TOLERANCE_WIDE)
    if not up or count * up > _MAX_WIDE or count * down > _MAX_APART:
        return False
    if not all(SCALES[0] <= v <= SCALES[1] for v in scales):
        return False
    inputs = [x[0], *(node.constant(np.float32([v])) for v in scales)]
    scratch = [node.temp(INT32, (_WORDS,))]
    params = {"pool": pool, "count": count, "order": order, "ratio": [up, down]}
    node.emit("wide_means", inputs, [y[0]], scratch=scratch, **params)
    return True


def _fraction(ratio: float, count: int, tolerance: float = _TOLERANCE) -> list[int]:
    """Return [numerator, denominator] near a ratio, or [0, 1] if no small ones are near.

    A mean of `count` elements is halfway with the fraction exactly if it is with the ratio.
    """
    fraction = Fraction(ratio).limit_denominator(_MAX_NELEM)
    apart = abs(float(fraction) / ratio - 1)
    is_close = apart < min(tolerance, 1 / (1024 * count * fraction.denominator))
    is_small = fraction.numerator <= _MAX_NELEM
    return [fraction.numerator, fraction.denominator] if is_close and is_small else [0, 1]
