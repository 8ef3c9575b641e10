"""Softmax, LogSoftmax, Hardmax -> kernel softmax."""

from __future__ import annotations

import math

from ..ir import Tensor
from ..overlap import line_by_line
from . import lowers
from ._axes import lines_of

FLOAT, DOUBLE = 1, 11
_OPS = {"Softmax": 0, "LogSoftmax": 1, "Hardmax": 2}


@lowers(*_OPS)
def lower_softmax(node):
    """Before opset 13 the input is seen as a matrix that is cut at axis, and whole rows count."""
    node.require_dtype(FLOAT, DOUBLE)
    emit_softmax(node, node.op, node.inputs[0], node.outputs[0], node.opset)


def emit_softmax(node, op: str, x: Tensor, out: Tensor, opset: int) -> None:
    """out = op(x) along the node's axis."""
    lines = softmax_lines(node, x, opset)
    _, n, inner = lines
    over = line_by_line(out, x, n, inner)
    node.emit("softmax", [x], [out], [_OPS[op], *lines], over=over)


def softmax_lines(node, x: Tensor, opset: int) -> tuple[int, int, int]:
    """(outer, n, inner): along n the exponentials have a sum of one."""
    if opset >= 13:
        return lines_of(x.shape, node.attr("axis", -1))
    axis = node.attr("axis", 1)
    axis += len(x.shape) if axis < 0 else 0
    return math.prod(x.shape[:axis]), math.prod(x.shape[axis:]), 1
