"""Lower operators that rewrites make for one kernel each: Lookup, Scale, ToFloat.

Given keeps a value from being folded (see simplify/keep.py).
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from ..steps.overlap import element_leads
from . import OWN, lowers
from ._dtypes import FLOAT, INT32
from ._microsoft import like

ENTRIES = 256


@lowers("Lookup", domain=OWN, infer=like(0, dtype_of=1))
def lower_lookup(node):
    """Lower Lookup: a table has an entry for each byte of x, in the order of the bits."""
    x, table = node.inputs
    if x.itemsize != 1 or table.nelem != ENTRIES or table.itemsize not in (1, 4):
        raise Problem(f"{x} by table {table}")
    out = node.outputs[0]
    node.emit("lookup", [x, table], [out], over=element_leads(out, [x]))


def _infer_scale(node):
    return [(FLOAT, max((t.shape for t in node.inputs), key=len))]


@lowers("Scale", domain=OWN, infer=_infer_scale)
def lower_scale(node):
    """Lower Scale: x * w, where x has one element."""
    x, w = node.inputs
    if (x.dtype, w.dtype) != (FLOAT, FLOAT) or x.nelem != 1 or len(x.shape) > len(w.shape):
        raise Problem(f"{x} by {w}")
    node.emit("scales", [x, w], node.outputs)


@lowers("ToFloat", domain=OWN, infer=like(0, dtype_of=1))
def lower_to_float(node):
    """Lower ToFloat: x * scale + offset.

    Scale and offset have one element, or one element for each index of an axis of x.
    """
    x, scale, offset = node.inputs
    if (x.dtype, scale.dtype, offset.dtype) != (INT32, FLOAT, FLOAT):
        raise Problem(f"{x} by {scale} and {offset}")
    axis = node.attr("axis", 1) % max(len(x.shape), 1)
    channels = max(scale.nelem, offset.nelem)
    if any(t.nelem not in (1, channels) for t in (scale, offset)):
        raise Problem(f"{scale} and {offset} differ in length")
    if channels not in (1, x.shape[axis] if x.shape else 1):
        raise Problem(f"{scale} or {offset} does not fit {x}")
    inner = math.prod(x.shape[axis + 1 :]) if channels > 1 else 1
    parts, scratch = [scale, offset], []
    if all(t.data is not None for t in parts):
        rows = [np.broadcast_to(t.data.reshape(-1), channels) for t in parts]
        parts = [node.constant(np.stack(rows).astype(np.float32))]
    else:
        scratch = [node.temp(FLOAT, (2, channels))]
    params = {"scratch": scratch, "channels": channels, "inner": inner}
    over = element_leads(node.outputs[0], [x])
    node.emit("to_float", [x, *parts], node.outputs, over=over, **params)


def _infer_kept(node):
    return [(node.attr("to"), ())]


@lowers("Given", domain=OWN, infer=_infer_kept)
@lowers("Given", domain=OWN, infer=_infer_kept, objects=True)
def lower_kept(node):
    node.emit("given", node.inputs, [node.outputs[0]])
