"""Emission of kernel qblend: bytes interpolated from four others, weighted as in float32."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..ir import Tensor
from ._dtypes import INT32
from ._qweights import scalar, shift_of

_MIN_WEIGHT = 64 << 23  # 2**-63, as the bits of a float32
_MIN_BITS, _MAX_BITS = 14, 28  # range of fractional bits in which integers serve
SCALES = (2.0**-60, 2.0**60)  # range of scales that the kernels qblend and qmeans take


@dataclass
class Taps:
    """The two elements of x that each row or column of the output blends.

    Attributes:
        first: indices of the first elements.
        second: indices of the second elements.
        of_first: float32 weights of the first elements.
        of_second: float32 weights of the second elements.
    """

    first: np.ndarray
    second: np.ndarray
    of_first: np.ndarray
    of_second: np.ndarray

    def words(self, stride: int) -> np.ndarray:
        """Return the kernel's parameters, for `stride` elements of x between neighbours."""
        floats = np.stack([self.of_first, self.of_second], 1).astype(np.float32)
        weights = np.maximum(floats.view(np.int32).astype(np.int64) - _MIN_WEIGHT, 0)
        offsets = np.stack([self.first, self.second], 1) * stride
        return np.concatenate([offsets, weights], 1).reshape(-1)


def emit_blend(
    node, x: Sequence[Tensor], y: Sequence[Tensor], size: Sequence[int], rows: Taps, columns: Taps
) -> bool:
    """Emit y = blends of x along rows and columns.

    Args:
        node: the node to lower.
        x: (tensor, scale, zero point) of the input.
        y: (tensor, scale, zero point) of the output.
        size: (rows, columns) of a plane of x.
        rows: the two rows and the weights for each row of y.
        columns: the two columns and the weights for each column of y.

    Returns:
        False if scales or zero points are unknown, too large or too small.
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
    """Return the kernel's parameters point, ratio and shift."""
    fraction, exponent = math.frexp(x_scale / y_scale)
    mantissa = min(round(fraction * (1 << 24)), (1 << 24) - 1)
    bits = 22 - exponent  # 255 times the ratio stay below 2**30
    if not _MIN_BITS <= bits <= _MAX_BITS:
        return {"point": 0, "ratio": [0, 0], "shift": 127}
    ratio = [mantissa >> 12, mantissa & 4095]
    return {"point": bits, "ratio": ratio, "shift": 150 - bits - exponent}
