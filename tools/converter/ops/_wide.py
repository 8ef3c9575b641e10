"""Emission of the kernel `wide_conv`: products of 16-bit integers with weights of 8 bits."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from ..shapes.extent import is_open
from ._dtypes import INT16, UINT16
from ._qweights import Geometry
from ._requantize import range_of

_PATCH_NBYTES = 1024  # of scratch; more makes fewer calls of the loops
_BITS = 24  # of a multiplier: a float32's
_POINT = 13  # bits behind the point of what is rounded
_MOST_RIGHT = 31
_LARGEST = math.ldexp((1 << _BITS) - 1, 17 - _BITS)  # saturates every sum but 0
_MAX_K = 16384  # the device's
_MOST = 1 << 46  # of a sum, for which the device has 15 bits and a word


def emit_wide(node, x, rows, geometry: Geometry, x_zero, scales, out, y_zero, bias, limits=None):
    """out = the sums of x * rows + bias, times scales, plus y_zero. Raises Problem.

    x, out: 16 bits, with their zero points; rows: int8 (channels, K); scales: float32, one a
    channel; bias: integers; limits: of out.
    """
    x_unsigned = x_zero + (32768 if x.dtype == INT16 else 0)
    k = rows.shape[1]
    if k > _MAX_K:
        raise Problem(f"{k} products a sum", f"up to {_MAX_K} are supported")
    words, halves = zip(*(wide_multiplier(float(s)) for s in scales), strict=True)
    wide = rows.astype(np.int64)
    constants = bias - x_unsigned * wide.sum(1) + np.array(halves, np.int64)
    if np.abs(constants).max() + 65535 * np.abs(wide).sum(1).max() >= _MOST:
        raise Problem("sums beyond 46 bits")
    low, high = limits or range_of(out.dtype)
    data = np.concatenate([_table(constants, words), (wide + 128).astype(np.uint8).reshape(-1)])
    positions = geometry.counts[8] * geometry.counts[9]
    piece = max(_PATCH_NBYTES // (2 * (2 + k)), 1)
    if not is_open(positions):
        piece = math.ceil(positions / math.ceil(positions / piece)) if positions else 1
    params = {**geometry.named, "piece": piece, "zx": x_unsigned}
    params |= {"zy": y_zero, "low": low, "high": high}
    scratch = [node.temp(UINT16, (piece * (2 + k),))]
    inputs = [x, node.constant(data)]
    node.emit("wide_conv", inputs, [out], scratch=scratch, macs=geometry.macs, **params)


def wide_multiplier(scale: float) -> tuple[int, int]:
    """(word, half): see mpconnxr/loops/wide_dots.py; half is to be added to the sum."""
    if not (math.isfinite(scale) and scale > 0):
        raise Problem(f"a scale of {scale}")
    fraction, exponent = math.frexp(min(scale, _LARGEST))
    left = exponent + _POINT
    mantissa = int(fraction * (1 << _BITS))
    if left < -_MOST_RIGHT:
        return 63, 0  # nothing is left of a sum
    return (mantissa << 8 | left, 0) if left >= 0 else (mantissa << 8 | 32 - left, 1 << -left - 1)


def _table(constants, words):
    """12 bytes a channel."""
    parts = [constants >> 15, constants & 32767, np.array(words, np.int64)]
    return (np.stack(parts, 1) & 0xFFFFFFFF).astype("<u4").reshape(-1).view(np.uint8)


def of_rows(n: int, k: int, m: int) -> Geometry:
    """n rows of k items by m channels, all in C order."""
    return Geometry([1, 1, k, 1, n, m, 1, 1, 1, n], [0, 0, 1, 0, k], [0, 0, 1, m])
