"""Replace operators that onnxruntime may compute inexactly by operators that are exact everywhere.

MLAS, onnxruntime's matrix library, multiplies uint8 by int8 on x86 without VNNI with vpmaddubsw,
which adds pairs of products in 16 bits and saturates. 64 products of 255 * 127 give 1,048,544
there instead of 2,072,640. Other processors have other code. So no product of 8-bit integers is
left to MLAS:

* The operators in `operators.py` become sums of floats that are exact by IEEE 754 in any order of
  summation: float64 for matrices, float32 for convolutions, with weights cut into digits if sums
  would not fit into 24 bits. What follows (bias, scale, rounding) is written in onnxruntime's
  order.
* DynamicQuantizeLSTM and QAttention get uint8 weights and zero points moved by 128: products of
  uint8 and uint8 are exact on x86.

`self_test.py` computes extreme products this way on the current computer before the first such
model is trusted. Optimizations are off, so models with QuantizeLinear and DequantizeLinear stay in
floats and need no replacement.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import onnx
from onnx import helper

from ...protos import bodies_of, copied, nodes_of, set_all
from . import operators
from .nodes import Nodes, Shapes
from .products import Products

_DOMAINS = {"": "", "ai.onnx": "", "com.microsoft": "com.microsoft"}
_OPSET = 17  # opset of ONNX for models that do not import it


def operators_in(model: onnx.ModelProto) -> set[str]:
    """Return the names of the operators in a model that multiply 8-bit integers."""
    return {node.op_type for nodes in _node_lists(model) for node in nodes if _replacement(node)}


def replaced(model: onnx.ModelProto, products: Products) -> onnx.ModelProto:
    """Return a copy of the model without products of 8-bit integers.

    Raises:
        Inexact: if a node cannot be replaced.
    """
    result = copied(model)
    shapes = Shapes(infer=cache(lambda: _inferred(model)))
    _replace(result.graph, result.opset_import, shapes, products)
    for function in result.functions:
        _replace(function, function.opset_import, Shapes(), products)
    return result


def _replace(graph, imports, shapes, products):
    """Replace the inexact operators of a graph or local function, in place.

    Args:
        graph: the graph or function.
        imports: its opset imports; changed.
        shapes: shapes of its values.
        products: adds the exact products.
    """
    if "" not in _versions(imports):
        imports.append(helper.make_opsetid("", _OPSET))
    nodes = Nodes(products, _versions(imports))
    _replace_in(graph, nodes, shapes.inside(graph))
    set_all(graph.node, [*nodes.constants.values(), *graph.node])


def _inferred(model):
    """Return the graph with the dims that onnx infers, unchanged if onnx refuses it."""
    try:
        return onnx.shape_inference.infer_shapes(model).graph
    except (onnx.shape_inference.InferenceError, ValueError):  # ValueError: beyond 2 GB
        return model.graph


def _node_lists(model) -> Iterator:
    yield nodes_of(model.graph)
    for function in model.functions:
        yield nodes_of(function)


def _replacement(node):
    return operators.REPLACEMENTS.get((_DOMAINS.get(node.domain), node.op_type))


def _replace_in(graph, nodes, shapes):
    replaced_nodes = []
    for node in graph.node:
        for body in bodies_of(node):
            _replace_in(body, nodes, shapes.inside(body))
        if replacement := _replacement(node):
            replacement(one := nodes.of(node, shapes))
            replaced_nodes += one.made
        else:
            replaced_nodes.append(node)
    set_all(graph.node, replaced_nodes)


def _versions(imports):
    return {_DOMAINS.get(o.domain, o.domain): o.version for o in imports}
