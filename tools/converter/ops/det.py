"""Lower Det to kernel det."""

from __future__ import annotations

import math

from . import lowers
from ._dtypes import FLOATS


@lowers("Det")
def lower_det(node):
    node.require_dtype(*FLOATS)
    x, out = node.inputs[0], node.outputs[0]
    n = x.shape[-1]
    work = node.temp(x.dtype, (n, n))
    node.emit("det", [x], [out], scratch=[work], batch=math.prod(x.shape[:-2]), n=n)
