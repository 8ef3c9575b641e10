"""Remove nodes that change nothing.

1. Identity, and Dropout that is not for training.
2. Cast to the dtype that the input has.
3. Reshape, Flatten, Squeeze, Unsqueeze, Expand, Slice, Pad, Tile and Resize to the input's shape;
   Slice, Pad, Tile and Resize only if they keep every element at its place.
4. Transpose that leaves the axes of more than one element in order, and changes no shape.
5. Concat, Sum, Max, Min, Mean of one tensor; Split into one.
6. x * 1, x / 1, x - 0.
"""

from __future__ import annotations

import onnx_ir as ir

from . import _graph as g

_SAME_SHAPE = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile")
_OF_ONE = ("Concat", "Sum", "Max", "Min", "Mean", "Split")
_NEUTRAL = {"Mul": 1, "Div": 1, "Sub": 0}


def rewrite(model: ir.Model) -> int:
    return sum(_gone(node) for node in model.graph.all_nodes() if node.domain == "")


def _gone(node):
    kept = _kept(node)
    used = [out for out in node.outputs if out.uses() or out.is_graph_output()]
    if kept is None or used not in ([], [node.outputs[0]]):
        return False
    for out in node.outputs[1:]:
        out.name = out.name or f"{node.outputs[0].name}/unused"
    return g.replace(node, *[kept] * len(node.outputs))


def _kept(node):
    """Return the input that the node's first output is a copy of, else None."""
    x = node.inputs[0] if node.inputs else None
    if x is None:
        return None
    op = node.op_type
    if op == "Identity" or op == "Dropout" and not _trains(node):
        return x
    if op in _NEUTRAL:
        return _other_operand(node, _NEUTRAL[op])
    if op in _OF_ONE and len(node.inputs if op != "Split" else node.outputs) == 1:
        return x
    if op == "Cast":
        return x if x.dtype is not None and x.dtype == node.outputs[0].dtype else None
    return x if g.same_type(x, node.outputs[0]) and _keeps_places(node) else None


def _keeps_places(node):
    """Return True if a node whose output has the input's shape moves no element."""
    if node.op_type in _SAME_SHAPE:
        return True
    if node.op_type == "Transpose":
        return is_in_order(g.attr(node, "perm"), g.shape_of(node.inputs[0]))
    if node.op_type == "Slice":
        return _steps_forward(node)
    return node.op_type == "Pad" and _pads_nothing(node)


def is_in_order(perm, shape) -> bool:
    """Return True if the axes of more than one element keep their order (perm None: reversed)."""
    perm = perm if perm is not None else range(len(shape))[::-1]
    long = [axis for axis in perm if shape[axis] != 1]
    return long == sorted(long)


def _steps_forward(node):
    steps = g.input_of(node, 4)
    return steps is None or g.const(steps) is not None and bool((g.const(steps) == 1).all())


def _pads_nothing(node):
    pads = g.ints_of(node, "pads", 1)
    return pads is not None and not any(pads)


def _trains(node):
    mode = g.input_of(node, 2)
    return mode is not None and g.scalar(mode) is not False


def _other_operand(node, neutral):
    """Return x of x * 1: the second operand is neutral, or for Mul the first."""
    sides = ((0, 1), (1, 0)) if node.op_type == "Mul" else ((0, 1),)
    for kept, other in sides:
        data = g.const(node.inputs[other])
        is_neutral = data is not None and data.size and (data == neutral).all()
        if is_neutral and g.same_type(node.inputs[kept], node.outputs[0]):
            return node.inputs[kept]
    return None
