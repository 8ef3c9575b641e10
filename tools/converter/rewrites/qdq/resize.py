"""Replace linear Resize between DQ and Q by an operator of integers.

1. DQ -> Resize -> Q becomes `mpconnxr:QLinearResize` (see functions) if it is linear, of the last
   two dims of four, without antialias and extrapolation.

Resize to the nearest element only moves bytes: see sink.
"""

from __future__ import annotations

import onnx_ir as ir

from ...shapes.extent import any_open
from .. import _graph as g
from ._edit import Edit
from ._operands import bytes_of, result_of
from ._values import StaysFloat, array_of, shape_of
from .functions import call

_MODES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
_FIRST_OPSET = 11  # with these inputs


def fuse_resize(edit: Edit, node: ir.Node) -> None:
    """Apply the rule, or raise StaysFloat."""
    x = bytes_of(node.inputs[0], "its input")
    quantize, y = result_of(node)
    _require_bilinear(edit, node)
    out = quantize.outputs[0].name
    inputs = [*edit.operand(x, out), *edit.parameters(y, out)]
    inputs += [g.input_of(node, i) for i in (1, 2, 3)]
    mode = g.attr(node, "coordinate_transformation_mode", "half_pixel")
    attributes = {"coordinate_transformation_mode": mode, "mode": "linear"}
    edit.fuse(node, quantize, [call(edit, "QLinearResize", inputs, node.name, **attributes)])


def _require_bilinear(edit, node):
    shape, result = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    if g.attr(node, "mode", "nearest") != "linear" or edit.opset < _FIRST_OPSET:
        raise StaysFloat("it is not linear, or of an old opset")
    if g.attr(node, "coordinate_transformation_mode", "half_pixel") not in _MODES:
        raise StaysFloat("its coordinates are of a rare mode")
    is_plain = not any(g.attr(node, k, 0) for k in ("antialias", "exclude_outside", "axes"))
    if not is_plain or g.attr(node, "keep_aspect_ratio_policy", "stretch") != "stretch":
        raise StaysFloat("it has antialias, exclude_outside, axes or a policy")
    if shape is None or len(shape) != 4 or result is None or result[:2] != shape[:2]:
        raise StaysFloat("it does not resize the last two dims of four")
    if any_open(shape[2:]):
        raise StaysFloat("a run decides the size of its planes")
    if any(value is not None and array_of(value) is None for value in node.inputs[1:]):
        raise StaysFloat("its scales or sizes are not constant")
