"""Lower Softmax, LogSoftmax and Hardmax to kernel softmax, or the last two to several steps."""

from __future__ import annotations

import math

import numpy as np

from ..ir import Tensor
from ..shapes.extent import any_open
from ..steps.overlap import line_leads
from . import lowers
from ._axes import lines_of, named_lines
from ._dtypes import DOUBLE, FLOAT, INT32
from ._elementwise import binary, emit_binary, unary

_SUM, _MAX = 0, 2  # operations of kernel reduce
_OPS = {"Softmax": 0, "LogSoftmax": 1, "Hardmax": 2}


@lowers(*_OPS)
def lower_softmax(node):
    """Lower softmaxes. Before opset 13 the input becomes a matrix, divided at axis."""
    node.require_dtype(FLOAT, DOUBLE)
    emit_softmax(node, node.op, node.inputs[0], node.outputs[0], node.opset)


def emit_softmax(
    node, op: str, x: Tensor, out: Tensor, opset: int, lines: tuple[int, int, int] | None = None
) -> None:
    """Emit out = op(x).

    Args:
        node: the node to lower.
        op: Softmax, LogSoftmax or Hardmax.
        x: the input.
        out: the output.
        opset: version of the operator.
        lines: (outer, n, inner), with op along n; None for the node's axis.
    """
    lines = lines or softmax_lines(node, x, opset)
    _, n, inner = lines
    if op in _BY_STEPS and x.dtype == FLOAT and node.is_exact and not any_open(lines):
        if 0 not in lines:
            _BY_STEPS[op](node, x, out, lines)
        return
    over = line_leads(out, x, n, inner)
    node.emit("softmax", [x], [out], over=over, op=_OPS[op], **named_lines(lines))


def _emit_log_softmax(node, x, out, lines):
    """Emit x - m - log(sum of exp(x - m)) with a line's maximum m, without boxed floats.

    Args:
        node: the node to lower.
        x: input.
        out: output.
        lines: (outer, n, inner): a line has the n elements along the axis.
    """
    outer, n, inner = lines
    x, y = node.reshaped(x, lines), node.reshaped(out, lines)
    most, total = (node.temp(FLOAT, (outer, 1, inner)) for _ in range(2))
    node.emit("reduce", [x], [most], op=_MAX, power=0, **named_lines(lines))
    shifted = binary(node, "sub", x, most)
    powers = unary(node, "exp", shifted)
    node.emit("reduce", [powers], [total], op=_SUM, power=0, **named_lines(lines))
    emit_binary(node, "sub", shifted, unary(node, "log", total), y)


def _emit_hardmax(node, x, out, lines):
    """Emit 1 at the first largest element of a line, else 0.

    Args:
        node: the node to lower.
        x: input.
        out: output.
        lines: (outer, n, inner): a line has the n elements along the axis.
    """
    outer, n, inner = lines
    index = node.temp(INT32, (outer, inner))
    flags = {"smallest": 0, "last": 0}
    node.emit("arg_reduce", [x], [index], **flags, **named_lines(lines))
    values = node.constant(np.array([0, 1], np.float32))
    node.emit("one_hot", [index, values], [out], outer=outer, depth=n, inner=inner)


_BY_STEPS = {"LogSoftmax": _emit_log_softmax, "Hardmax": _emit_hardmax}


def softmax_lines(node, x: Tensor, opset: int, default: int | None = None) -> tuple[int, int, int]:
    """Return (outer, n, inner) of a Softmax, whose results along n have a sum of 1.

    Args:
        node: the node.
        x: its input.
        opset: version of the operator.
        default: the default axis before opset 13, None for 1.
    """
    if opset >= 13:
        return lines_of(x.shape, node.attr("axis", -1))
    axis = node.attr("axis", 1 if default is None else default)
    axis += len(x.shape) if axis < 0 else 0
    return math.prod(x.shape[:axis]), math.prod(x.shape[axis:]), 1
