"""Moves DequantizeLinear below operators that only move elements, which then move integers.

1. DQ -> M becomes M -> DQ, M being Reshape, Slice, Split, MaxPool, ReduceMax and the like, where
   the integers have one scale (of several scales, Transpose only: their axis goes with it).
2. DQ -> Pad likewise, with the integer of the constant value, if there is one.
3. Concat, Max and Min of several DQ of one scale become one of integers, and one DQ.
4. DQ -> ArgMax or ArgMin finds its place among the integers.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from .qdq_graph import Graph
from .qdq_terms import Scaled, attribute, with_names

# Data in the first input; every output is made of its elements, chosen by place or by order.
_MOVES = """DepthToSpace Expand Flatten Gather GatherElements GatherND Identity MaxPool ReduceMax
    ReduceMin Reshape Resize Slice SpaceToDepth Split Squeeze Tile Transpose Unsqueeze Upsample"""
MOVES = frozenset(_MOVES.split())
_OF_SEVERAL = ("Concat", "Max", "Min")


def sink(graph: Graph) -> bool:
    """Applies the rules to every node; True if one did."""
    changed = [_sink(graph, node) for node in graph.nodes.copy()]
    return any(changed)


def is_move(graph: Graph, node: onnx.NodeProto, dtype: int) -> bool:
    """True for an operator that moves integers of a dtype as it moves floats."""
    if node.op_type not in MOVES | {"Concat", "Pad"} or node.domain not in ("", "ai.onnx"):
        return False
    is_resized = node.op_type in ("Resize", "Upsample")
    if is_resized and attribute(node, "mode", b"nearest") != b"nearest":
        return False
    if node.op_type == "MaxPool" and len(node.output) > 1:
        return False
    return graph.takes(node.op_type, dtype)


def _sink(graph, node):
    if graph.stays_float(node):
        return False
    if node.op_type in _OF_SEVERAL:
        return _sink_several(graph, node)
    q = graph.dequantized(node.input[0]) if node.input else None
    if q is not None and node.op_type in ("ArgMax", "ArgMin"):
        return _sink_search(graph, node, q)
    if q is None or not is_move(graph, node, q.dtype):
        return False
    axis = None
    if q.scale.size > 1:
        if node.op_type != "Transpose":
            return False
        axis = _moved_axis(graph, node, q)
    inputs = [q.values, *node.input[1:]]
    if node.op_type == "Pad" and not fill_with_integer(graph, node, q, inputs, exact=True):
        return False
    _put(graph, node, inputs, graph.producer(node.input[0]), q.dtype, axis)
    return True


def _sink_search(graph, node, q):
    if q.scale.size > 1 or not graph.takes(node.op_type, q.dtype):
        return False
    graph.rename(node, node.input[0], q.values)
    return True


def _moved_axis(graph, node, q):
    perm = attribute(node, "perm") or list(range(len(graph.shape(node.input[0]))))[::-1]
    return list(perm).index(q.axis % len(perm))


def _put(graph, node, inputs, dq, dtype, axis):
    """The node on integers, then a DQ like this one for each of its outputs.

    axis: of several scales; None for one, which fits a scalar too.
    """
    names = [graph.new_value(name, dtype, like=name) for name in node.output]
    moved = with_names(node, inputs, names)
    after = []
    for name, out in zip(names, node.output, strict=True):
        copy = helper.make_node(
            dq.op_type, [name, *dq.input[1:]], [out], domain=dq.domain, name=graph.new_name(out)
        )
        copy.attribute.extend(a for a in dq.attribute if a.name != "axis")
        if axis is not None and graph.opset >= 13:
            copy.attribute.append(helper.make_attribute("axis", axis))
        after.append(copy)
    graph.replace(node, [moved, *after])


def fill_with_integer(
    graph: Graph, node: onnx.NodeProto, q: Scaled, inputs: list[str], exact: bool = False
) -> bool:
    """Gives a Pad's inputs the integer for its constant value; False where that is not known.

    exact: False, too, where the integer means another value.
    """
    if graph.opset < 11:
        return False
    if attribute(node, "mode", b"constant") != b"constant":
        inputs[2:3] = [""] * len(inputs[2:3])  # a float that nothing is padded with
        return True
    value = np.zeros(1, np.float32)
    if len(node.input) > 2 and node.input[2]:
        value = graph.floats(node.input[2])
    if value is None:
        return False
    scale, limits = q.scale.reshape(()), np.iinfo(q.zero.dtype)
    level = np.rint(value.reshape(()) / scale)
    integer = level + float(q.zero.reshape(()))
    inside = np.clip(integer, limits.min, limits.max)
    if exact and (level * scale != value or inside != integer):
        return False
    inputs += [""] * (3 - len(inputs))
    inputs[2] = graph.constant(np.asarray(inside, q.zero.dtype), node.output[0])
    return True


def _sink_several(graph, node):
    if node.domain not in ("", "ai.onnx"):
        return False
    found = [graph.dequantized(name) for name in node.input]
    if not found or any(q is None or q.scale.size > 1 for q in found):
        return False
    first = found[0]
    same = all(q.same_scale(first) for q in found)
    if not same or not graph.takes(node.op_type, first.dtype):
        return False
    values = [q.values for q in found]
    _put(graph, node, values, graph.producer(node.input[0]), first.dtype, None)
    return True
