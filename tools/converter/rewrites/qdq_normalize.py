"""LayerNormalization between DQ and Q becomes an operator of integers.

1. DQ -> LayerNormalization -> Q, scale and bias constant, becomes
   `mpconnxr:QLinearLayerNormalization` (see qdq_functions).
"""

from __future__ import annotations

import numpy as np
import onnx

from .qdq_functions import call
from .qdq_graph import Graph
from .qdq_operands import bytes_of, result_of
from .qdq_terms import StaysFloat


def fuse_normalize(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    if len(list(filter(None, node.output))) > 1:
        raise StaysFloat("its statistics are outputs, too")
    x = bytes_of(graph, node.input[0], "its input")
    quantize, y = result_of(graph, node)
    if y.dtype != x.dtype:
        raise StaysFloat("its integers are int8 here and uint8 there")
    out, scale = quantize.output[0], graph.floats(node.input[1])
    has_bias = len(node.input) > 2 and node.input[2]
    bias = graph.floats(node.input[2]) if has_bias else np.zeros(1, np.float32)
    if scale is None or bias is None:
        raise StaysFloat("its scale or bias is not constant")
    factors = [scale, np.broadcast_to(bias, np.broadcast_shapes(bias.shape, scale.shape))]
    inputs = [*graph.operand(x, out), *(graph.constant(v, out) for v in factors)]
    inputs += graph.parameters(y, out)
    op = "QLinearLayerNormalization"
    graph.fuse(node, quantize, [call(graph, op, inputs, out, node.name, node)])
