"""Move DequantizeLinear below operators that only move elements, which then move integers.

1. DQ -> M becomes M -> DQ, if M is Reshape, Slice, Split, MaxPool, ReduceMax or the like, and
   the integers have one scale. With several scales M may only be Transpose, which moves their
   axis.
2. DQ -> Pad becomes Pad -> DQ, if an integer represents the padding's value.
3. Concat, Max and Min of several DQ with one scale become one of integers, then one DQ.
4. DQ -> ArgMax or ArgMin searches the integers instead.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from .. import _graph as g
from ._edit import Edit
from ._values import Scaled, dequantized, floats_of, shape_of, takes

# Data in the first input; every output is made of its elements, chosen by index or by order.
_MOVES = """DepthToSpace Expand Flatten Gather GatherElements GatherND Identity MaxPool ReduceMax
    ReduceMin Reshape Resize Slice SpaceToDepth Split Squeeze Tile Transpose Unsqueeze Upsample"""
MOVES = frozenset(_MOVES.split())
_OF_SEVERAL = ("Concat", "Max", "Min")


def sink(edit: Edit) -> bool:
    """Apply the rules to every node; return True if one did anything."""
    changed = [_sink(edit, node) for node in list(edit.graph)]
    return any(changed)


def is_move(edit: Edit, node: ir.Node, dtype: int) -> bool:
    """Return True for an operator that moves integers of a dtype as it moves floats."""
    if not g.is_op(node, *MOVES, "Concat", "Pad"):
        return False
    if node.op_type in ("Resize", "Upsample") and g.attr(node, "mode", "nearest") != "nearest":
        return False
    if node.op_type == "MaxPool" and len(node.outputs) > 1:
        return False
    return takes(node.op_type, edit.opset, dtype)


def _sink(edit, node):
    if edit.stays_float(node):
        return False
    if node.op_type in _OF_SEVERAL:
        return _sink_several(edit, node)
    q = dequantized(node.inputs[0]) if node.inputs else None
    if q is not None and node.op_type in ("ArgMax", "ArgMin"):
        return _sink_search(edit, node, q)
    if q is None or not is_move(edit, node, q.dtype):
        return False
    axis = None
    if q.scale.size > 1:
        if node.op_type != "Transpose":
            return False
        axis = _moved_axis(node, q)
    inputs = [q.values, *node.inputs[1:]]
    if node.op_type == "Pad" and not fill_with_integer(edit, node, q, inputs, exact=True):
        return False
    _replace(edit, node, inputs, node.inputs[0].producer(), q.dtype, axis)
    return True


def _sink_search(edit, node, q):
    if q.scale.size > 1 or not takes(node.op_type, edit.opset, q.dtype):
        return False
    edit.rename(node, node.inputs[0], q.values)
    return True


def _moved_axis(node, q):
    perm = g.attr(node, "perm") or list(range(len(shape_of(node.inputs[0]))))[::-1]
    return perm.index(q.axis % len(perm))


def _replace(edit, node, inputs, dq, dtype, axis):
    """Replace a node by itself on integers, then a DQ for each of its outputs.

    Args:
        edit: the round.
        node: the node.
        inputs: its new inputs.
        dq: the DQ in front of it.
        dtype: dtype of the integers.
        axis: axis of several scales; None for a single scale, which may be a scalar.
    """
    moved = edit.copy(node, inputs, [edit.new_value(v.name, dtype, like=v) for v in node.outputs])
    after = []
    for value, out in zip(moved.outputs, node.outputs, strict=True):
        new = edit.copy(dq, [value, *dq.inputs[1:]], name=edit.new_name(out.name))
        new.attributes.pop("axis", None)
        if axis is not None and edit.opset >= 13:
            new.attributes["axis"] = ir.AttrInt64("axis", axis)
        after.append(new)
    edit.replace(node, [moved, *after], [new.outputs[0] for new in after])


def fill_with_integer(
    edit: Edit,
    node: ir.Node,
    q: Scaled,
    inputs: list[ir.Value | None],
    exact: bool = False,
) -> bool:
    """Give a Pad's inputs the integer for its constant value.

    Args:
        edit: the round.
        node: the Pad.
        q: the integers.
        inputs: the Pad's new inputs, which change.
        exact: refuse an integer that means another value.

    Returns:
        False where the integer is not known, or refused.
    """
    if edit.opset < 11:
        return False
    if g.attr(node, "mode", "constant") != "constant":
        inputs[2:3] = [None] * len(inputs[2:3])  # a float that nothing is padded with
        return True
    value = np.zeros(1, np.float32)
    if g.input_of(node, 2) is not None:
        value = floats_of(node.inputs[2])
    if value is None:
        return False
    scale, limits = q.scale.reshape(()), np.iinfo(q.zero.dtype)
    level = np.rint(value.reshape(()) / scale)
    integer = level + float(q.zero.reshape(()))
    inside = np.clip(integer, limits.min, limits.max)
    if exact and (level * scale != value or inside != integer):
        return False
    inputs += [None] * (3 - len(inputs))
    inputs[2] = edit.constant(np.asarray(inside, q.zero.dtype), node.outputs[0].name)
    return True


def _sink_several(edit, node):
    if node.domain:
        return False
    scaled = [dequantized(value) for value in node.inputs]
    if not scaled or any(q is None or q.scale.size > 1 for q in scaled):
        return False
    first = scaled[0]
    same = all(q.has_scale_of(first) for q in scaled)
    if not same or not takes(node.op_type, edit.opset, first.dtype):
        return False
    values = [q.values for q in scaled]
    _replace(edit, node, values, node.inputs[0].producer(), first.dtype, None)
    return True
