"""Moves QuantizeLinear above what lies between it and the operator that computes.

1. X -> M -> Q becomes X -> Q -> M, M being an operator that only moves elements.
2. X -> Concat -> Q becomes a Q for each input, then Concat of integers.
3. X -> Relu or Clip -> Q becomes X -> Q -> DQ -> Relu or Clip -> Q. Both keep the order of
   numbers, so rounding first changes nothing; the last three are a table then, which is no table
   at all where saturation does the same (see qdq_lookup).
4. Q of the same value with the same scale, and DQ likewise, become one.
"""

from __future__ import annotations

import numpy as np
from onnx import helper

from .qdq_graph import Graph
from .qdq_sink import fill_with_integer, is_move
from .qdq_terms import FLOAT, dequantize, is_dq, is_q, with_names

# They may leave fewer elements than there were.
_FEWER = frozenset(
    ("Gather", "GatherElements", "GatherND", "MaxPool", "ReduceMax", "ReduceMin", "Slice")
)


def hoist(graph: Graph) -> bool:
    """Applies the rules to every Q, the last ones first; True if one did."""
    changed = _merge(graph)
    for node in reversed(graph.nodes.copy()):
        if len(node.output) == 1 and graph.quantizer(node.output[0]) is not None:
            changed |= _hoist(graph, node, graph.quantizer(node.output[0]))
    return changed


def _merge(graph):
    first, changed = {}, False
    for node in graph.nodes.copy():
        if not (is_q(node) or is_dq(node)):
            continue
        scaled = graph.quantized(node) if is_q(node) else graph.dequantized(node.output[0])
        if scaled is None:
            continue
        key = (node.op_type, node.input[0], scaled.dtype, scaled.axis)
        key += (scaled.scale.tobytes(), scaled.zero.tobytes())
        kept = first.setdefault(key, node)
        if kept is not node and not graph.is_kept(node.output[0]):
            graph.redirect(node.output[0], kept.output[0])
            changed = True
    return changed and graph.drop_unused()


def _hoist(graph, node, quantize):
    q = graph.quantized(quantize)
    if graph.stays_float(node):
        return False
    if is_move(graph, node, q.dtype):
        return _hoist_move(graph, node, quantize, q)
    if node.op_type in ("Relu", "Clip") and node.domain in ("", "ai.onnx"):
        return _hoist_limit(graph, node, quantize, q)
    return False


def _hoist_move(graph, node, quantize, q):
    data = list(node.input) if node.op_type == "Concat" else [node.input[0]]
    if node.op_type in _FEWER and not graph.is_used_once(data[0]):
        return False
    inputs = list(node.input[len(data) :])
    before = [_quantize(graph, name, quantize, q) for name in data]
    inputs = [b.output[0] for b in before] + inputs
    if node.op_type == "Pad" and not fill_with_integer(graph, node, q, inputs):
        return False
    graph.fuse(node, quantize, [*before, with_names(node, inputs, quantize.output)])
    return True


def _quantize(graph, name, like, q):
    node_name = graph.new_name(name)
    out = graph.new_value(name, q.dtype, like=name)
    copy = with_names(like, [name, *like.input[1:]], [out])
    copy.name = node_name
    return copy


def _hoist_limit(graph, node, quantize, q):
    """Relu or Clip with constant limits, of what is computed for it alone."""
    x = node.input[0]
    limits = [graph.array(name) for name in node.input[1:] if name]
    if any(v is None or v.size != 1 for v in limits) or not graph.is_used_once(x):
        return False
    producer = graph.producer(x)
    if producer is None or is_dq(producer) or producer.domain == "mpconnxr":
        return False
    if not q.is_bytes or not _is_faithful(q):
        return False
    first = _quantize(graph, x, quantize, q)
    back = helper.make_node(
        "DequantizeLinear",
        [first.output[0], *quantize.input[1:]],
        [graph.new_value(x, FLOAT, like=x)],
        domain=quantize.domain,
        name=graph.new_name(x),
    )
    limited = with_names(node, [back.output[0], *node.input[1:]], node.output)
    graph.replace(node, [first, back, limited])
    return True


def _is_faithful(q):
    """True if Q gives back the integers that went into DQ."""
    limits = np.iinfo(q.zero.dtype)
    all_of_them = np.arange(limits.min, limits.max + 1)
    with np.errstate(all="ignore"):
        back = np.rint(dequantize(all_of_them, q) / q.scale.reshape(()))
    return np.array_equal(back + int(q.zero.reshape(())), all_of_them)
