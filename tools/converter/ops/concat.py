"""Concat -> kernel move, one step an input."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Tensor
from . import lowers
from ._move import emit_move, strides_of


@lowers("Concat")
def lower_concat(node):
    emit_concat(node, node.inputs, node.outputs[0])


def emit_concat(node, inputs: Sequence[Tensor], out: Tensor) -> None:
    """out = the inputs one behind the other, along the node's axis."""
    axis = node.attr("axis") % len(out.shape)
    strides = strides_of(out.shape)
    at = 0
    for x in inputs:
        emit_move(node.emit, x, out, x.shape, strides_of(x.shape), strides, 0, at * strides[axis])
        at += x.shape[axis]
