"""Linear Resize between DQ and Q becomes an operator of integers.

1. DQ -> Resize -> Q, linear, of the last two dims of four, without antialias and extrapolation:
   `mpconnxr:QLinearResize`.

No operator of ONNX or com.microsoft is that: it is this project's, defined in the model as a
function of DequantizeLinear, Resize and QuantizeLinear. (Resize to the nearest moves bytes, see
qdq_sink.)
"""

from __future__ import annotations

import onnx
from onnx import AttributeProto, helper

from .qdq_graph import Graph
from .qdq_lookup import OWN, define
from .qdq_operands import bytes_of
from .qdq_terms import MS, StaysFloat, attribute

_NAME = "QLinearResize"
_INPUTS = ["x", "x_scale", "x_zero", "y_scale", "y_zero", "roi", "scales", "sizes"]
_ATTRIBUTES = ("coordinate_transformation_mode", "mode")
_MODES = (b"half_pixel", b"asymmetric", b"align_corners", b"pytorch_half_pixel")
_FIRST_OPSET = 11  # with these inputs
_OPSET_OF_SCALARS = 13  # of ONNX's own DequantizeLinear


def fuse_resize(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    x = bytes_of(graph, node.input[0], "its input")
    quantize = graph.quantizer(node.output[0])
    y = quantize and graph.quantized(quantize)
    if y is None or not y.is_bytes:
        raise StaysFloat("nothing quantizes its result to 8 bits")
    _require_bilinear(graph, node)
    out = quantize.output[0]
    _define(graph)
    given = [*node.input[1:], "", "", ""][:3]
    inputs = [x.values, *graph.parameters(x, out), *graph.parameters(y, out), *given]
    fused = helper.make_node(_NAME, inputs, [out], name=node.name, domain=OWN)
    mode = attribute(node, "coordinate_transformation_mode", b"half_pixel")
    fused.attribute.append(helper.make_attribute("coordinate_transformation_mode", mode))
    fused.attribute.append(helper.make_attribute("mode", b"linear"))
    graph.replace(quantize, [fused])
    graph.replace(node, [])


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
    if any(name and graph.array(name) is None for name in node.input[1:]):
        raise StaysFloat("its scales or sizes are not constant")


def _define(graph):
    domain = "" if graph.opset >= _OPSET_OF_SCALARS else MS
    body = [
        helper.make_node("DequantizeLinear", _INPUTS[:3], ["real_x"], domain=domain),
        helper.make_node("Resize", ["real_x", *_INPUTS[5:]], ["real"]),
        helper.make_node("QuantizeLinear", ["real", *_INPUTS[3:5]], ["y"], domain=domain),
    ]
    for name in _ATTRIBUTES:
        found = body[1].attribute.add()
        found.name = found.ref_attr_name = name
        found.type = AttributeProto.STRING
    define(graph, _NAME, _INPUTS, body, _ATTRIBUTES, [domain] if domain else [])
