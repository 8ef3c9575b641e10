"""ConvTranspose between DQ and Q becomes an operator of integers.

1. DQ -> ConvTranspose -> Q, one or two spatial dims, weights constant and quantized with one scale
   or one for each output channel, the bias constant: `mpconnxr:QLinearConvTranspose`.

No operator of ONNX or com.microsoft is that: it is this project's, defined in the model as a
function of DequantizeLinear, ConvTranspose and QuantizeLinear.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import AttributeProto, helper

from .qdq_graph import Graph
from .qdq_lookup import OWN, define
from .qdq_operands import added, bytes_of, integer_bias, product_scale, weights_of
from .qdq_terms import MS, StaysFloat, attribute

_NAME = "QLinearConvTranspose"
_INPUTS = ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero", "b"]
_ATTRIBUTES = {
    "auto_pad": AttributeProto.STRING,
    "dilations": AttributeProto.INTS,
    "group": AttributeProto.INT,
    "output_padding": AttributeProto.INTS,
    "output_shape": AttributeProto.INTS,
    "pads": AttributeProto.INTS,
    "strides": AttributeProto.INTS,
}
_OPSET_OF_AXES = 13  # of ONNX's own DequantizeLinear


def fuse_conv_transpose(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    x, shape = bytes_of(graph, node.input[0], "its input"), graph.shape(node.input[1])
    if shape is None or not 3 <= len(shape) <= 4:
        raise StaysFloat("it has more than two dims, or weights of unknown shape")
    w = weights_of(graph, node.input[1], 1, len(shape))
    zeros = set(w.zero.reshape(-1).tolist())
    if graph.array(w.values) is None or len(zeros) > 1:
        raise StaysFloat("its weights are not constant, or have several zero points")
    channels = shape[1] * attribute(node, "group", 1)
    bias = node.input[2] if len(node.input) > 2 else ""
    last, bias = (node, bias) if bias else added(graph, node, channels, 1 - len(shape))
    quantize = graph.quantizer(last.output[0])
    y = quantize and graph.quantized(quantize)
    if y is None or not y.is_bytes:
        raise StaysFloat("nothing quantizes its result to 8 bits")
    out, values = quantize.output[0], np.zeros(channels, np.float32)
    if bias:
        scale = np.resize(product_scale(x, w), channels)
        integer_bias(graph, bias, scale, float(y.scale.reshape(())))  # or it stays float
        values = graph.floats(bias).reshape(-1)
    inputs = [x.values, *graph.parameters(x, out), w.values, *graph.parameters(w, out)]
    inputs += [*graph.parameters(y, out), graph.constant(values, out)]
    _define(graph)
    fused = helper.make_node(_NAME, inputs, [out], name=node.name, domain=OWN)
    fused.attribute.extend(a for a in node.attribute if a.name in _ATTRIBUTES)
    graph.replace(quantize, [fused])


def _define(graph):
    domain = "" if graph.opset >= _OPSET_OF_AXES else MS
    of_w, of_y = ["w", "w_scale", "w_zero"], ["real", "y_scale", "y_zero"]
    body = [
        helper.make_node("DequantizeLinear", _INPUTS[:3], ["real_x"], domain=domain),
        helper.make_node("DequantizeLinear", of_w, ["real_w"], domain=domain, axis=1),
        helper.make_node("ConvTranspose", ["real_x", "real_w", "b"], ["real"]),
        helper.make_node("QuantizeLinear", of_y, ["y"], domain=domain),
    ]
    for name, kind in _ATTRIBUTES.items():
        found = body[2].attribute.add()
        found.name = found.ref_attr_name = name
        found.type = kind
    define(graph, _NAME, _INPUTS, body, list(_ATTRIBUTES), [domain] if domain else [])
