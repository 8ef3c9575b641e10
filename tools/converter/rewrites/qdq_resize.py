"""Linear Resize between DQ and Q becomes an operator of integers.

1. DQ -> Resize -> Q, linear, of the last two dims of four, without antialias and extrapolation:
   `mpconnxr:QLinearResize` (see qdq_functions).

Resize to the nearest moves bytes, see qdq_sink.
"""

from __future__ import annotations

import onnx

from ..shapes.extent import any_open
from .qdq_functions import call
from .qdq_graph import Graph
from .qdq_operands import bytes_of, result_of
from .qdq_terms import StaysFloat, attribute

_MODES = (b"half_pixel", b"asymmetric", b"align_corners", b"pytorch_half_pixel")
_FIRST_OPSET = 11  # with these inputs


def fuse_resize(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    x = bytes_of(graph, node.input[0], "its input")
    quantize, y = result_of(graph, node)
    _require_bilinear(graph, node)
    out = quantize.output[0]
    given = [*node.input[1:], "", "", ""][:3]
    inputs = [*graph.operand(x, out), *graph.parameters(y, out), *given]
    mode = attribute(node, "coordinate_transformation_mode", b"half_pixel")
    attributes = {"coordinate_transformation_mode": mode, "mode": b"linear"}
    fused = call(graph, "QLinearResize", inputs, out, node.name, **attributes)
    graph.fuse(node, quantize, [fused])


def _require_bilinear(graph, node):
    shape, result = graph.shape(node.input[0]), graph.shape(node.output[0])
    if attribute(node, "mode", b"nearest") != b"linear" or graph.opset < _FIRST_OPSET:
        raise StaysFloat("it is not linear, or of an old opset")
    if attribute(node, "coordinate_transformation_mode", b"half_pixel") not in _MODES:
        raise StaysFloat("its coordinates are of a rare mode")
    is_plain = not any(attribute(node, k, 0) for k in ("antialias", "exclude_outside", "axes"))
    if not is_plain or attribute(node, "keep_aspect_ratio_policy", b"stretch") != b"stretch":
        raise StaysFloat("it has antialias, exclude_outside, axes or a policy")
    if shape is None or len(shape) != 4 or result is None or result[:2] != shape[:2]:
        raise StaysFloat("it does not resize the last two dims of four")
    if any_open(shape[2:]):
        raise StaysFloat("a run decides the size of its planes")
    if any(name and graph.array(name) is None for name in node.input[1:]):
        raise StaysFloat("its scales or sizes are not constant")
