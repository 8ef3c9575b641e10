"""Merge Pad into the only node that reads it.

1. Zeros around Conv's spatial dims become its pads, unless it has an auto_pad other than VALID.
2. Zeros become pads of an AveragePool without ceil_mode, which then counts them
   (count_include_pad), as long as it had no uncounted padding before.
3. Padding of -inf, or of less than the lowest float, becomes pads of a MaxPool; so do zeros
   around values that are never negative. No window may be in the padding as a whole.
4. Padding by its input's zero point becomes pads of a QLinearConv.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from . import _graph as g

_NEVER_NEGATIVE = ("Relu", "Sigmoid", "Softmax", "Abs", "HardSigmoid", "Softplus", "Exp")


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "Pad"))


def _merged(node):
    reader, pads = g.sole_reader(node.outputs[0]), _spatial_pads(node)
    if reader is None or pads is None or reader.inputs[0] is not node.outputs[0]:
        return False
    if not g.is_op(reader, *_TAKES) or not _has_plain_pads(reader):
        return False
    if not _TAKES[reader.op_type](node, reader, pads):
        return False
    attributes = dict(reader.attributes)
    attributes.pop("auto_pad", None)
    own = g.attr(reader, "pads", [0] * len(pads))
    attributes["pads"] = ir.AttrInt64s("pads", [a + b for a, b in zip(own, pads, strict=True)])
    if reader.op_type == "AveragePool":
        attributes["count_include_pad"] = ir.AttrInt64("count_include_pad", 1)
    inputs = [node.inputs[0], *reader.inputs[1:]]
    return g.replace(reader, g.add(reader, reader.op_type, inputs, attributes, named=reader))


def _spatial_pads(node):
    """Return begins and ends of the spatial dims; None if more is padded, or by no constant."""
    rank = len(node.inputs[0].shape or ())
    pads = g.ints_of(node, "pads", 1)
    if pads is None or len(pads) != 2 * rank or g.input_of(node, 3) is not None or rank < 3:
        return None
    begins, ends = pads[:rank], pads[rank:]
    is_plain = g.attr(node, "mode", "constant") == "constant" and min(pads) >= 0
    return [*begins[2:], *ends[2:]] if is_plain and not any(begins[:2] + ends[:2]) else None


def _fill(node):
    """Return the value that is padded with; None if a run decides it."""
    if g.input_of(node, 2) is None:
        return float(g.attr(node, "value", 0.0))
    return g.scalar(node.inputs[2])


def _has_plain_pads(reader):
    return g.attr(reader, "auto_pad", "NOTSET") in ("NOTSET", "VALID")


def _conv_takes(node, reader, pads):
    return g.is_float(node.outputs[0]) and _fill(node) == 0


def _integer_conv_takes(node, reader, pads):
    return _fill(node) is not None and _fill(node) == g.scalar(reader.inputs[2])


def _average_takes(node, reader, pads):
    counts = g.attr(reader, "count_include_pad", 0) or not any(g.attr(reader, "pads", [0]))
    plain = g.is_float(node.outputs[0]) and not g.attr(reader, "ceil_mode", 0)
    return _fill(node) == 0 and counts and plain and _reaches_in(reader, pads)


def _max_takes(node, reader, pads):
    fill = _fill(node)
    if fill is None or not g.is_float(node.outputs[0]) or g.attr(reader, "ceil_mode", 0):
        return False
    if len(reader.outputs) > 1 or not _reaches_in(reader, pads):
        return False
    lowest = fill <= np.finfo(np.float32).min
    return lowest or fill == 0 and _is_never_negative(node.inputs[0])


def _reaches_in(reader, pads):
    """Return True if no window is in the padding as a whole, so that a maximum ignores padding."""
    own = g.attr(reader, "pads", [0] * len(pads))
    kernel = 2 * g.attr(reader, "kernel_shape")
    has_holes = any(d != 1 for d in g.attr(reader, "dilations", [1]))
    return not has_holes and all(a + b < k for a, b, k in zip(own, pads, kernel, strict=True))


def _is_never_negative(x):
    made = g.maker(x, *_NEVER_NEGATIVE, "Clip")
    if made is None or made.op_type != "Clip":
        return made is not None
    low = g.attr(made, "min") if "min" in made.attributes else g.scalar(g.input_of(made, 1))
    return low is not None and low >= 0


_TAKES = {
    "AveragePool": _average_takes,
    "Conv": _conv_takes,
    "MaxPool": _max_takes,
    "QLinearConv": _integer_conv_takes,
}
