"""BitCast: the same bytes under another dtype. No step, no copy."""

from __future__ import annotations

from ..errors import Problem
from . import lowers


@lowers("BitCast")
def lower_bit_cast(node):
    x, out = node.inputs[0], node.outputs[0]
    if x.itemsize != out.itemsize:
        raise Problem("BitCast between dtypes of different size")
    if x.data is not None:
        out.data = x.data.reshape(-1).view(out.np_dtype).reshape(out.shape)
    else:
        out.alias = x
