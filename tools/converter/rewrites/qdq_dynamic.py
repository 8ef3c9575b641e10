"""What follows an integer product, of which a run decides the scale, becomes one operator.

1. MatMulInteger or ConvInteger -> Cast -> Mul by a scale (one, or one for each output channel)
   becomes `mpconnxr:ToFloat`, with the Add of constants by channel behind it as its offset.
2. Mul of DynamicQuantizeLinear's scale and constants, of which that scale is made, becomes
   `mpconnxr:Scale`.

Both are operators of this project (see qdq_functions): x * scale + offset, where `axis` says where
the channels are, and x * w.
"""

from __future__ import annotations

import math

import numpy as np
import onnx

from .qdq_functions import call
from .qdq_graph import Graph
from .qdq_terms import FLOAT, attribute

_PRODUCTS = {"ConvInteger": 1, "MatMulInteger": -1}  # axis of the channels


def scale_products(graph: Graph) -> bool:
    """Applies the rule to every product; True if it did."""
    found = [node for node in graph.nodes if node.op_type in _PRODUCTS and not node.domain]
    changed = [_scale(graph, node) for node in found]
    return any(changed)


def _scale(graph, product):
    cast = _only_reader(graph, product, "Cast")
    multiply = cast and _only_reader(graph, cast, "Mul")
    shape = graph.shape(product.output[0])
    if not multiply or not shape or attribute(cast, "to") != FLOAT:
        return False
    axis = _PRODUCTS[product.op_type] % len(shape)
    scale = _other(multiply, cast)
    if not _is_by_channel(graph, scale, shape, axis):
        return False
    last, offset = multiply, graph.constant(np.float32(0), multiply.output[0])
    add = _only_reader(graph, multiply, "Add")
    if add and graph.floats(_other(add, multiply)) is not None:
        other = _other(add, multiply)
        if _is_by_channel(graph, other, shape, axis):
            last, offset = add, other
    _name_scale(graph, scale)
    graph.replace(last, [to_float(graph, product.output[0], scale, offset, last.output[0], axis)])
    return True


def _name_scale(graph, scale):
    """Rule 2: a board computes it without float arithmetic."""
    node = graph.producer(scale)
    if node is None or node.op_type != "Mul" or node.domain not in ("", "ai.onnx"):
        return
    for x, w in (tuple(node.input), tuple(node.input)[::-1]):
        source, values = graph.producer(x), graph.array(w)
        is_scale = source is not None and source.op_type == "DynamicQuantizeLinear"
        if is_scale and x == source.output[1] and values is not None and np.isfinite(values).all():
            graph.replace(node, [call(graph, "Scale", [x, w], scale, graph.new_name(scale))])
            return


def to_float(graph: Graph, x: str, scale: str, offset: str, out: str, axis: int) -> onnx.NodeProto:
    """The node that gives x * scale + offset."""
    return call(graph, "ToFloat", [x, scale, offset], out, graph.new_name(out), axis=axis)


def _only_reader(graph, node, op):
    name = node.output[0]
    reader = graph.consumers(name)[0] if graph.is_used_once(name) else None
    is_found = reader is not None and reader.op_type == op and reader.domain in ("", "ai.onnx")
    return reader if is_found else None


def _other(node: onnx.NodeProto, first: onnx.NodeProto) -> str:
    a, b = node.input
    return b if a == first.output[0] else a


def _is_by_channel(graph, name, shape, axis):
    """True for a float, or one for each index of an axis; the result keeps its shape."""
    own = graph.shape(name)
    if own is None or graph.dtype(name) != FLOAT or len(own) > len(shape):
        return False
    behind = len(shape) - 1 - axis
    is_channels = own[len(own) - 1 - behind : len(own) - behind] == [shape[axis]]
    return math.prod(own) == 1 or (is_channels and math.prod(own) == shape[axis])
