"""Emission of kernels qconv and qdepthwise: products of bytes with known weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mpconnxr.ops.qconv import takes_x_as_it_lies

from ..ir import Tensor
from ..shapes.extent import any_open
from ..steps.rows import Rows
from . import _patch_room, _qoverlap
from ._dtypes import UINT8
from ._qdepthwise import emit_depthwise, is_depthwise
from ._qweights import AS_IT_IS, outer, pack, padded, scalar, shift_of
from ._requantize import Sums, channel_multipliers, range_of

_ROWS = Rows(
    x=[f"x_strides.{axis}" for axis in "gcyx"],
    out=["out_strides.g", "out_strides.m", None, "out_strides.i"],
)


def product_scales(
    x_scale: float, w_scales: np.ndarray, y_scale: float, alpha: float = 1
) -> list[Fraction] | None:
    """Return alpha * x_scale * w_scales / y_scale as fractions; None if one is not positive."""
    numbers = [np.float32(alpha), np.float32(x_scale), *w_scales.reshape(-1), np.float32(y_scale)]
    if not all(math.isfinite(v) and v > 0 for v in numbers):
        return None
    a, x, *w, y = (Fraction(float(v)) for v in numbers)
    return [a * x * v / y for v in w]


def emit_requantized(
    node,
    x: Tensor,
    weights,
    geometry,
    x_zero: int,
    scales: Sequence[Fraction] | None,
    out: Tensor,
    y_zero: int,
) -> bool:
    """Emit out (bytes) = sums of products times scales; return False if integers cannot.

    Args:
        node: the node to lower.
        x: the input, of bytes.
        weights: its Weights.
        geometry: its Geometry.
        x_zero: zero point of x.
        scales: one scale, or one for each channel; None if a scale is unusable.
        out: the output.
        y_zero: zero point of the output.
    """
    x_zero += shift_of(x)
    if scales is None or not weights.fits(x_zero):
        return False
    low, high = range_of(out.dtype)
    each = list(scales) * (len(weights.rows) // len(scales))
    sums = Sums(weights.constants(x_zero), *weights.range(x_zero))
    try:
        channels = channel_multipliers(each, sums, low - y_zero, high - y_zero)
    except ValueError:
        return False
    ends = {"zy": y_zero, "low": low, "high": high}
    constants, words = channels.first_words, channels.mantissas
    if is_depthwise(geometry):
        emit_depthwise(node, x, weights, constants, words, geometry, x_zero, ends, out)
    else:
        _emit(node, [x], weights, constants, words, geometry, x_zero, ends, out)
    return True


def emit_sums(node, x, weights, geometry, zero: Tensor | None, out: Tensor) -> bool:
    """Emit out (int32) = sums of products; return False if they may exceed int32.

    Args:
        node: the node to lower.
        x: the input, of bytes.
        weights: its Weights.
        geometry: its Geometry.
        zero: zero point of x, one element that may be unknown; None for 0.
        out: the output.
    """
    known = zero is None or zero.data is not None
    x_zero = shift_of(x) + (scalar(zero) if known else 0)
    if not all(weights.fits(z) for z in ([x_zero] if known else [0, 255])):
        return False
    constants = weights.constants(x_zero) if known else weights.constants(0)
    factors = np.zeros_like(constants) if known else weights.per_zero()
    inputs = [x] if known else [x, zero]
    ends = {"zy": 0, "low": 0, "high": 0}
    _emit(node, inputs, weights, constants, factors, geometry, x_zero, ends, out)
    return True


def _emit(node, inputs, weights, constants, words, geometry, x_zero, ends, out):
    packed = node.constant(pack(weights.rows, geometry.counts[1], constants, words))
    emit_qconv(node, inputs, packed, weights.zero, geometry, x_zero, ends, out)


def emit_qconv(node, inputs, packed: Tensor, w_zero: int, geometry, x_zero: int, ends, out):
    """Emit one step of qconv.

    Args:
        node: the node to lower.
        inputs: x and, if only a run knows it, its zero point.
        packed: weights as ops/_qweights.pack returns them.
        w_zero: zero point of the weights, unsigned.
        geometry: sizes and strides.
        x_zero: zero point of x, unsigned.
        ends: zero point and limits of the output, as parameters.
        out: the output.
    """
    x, *zero = inputs
    m, (oh, ow) = geometry.counts[5], geometry.counts[8:]
    k = math.prod(geometry.counts[i] for i in (2, 6, 7))
    record = 4 + padded(k)
    products = k * geometry.counts[5]
    piece, nbytes, lacks = _patch_room.first_choice(oh, ow, m, record, products)
    params = {
        **geometry.named,
        "x_strides": outer(geometry, geometry.x_strides),
        "out_strides": outer(geometry, geometry.out_strides),
        "piece": piece,
        "zx": x_zero,
        "zw": w_zero,
        **ends,
        "lacks_sums": 0,
        "table": AS_IT_IS,
    }
    options: dict[str, Any] = {"scratch": [node.temp(UINT8, (nbytes + len(zero),))], "rows": _ROWS}
    if not zero:  # a zero point lies right behind the patches
        options |= {"grow": _patch_room.grow, "lacks": lacks}
    if not zero and _is_read_in_place(geometry, x):
        options = {"behind": _qoverlap.behind_rows(geometry, x, out)}
    elif not any_open((*geometry.counts, *params["x_strides"], *params["out_strides"])):
        options["behind"] = _qoverlap.behind(geometry, piece, x, out)
        if _qoverlap.is_same_place(geometry, x, out):
            options["in_place"] = [(x, out)]
    node.emit("qconv", [x, packed, *zero], [out], macs=geometry.macs, **options, **params)


def _is_read_in_place(geometry, x):
    """Return True if the loops can read x itself: one row of positions, K bytes each."""
    if x.dtype != UINT8 or any_open((*geometry.counts, *geometry.x_strides)):
        return False
    strides = geometry.strides[1], geometry.x_strides[2]
    return takes_x_as_it_lies(geometry.counts, *strides, geometry.pads)
