"""Emission of the device kernel `qaverage_pool`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..ir import Tensor
from ._qweights import scalar, shift_of
from ._requantize import multipliers

_MOST_ITEMS = 1 << 22  # the device's


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
    if any(v is None for v in known) or math.prod(kernel) > _MOST_ITEMS or 0 in out.shape:
        return None
    _, x_zero, _, y_zero = known
    shift, planes = shift_of(values), math.prod(values.shape[:-2])
    (h, w), (kh, kw), (oh, ow) = values.shape[-2:], kernel, out.shape[-2:]
    params = {"planes": planes, "h": h, "w": w, "kh": kh, "kw": kw, "oh": oh, "ow": ow}
    params |= {"strides": strides, "pads": pads[:2], "zx": x_zero + shift, "zy": y_zero + shift}
    return params


def _words_of(x_scale, y_scale, kernel, pads, counts_padding):
    """The multipliers by number of items, or one. Raises ValueError."""
    whole = math.prod(kernel)
    fixed = counts_padding or not any(pads)
    counts = np.array([whole] if fixed else range(1, whole + 1))
    ratio = float(np.float32(x_scale)) / float(np.float32(y_scale)) if y_scale else 0.0
    words, _ = multipliers((ratio / counts).astype(np.float32))
    words = words if fixed else np.concatenate([[0], words])
    return words.astype(np.uint32).view(np.int32)


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
    try:
        words = _words_of(scalar(x[1]), scalar(y[1]), kernel, pads, counts_padding)
    except ValueError:
        return False
    node.emit("qaverage_pool", [x[0], node.constant(words)], [y[0]], **params)
    return True
