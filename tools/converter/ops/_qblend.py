"""Emission of the device kernel `qblend`: bytes from four others, weighted as float32 has it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..ir import Tensor
from ._dtypes import INT32
from ._qweights import scalar, shift_of

_LEAST_WEIGHT = 64 << 23  # bits of 2**-63
_LEAST_BITS, _MOST_BITS = 14, 28  # behind the point, with which integers are of use
SCALES = (2.0**-60, 2.0**60)


@dataclass
class Taps:
    """For each row or column of out: two places in x, two weights in float32."""

    first: np.ndarray
    second: np.ndarray
    of_first: np.ndarray
    of_second: np.ndarray

    def words(self, stride: int) -> np.ndarray:
        """As the kernel's parameters. stride: items of x from one place to the next."""
        floats = np.stack([self.of_first, self.of_second], 1).astype(np.float32)
        weights = np.maximum(floats.view(np.int32).astype(np.int64) - _LEAST_WEIGHT, 0)
        places = np.stack([self.first, self.second], 1) * stride
        return np.concatenate([places, weights], 1).reshape(-1)


def emit_blend(
    node, x: Sequence[Tensor], y: Sequence[Tensor], size: Sequence[int], rows: Taps, columns: Taps
) -> bool:
    """y = blends of x, both as (values, scale, zero point). size: H, W of x's planes.

    False if scales or zero points are not known, or too large or small.
    """
    (values, x_scale, x_zero), (out, y_scale, y_zero) = x, y
    known = [scalar(t) for t in (x_scale, x_zero, y_scale, y_zero)]
    if any(v is None for v in known) or 0 in out.shape:
        return False
    if not all(SCALES[0] <= v <= SCALES[1] for v in (known[0], known[2])):
        return False
    (h, w), oh, ow = size, len(rows.first), len(columns.first)
    params = {"planes": values.nelem // (h * w), "h": h, "w": w, "oh": oh, "ow": ow}
    params |= {"zx": known[1] + shift_of(values), "zy": known[3] + shift_of(out)}
    params |= {**_ratio(*known[::2]), "row_taps": rows.words(w), "column_taps": columns.words(1)}
    scales = [node.constant(np.float32([v])) for v in (known[0], known[2])]
    scratch = node.temp(INT32, (192 + 8 * ow,))
    macs = 4 * math.prod(out.shape)
    node.emit("qblend", [values, *scales], [out], scratch=[scratch], macs=macs, **params)
    return True


def _ratio(x_scale: float, y_scale: float) -> dict:
    """The kernel's parameters point, ratio and shift."""
    fraction, exponent = math.frexp(x_scale / y_scale)
    mantissa = min(round(fraction * (1 << 24)), (1 << 24) - 1)
    bits = 22 - exponent  # 255 times the ratio stay below 2**30
    if not _LEAST_BITS <= bits <= _MOST_BITS:
        return {"point": 0, "ratio": [0, 0], "shift": 127}
    ratio = [mantissa >> 12, mantissa & 4095]
    return {"point": bits, "ratio": ratio, "shift": 150 - bits - exponent}
