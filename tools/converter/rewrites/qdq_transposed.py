"""ConvTranspose between DQ and Q becomes an operator of integers.

1. DQ -> ConvTranspose -> Q, one or two spatial dims, weights constant and quantized with one scale
   or one for each output channel, the bias constant: `mpconnxr:QLinearConvTranspose` (see
   qdq_functions).
"""

from __future__ import annotations

import numpy as np
import onnx

from .qdq_functions import call
from .qdq_graph import Graph
from .qdq_operands import bias_of, bytes_of, integer_bias, product_scale, result_of, weights_of
from .qdq_terms import StaysFloat, attribute


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
    last, bias = bias_of(graph, node, channels, 1 - len(shape))
    quantize, y = result_of(graph, last)
    out, values = quantize.output[0], np.zeros(channels, np.float32)
    if bias:
        scale = np.resize(product_scale(x, w), channels)
        integer_bias(graph, bias, scale, float(y.scale.reshape(())))  # or it stays float
        values = graph.floats(bias).reshape(-1)
    inputs = [name for q in (x, w) for name in graph.operand(q, out)]
    inputs += [*graph.parameters(y, out), graph.constant(values, out)]
    graph.replace(quantize, [call(graph, "QLinearConvTranspose", inputs, out, node.name, node)])
