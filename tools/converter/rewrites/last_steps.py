"""Compute only the last results of a recurrent network if no others are read.

1. A reader of the last step of Y (for a backward direction the first step) of LSTM, GRU, RNN or
   DynamicQuantizeLSTM reads the last state instead.
2. If only the last step of a bidirectional LSTM, GRU or RNN is read, its backward direction
   becomes an operator of that one step.

Between Y and the node that takes the step may be views, Transpose, Slice, Gather and Split.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir
from onnx_ir.passes import common as ir_passes

from . import _graph as g
from ._affine import selection
from .reshapes import VIEWS, reshaped

_OPERATORS = ("LSTM", "GRU", "RNN")
_OF_BYTES = "DynamicQuantizeLSTM"
_N_OUTPUTS = {"GRU": 2, "RNN": 2}
_PER_DIRECTION = (1, 2, 3, 5, 6, 7)  # inputs


def rewrite(model: ir.Model) -> int:
    nodes = g.nodes_of(model, *_OPERATORS) + g.nodes_of(model, _OF_BYTES, domain=g.MS)
    n_changed = sum(_rewritten(node) for node in nodes)
    if n_changed:
        ir_passes.RemoveUnusedNodesPass()(model)
    for node in g.nodes_of(model, _OF_BYTES, domain=g.MS):  # that pass leaves its outputs
        for value in node.outputs:
            if not value.uses() and not value.is_graph_output():
                value.name = ""
    return n_changed


def _rewritten(node):
    shape = g.shape_of(node.outputs[0])
    if shape is None or len(shape) != 4 or 0 in shape or shape[0] == 1:
        return False
    if g.attr(node, "layout", 0) or g.input_of(node, 4) is not None:
        return False
    elements = np.arange(math.prod(shape)).reshape(shape)
    is_reverse = g.attr(node, "direction", "forward") == "reverse"
    directions = ["backwards" if is_reverse else "forwards", *["backwards"] * (shape[1] - 1)]
    size = shape[2] * shape[3]
    if len(directions) == 2:
        last = (shape[0] - 1) * 2 * size, 2 * size
        blocks, is_all = _blocks(node.outputs[0], elements, [last])
        if is_all and blocks:
            return _halved(node, [value for value, _ in blocks])
    ends = {}
    for d, direction in enumerate(directions):
        t = 0 if direction == "backwards" else shape[0] - 1
        ends[(t * len(directions) + d) * size, size] = d
    blocks, _ = _blocks(node.outputs[0], elements, ends)
    parts = [(value, ends[place]) for value, place in blocks]
    return bool(parts) and _states_for(node, parts, len(directions))


def _blocks(value, elements, expected):
    """Return the expected parts of Y as [(value, (first, n))], and if nobody reads any others.

    Args:
        value: made of elements of Y.
        elements: the indices of these elements.
        expected: parts, each n results from the first one on.
    """
    blocks, whole = [], not value.is_graph_output()
    for use in value.uses():
        node = use.node
        for out in node.outputs:
            part = _taken(node, out, elements)
            if part is None or not part.size:
                whole = False
                continue
            flat = part.reshape(-1)
            place = int(flat[0]), len(flat)
            if place in expected and (flat == flat[0] + np.arange(len(flat))).all():
                if out.uses() or out.is_graph_output():
                    blocks.append((out, place))
            else:
                more, is_whole = _blocks(out, part, expected)
                blocks, whole = blocks + more, whole and is_whole
    return blocks, whole


def _taken(node, out, elements):
    """Return the part of Y that a node's output holds, if it only moves elements."""
    shape = g.shape_of(out)
    if node.domain != "" or shape is None or g.shape_of(node.inputs[0]) != elements.shape:
        return None
    if node.op_type == "Transpose":
        return elements.transpose(g.attr(node, "perm", list(range(elements.ndim))[::-1]))
    if node.op_type in VIEWS:
        return elements.reshape(shape)
    chosen = selection(node, out) if node.op_type in ("Gather", "Slice", "Split") else None
    if chosen is None:
        return None
    axis, first, n = chosen
    part = elements.take(range(first, first + n), axis)
    return part.reshape(shape) if part.size == math.prod(shape) else None


def _states_for(node, parts, directions):
    """Put the last states in the place of steps of Y."""
    made = ir.node(
        node.op_type,
        node.inputs,
        node.attributes,
        domain=node.domain,
        num_outputs=_N_OUTPUTS.get(node.op_type, 3),
        name=node.name,
    )
    node.graph.insert_before(node, made)
    _typed(made, g.shape_of(node.outputs[0]))
    for value, d in parts:
        at, state = value.producer(), made.outputs[1]
        if directions > 1:
            state = g.rows_of(at, state, d, d + 1)
        g.redirect(value, reshaped(at, state, g.shape_of(value)))
    for old, new in zip(node.outputs, made.outputs, strict=False):
        g.redirect(old, new)
    node.graph.remove(node, safe=True)
    return True


def _typed(node, shape):
    for value in node.outputs:
        value.dtype, value.shape = ir.DataType.FLOAT, ir.Shape(shape[1:])
    node.outputs[0].shape = ir.Shape(shape)


def _halved(node, values):
    """Write one operator forwards over all steps, and one over the last step."""
    if any(v.uses() or v.is_graph_output() for v in node.outputs[1:]):
        return False
    if any(g.attr(node, f"activation_{name}") for name in ("alpha", "beta")):
        return False
    inputs_by_direction = [g.input_of(node, i) for i in _PER_DIRECTION]
    x, shape = node.inputs[0], g.shape_of(node.inputs[0])
    if shape is None or any(v is not None and g.const(v) is None for v in inputs_by_direction):
        return False
    step = g.rows_of(node, x, shape[0] - 1, shape[0])
    states = [_one_direction(node, sequence, d) for d, sequence in enumerate((x, step))]
    _, _, rows, hidden = g.shape_of(node.outputs[0])
    both = g.add(node, "Concat", states, {"axis": 0}, like=x, shape=(2, rows, hidden))
    for value in values:
        g.redirect(value, reshaped(value.producer(), both, g.shape_of(value)))
    return True


def _one_direction(node, sequence, d):
    """Return the last state of one direction over a sequence."""
    inputs = [sequence] + [None] * 7
    for i in _PER_DIRECTION:
        value = g.input_of(node, i)
        inputs[i] = None if value is None else g.constant(value, g.const(value)[d : d + 1])
    while inputs[-1] is None:
        inputs.pop()
    attributes = {**node.attributes, "direction": "forward"}
    functions = g.attr(node, "activations")
    if functions:
        n = len(functions) // 2
        attributes["activations"] = functions[d * n : d * n + n]
    n_outputs = _N_OUTPUTS.get(node.op_type, 3)
    name = f"{node.name}/{d}"
    made = ir.node(node.op_type, inputs, attributes, num_outputs=n_outputs, name=name)
    node.graph.insert_before(node, made)
    _, _, rows, hidden = g.shape_of(node.outputs[0])
    _typed(made, (g.shape_of(sequence)[0], 1, rows, hidden))
    return made.outputs[1]
