"""Emission of the kernels `qconv` and `qdepthwise`: products of bytes with known weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ir import Tensor
from ..shapes.extent import any_open
from ..steps.rows import Rows
from . import _qoverlap
from ._dtypes import UINT8
from ._qdepthwise import emit_depthwise, is_depthwise
from ._qweights import AS_IT_IS, outer, pack, padded, scalar, shift_of
from ._requantize import multipliers, range_of

_PATCH_NBYTES = 1024  # of scratch; more makes fewer calls of the loops
_ROWS = Rows(
    x=[f"x_strides.{at}" for at in "gcyx"],
    out=["out_strides.g", "out_strides.m", None, "out_strides.i"],
)


def emit_requantized(node, x, weights, geometry, x_zero, scales, out, y_zero, limits=None) -> bool:
    """out (bytes) = the sums times scales (float32, one or one a channel); False if it can't be.

    limits: least and greatest value of out, within its dtype's.
    """
    try:
        words, halves = multipliers(np.broadcast_to(scales, weights.rows.shape[:1]))
    except ValueError:
        return False
    x_zero += shift_of(x)
    if not weights.fits(x_zero, halves):
        return False
    low, high = limits or range_of(out.dtype)
    constants = weights.constants(x_zero) + halves
    ends = {"zy": y_zero, "low": low, "high": high}
    if is_depthwise(geometry):
        shape = (x, weights, constants, words, geometry, x_zero, ends, out)
        emit_depthwise(node, *shape)
    else:
        _emit(node, [x], weights, constants, words, geometry, x_zero, ends, out)
    return True


def emit_sums(node, x, weights, geometry, zero: Tensor | None, out: Tensor) -> bool:
    """out (int32) = the sums; False if it can't be. zero: of x, one item, known or not."""
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
    x, *zero = inputs
    groups = geometry.counts[1]
    packed = node.constant(pack(weights.rows, groups, constants, words))
    positions = geometry.counts[8] * geometry.counts[9]
    record = 4 + padded(weights.rows.shape[1])
    piece = max(_PATCH_NBYTES // record, 1)
    if not any_open(geometry.counts):
        piece = _even_pieces(positions, piece)
    params = {
        **geometry.named,
        "x_strides": outer(geometry, geometry.x_strides),
        "out_strides": outer(geometry, geometry.out_strides),
        "piece": piece,
        "zx": x_zero,
        "zw": weights.zero,
        **ends,
        "lacks_sums": 0,
        "table": AS_IT_IS,
    }
    how: dict[str, Any] = {"scratch": [node.temp(UINT8, (piece * record,))], "rows": _ROWS}
    if _is_taken_as_it_lies(geometry, x):
        how = {"behind": _qoverlap.behind_rows(geometry, x, out)}
    elif not any_open((*geometry.counts, *params["x_strides"], *params["out_strides"])):
        same = _qoverlap.is_same_place(geometry, x, out)
        how["behind"] = _qoverlap.behind(geometry, piece, x, out)
        how["in_place"] = [(x, out)] if same else []
    node.emit("qconv", [x, packed, *zero], [out], macs=geometry.macs, **how, **params)


def _is_taken_as_it_lies(geometry, x):
    """True if the device's loops can read x itself: one row of positions, K bytes each."""
    if x.dtype != UINT8 or any_open((*geometry.counts, *geometry.x_strides)):
        return False
    _, _, c, _, width, _, kh, kw, oh, ow = geometry.counts
    is_row = kh * kw == oh == geometry.x_strides[2] == 1 and (ow - 1) * geometry.strides[1] < width
    return is_row and c == padded(c) and not any(geometry.pads)


def _even_pieces(positions, most):
    """The least piece that needs as few calls as the largest one does."""
    return math.ceil(positions / math.ceil(positions / most)) if positions else 1
