"""Emission of the device kernel `qaverage_pool`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..ir import Tensor
from ._qweights import scalar, shift_of
from ._requantize import multipliers

_MOST_ITEMS = 1 << 22  # the device's


def means_of(
    node,
    x: Sequence[Tensor],
    y: Sequence[Tensor],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    counts_padding: bool = False,
) -> tuple[Tensor, list[int]] | None:
    """(multipliers, params) of the kernel; None if it can't be by integers.

    x, y: values, scale, zero point, two spatial dims; pads: y, x at the begin, then at the end.
    """
    (values, *of_x), (out, *of_y) = x, y
    known = [scalar(t) for t in (*of_x, *of_y)]
    if any(v is None for v in known) or math.prod(kernel) > _MOST_ITEMS:
        return None
    x_scale, x_zero, y_scale, y_zero = known
    whole = math.prod(kernel)
    fixed = counts_padding or not any(pads)
    counts = np.array([whole] if fixed else range(1, whole + 1))
    ratio = float(np.float32(x_scale)) / float(np.float32(y_scale)) if y_scale else 0.0
    try:
        words, _ = multipliers((ratio / counts).astype(np.float32))
    except ValueError:
        return None
    words = words if fixed else np.concatenate([[0], words])
    shift = shift_of(values)
    planes = math.prod(values.shape[:-2])
    params = [planes, *values.shape[-2:], *kernel, *out.shape[-2:], *strides, *pads[:2]]
    params += [x_zero + shift, y_zero + shift]
    return node.constant(words.astype(np.uint32).view(np.int32)), params


def emit_means(node, x: Sequence[Tensor], y: Sequence[Tensor], *windows) -> bool:
    """y = means of windows of x, see means_of. False if it can't be by integers."""
    found = means_of(node, x, y, *windows)
    if found is None:
        return False
    constant, params = found
    if 0 not in y[0].shape:
        node.emit("qaverage_pool", [x[0], constant], [y[0]], params)
    return True
