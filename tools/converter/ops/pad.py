"""Pad -> kernel move."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..shapes.extent import is_open
from . import lowers
from ._move import emit_fill
from ._select import Whole, alias_or_select


@lowers("Pad", fixes_shape=(1, 3))
def lower_pad(node):
    """pads and value are attributes before opset 11, inputs then; axes came with opset 18."""
    x, out = node.inputs[0], node.outputs[0]
    rank = len(x.shape)
    pads = node.attr("pads") if node.opset < 11 else node.const(1, "pads").tolist()
    axes = node.const(3, "axes").tolist() if node.input(3) is not None else list(range(rank))
    mode = node.attr("mode", "constant")
    ends = {axis % rank: (pads[i], pads[i + len(axes)]) for i, axis in enumerate(axes)}
    maps = [_padded(d, *ends.get(axis, (0, 0)), mode) for axis, d in enumerate(x.shape)]
    if mode == "constant" and any(map(max, ends.values())):
        emit_fill(node, _value(node), out)
    alias_or_select(node, x, out, maps)


def _padded(extent, begin, end, mode):
    """The axis' indices after padding; -1 where the constant goes. Negative pads cut."""
    if is_open(extent):
        if min(begin, end) < 0 or mode != "constant" and (begin, end) != (0, 0):
            raise Problem("pads of a run-time extent: positive ones of a constant are supported")
        return Whole(begin)
    index = np.arange(extent)
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise Problem(f"mode {mode}")
    options = {"constant_values": -1} if mode == "constant" else {}
    cut = index[max(-begin, 0) : len(index) + min(end, 0)]
    return np.pad(cut, (max(begin, 0), max(end, 0)), mode, **options)


def _value(node):
    """A tensor of one element: the constant_value, by default 0."""
    x = node.inputs[0]
    if node.opset >= 11 and node.input(2) is not None:
        return node.input(2)
    value = node.attr("value", 0.0) if node.opset < 11 else 0
    return node.constant(np.array(value, x.np_dtype))
