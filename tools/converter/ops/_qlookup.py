"""A function of one quantized tensor of bytes, by a table -> kernel lookup."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..ir import Tensor
from ..steps.overlap import item_by_item
from ._qweights import scalar
from ._requantize import range_of


def emit_table(
    node, x: Sequence[Tensor], y: Sequence[Tensor], function: Callable | None = None
) -> bool:
    """y = quantized(function(x)), both as (values, scale, zero point); False if they aren't known.

    function: of float32 arrays; None: only the scale and zero point change.
    """
    (values, *of_x), (out, *of_y) = x, y
    known = [scalar(t) for t in (*of_x, *of_y)]
    if any(v is None for v in known) or values.itemsize != 1 or out.itemsize != 1:
        return False
    x_scale, x_zero, y_scale, y_zero = known
    q = np.arange(256, dtype=np.uint8).view(values.np_dtype).astype(np.int64)
    with np.errstate(all="ignore"):
        real = (q - x_zero).astype(np.float32) * np.float32(x_scale)
        result = real if function is None else function(real).astype(np.float32)
        quotient = np.nan_to_num(np.rint(result / np.float32(y_scale)))
    table = np.clip(quotient + y_zero, *range_of(out.dtype)).astype(out.np_dtype)
    if out.nelem:
        over = item_by_item(out, [values])
        node.emit("lookup", [values, node.constant(table)], [out], over=over)
    return True
