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
    h, width = x.shape[2:]
    oh, ow = out.shape[2:]
    params = {"n": x.shape[0], "g": group, "c": c, "h": h, "w": width, "m": w.shape[0] // group}
    params |= {"kh": kernel[0], "kw": kernel[1], "oh": oh, "ow": ow}
    params |= {"offset_groups": node.attr("offset_group", 1), "has_bias": int(bias is not None)}
    params |= {name: node.attr(name, [1, 1]) for name in ("strides", "dilations")}
    params["pads"] = node.attr("pads", [0] * 4)[:2]
    k = c * math.prod(kernel)
    inputs = [x, packed, offset] if mask is None else [x, packed, offset, mask]
    patch = node.temp(FLOAT, (k,))
    node.emit("deform_conv", inputs, [out], scratch=[patch], macs=out.nelem * k, **params)
