"""DeformConv -> kernel deform_conv."""

from __future__ import annotations

import math

from ..errors import Problem
from . import lowers
from ._dot import pack_rows

FLOAT = 1


@lowers("DeformConv")
def lower_deform_conv(node):
    node.require_dtype(FLOAT)
    x, w, offset = node.inputs[:3]
    bias, mask, out = node.input(3), node.input(4), node.outputs[0]
    if len(x.shape) != 4:
        raise Problem(f"{len(x.shape) - 2} spatial dimensions", "2 are supported")
    group = node.attr("group", 1)
    c, kernel = w.shape[1], w.shape[2:]
    packed = pack_rows(node, w, [0], [1, 2, 3], bias)
    params = [x.shape[0], group, c, *x.shape[2:], w.shape[0] // group, *kernel, *out.shape[2:]]
    params += [node.attr("offset_group", 1), int(bias is not None)]
    params += [*node.attr("strides", [1, 1]), *node.attr("dilations", [1, 1])]
    params += node.attr("pads", [0] * 4)[:2]
    k = c * math.prod(kernel)
    inputs = [x, packed, offset] if mask is None else [x, packed, offset, mask]
    patch = node.temp(FLOAT, (k,))
    node.emit("deform_conv", inputs, [out], params, [patch], macs=out.nelem * k)
