"""QuantizeLinear and DequantizeLinear of 8 and 16 bits without float arithmetic.

Kernels levels, wide_quantize and dequantize serve them; lookup if there are many floats or the
scale is extreme.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir import Tensor
from ..shapes.extent import planned
from ..steps.overlap import element_leads

FLOAT, BYTES, WIDE = 1, (2, 3), (4, 5)
_SIGN = np.int64(1 << 31)
_SCALES = (2.0**-100, 2.0**100)  # range of scales by which a board can divide and multiply
_MAX_FLOATS = 1024  # four times the elements of the table that a lookup takes


def emit_levels(node, x: Tensor, scale: Tensor, zero: Tensor | None, out: Tensor) -> bool:
    """Emit out = QuantizeLinear(x); return False if no kernel serves its scale or dtypes."""
    known = _known(scale, zero, out)
    if known is None or x.dtype != FLOAT or out.dtype not in (*BYTES, *WIDE):
        return False
    if out.dtype in WIDE:
        return _emit_wide(node, "wide_quantize", x, known, out)
    limits, over = np.iinfo(out.np_dtype), element_leads(out, [x])
    bytes_of = {"first": int(limits.min) & 255, "nan": known[1] & 255}
    if _SCALES[0] <= known[0] <= _SCALES[1]:
        below = min(known[1] - int(limits.min), 255)
        inputs = [x, node.constant(known[0].reshape(1))]
        node.emit("levels", inputs, [out], over=over, below=below, **bytes_of)
        return True
    levels, below = levels_of(lambda x: np.rint(x / known[0]) + np.float64(known[1]), limits)
    node.emit("levels", [x, node.constant(levels)], [out], over=over, below=below, **bytes_of)
    return True


def emit_floats(node, x: Tensor, scale: Tensor, zero: Tensor | None, out: Tensor) -> bool:
    """Emit out = DequantizeLinear(x); return False if no kernel serves its scale or dtypes."""
    known = _known(scale, zero, x)
    if known is None or out.dtype != FLOAT or x.data is not None:
        return False
    if x.dtype in WIDE:
        return _emit_wide(node, "dequantize", x, known, out)
    if x.dtype not in BYTES:
        return False
    if planned(out.nelem) <= _MAX_FLOATS and _SCALES[0] <= known[0] <= _SCALES[1]:
        inputs = [x, node.constant(known[0].reshape(1))]
        node.emit("dequantize", inputs, [out], zero=known[1])
        return True
    q = np.arange(256, dtype=np.uint8).view(x.np_dtype).astype(np.float32)
    with np.errstate(over="ignore"):
        table = (q - np.float32(known[1])) * known[0]
    node.emit("lookup", [x, node.constant(table)], [out], over=element_leads(out, [x]))
    return True


def _emit_wide(node, kernel, x, known, out):
    """Emit a kernel of 16-bit integers; return False if the scale is extreme.

    Args:
        node: the node to lower.
        kernel: wide_quantize or dequantize.
        x: the input.
        known: (scale, zero point).
        out: the output.
    """
    if not _SCALES[0] <= known[0] <= _SCALES[1]:
        return False
    inputs = [x, node.constant(known[0].reshape(1))]
    node.emit(kernel, inputs, [out], over=element_leads(out, [x]), zero=known[1])
    return True


def _known(scale, zero, integers):
    """Return (scale, zero point) as numbers, or None if they are unknown, several or unusable."""
    if scale.data is None or scale.nelem != 1 or scale.dtype != FLOAT or 0 in integers.shape:
        return None
    if zero is not None and (zero.data is None or zero.nelem != 1):
        return None
    s = np.float32(scale.data.reshape(()))
    is_good = np.isfinite(s) and s > 0
    return (s, 0 if zero is None else int(zero.data.reshape(()))) if is_good else None


def levels_of(level: Callable[[np.ndarray], np.ndarray], limits: np.iinfo):
    """Return the floats at which a monotonic function of float32 reaches the next integer.

    Args:
        level: the function.
        limits: numpy's iinfo of the integers.

    Returns:
        (floats, n): for each integer except the least the smallest float that reaches it, if there
        is one, as kernel levels reads them; and how many of the floats are negative.
    """
    integers = np.arange(int(limits.min) + 1, int(limits.max) + 1)
    low = np.full(integers.shape, _key(np.float32(-np.inf)) - 1)
    high = np.full(integers.shape, _key(np.float32(np.inf)) + 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        with np.errstate(all="ignore"):
            reached = level(_float(middle)).astype(np.float64) >= integers
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    keys = high[high <= _key(np.float32(np.inf))]
    negative = keys <= 0
    return np.where(negative, -keys, keys).astype(np.int32), int(negative.sum())


def _key(x):
    """Return an integer that orders as float32 x does; 0 for both 0.0 and -0.0."""
    bits = np.int64(np.float32(x).view(np.uint32))
    return bits if bits < _SIGN else _SIGN - bits


def _float(keys):
    bits = np.where(keys < 0, _SIGN - keys, keys)
    return bits.astype(np.uint32).view(np.float32)
