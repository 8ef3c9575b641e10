"""Concat -> kernel move, one step an input."""

from __future__ import annotations

from . import lowers
from ._move import emit_move, strides_of


@lowers("Concat")
def lower_concat(node):
    out = node.outputs[0]
    axis = node.attr("axis") % len(out.shape)
    strides = strides_of(out.shape)
    at = 0
    for x in node.inputs:
        emit_move(node.emit, x, out, x.shape, strides_of(x.shape), strides, 0, at * strides[axis])
        at += x.shape[axis]
