"""Restore LSTM, GRU and RNN that an exporter has unrolled.

1. Cells (see _cells) of equal weights, each starting from the state that the one before leaves,
   over steps of one sequence in order, forwards or backwards: one operator.
2. Concat of all steps' results is the operator's first output; the last result and state are its
   second and third; another step's result is a part of the first.

Nothing is compared but numbers: it does not matter how gates are cut from one product or computed
apart, or where the weights of the input are applied to all steps at once.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir
from onnx_ir.passes import common as ir_passes

from . import _graph as g
from ._cells import Cell, base, find_cells
from .reshapes import VIEWS, reshaped

_FEWEST = 3  # steps
_SPLIT_IN_NUMBER_SINCE = 18
_RTOL = 1e-6


def rewrite(model: ir.Model) -> int:
    """Replace one chain after another: the next one may read the results of the last one."""
    n_changed = 0
    while any(_rolled(graph) for graph in model.graphs()):
        ir_passes.RemoveUnusedNodesPass()(model)
        n_changed += 1
    return n_changed


def _rolled(graph):
    if sum(node.op_type in ("Tanh", "Relu") for node in graph) < _FEWEST:
        return False
    return any(_write(chain) for chain in _chains(find_cells(graph)))


def _chains(cells: list[Cell]) -> list[list[Cell]]:
    """Return cells in the order of their states, each chain as long as possible, longest first."""
    before = {cell.h: cell for cell in cells}
    follows: dict[int, Cell] = {}
    for cell in cells:
        previous = before.get(base(cell.h_before)) if cell.h_before is not None else None
        if previous is not None and _is_next(previous, cell):
            follows[id(previous)] = cell
    later = {id(cell) for cell in follows.values()}
    chains = []
    for cell in cells:
        if id(cell) not in later:
            chains += _cut([cell], follows)
    return sorted((c for c in chains if len(c) >= _FEWEST), key=len, reverse=True)


def _cut(chain, follows):
    """Return the chain from a cell on, cut into chains where the direction changes."""
    chains = [chain]
    while id(chain[-1]) in follows:
        cell = follows[id(chain[-1])]
        step = cell.x.place - chain[-1].x.place
        if len(chain) > 1 and step != chain[1].x.place - chain[0].x.place:
            chain = []
            chains.append(chain)
        chain.append(cell)
    return chains


def _is_next(a, b):
    """Return True if cell b continues the chain of cell a with equal weights."""
    same = a.kind == b.kind and a.attributes == b.attributes and a.x[:3] == b.x[:3]
    if not same or abs(a.x.place - b.x.place) != 1:
        return False
    if a.c is not None and base(b.c_before) is not base(a.c):
        return False
    pairs = [(a.weights[0], b.weights[0]), *zip(a.weights[2:], b.weights[2:], strict=True)]
    if not _is_zero(a.h_before):  # else its weights do not matter
        pairs.append((a.weights[1], b.weights[1]))
    return all(x.shape == y.shape and np.allclose(x, y, _RTOL, 0) for x, y in pairs)


def _is_zero(state):
    """Return True for a state of zeros, or none."""
    data = None if state is None else g.const(state)
    return state is None or data is not None and not data.any()


def _write(chain):
    """Put the operator in place; return False if the sequence does not fit."""
    first, last = chain[0], chain[-1]
    lead, axis = first.x.lead, first.x.axis
    n = math.prod(lead) // lead[axis]
    hidden = last.gates[0].n
    if math.prod(g.shape_of(first.x.value)[:-1]) != math.prod(lead):
        return False
    results = [g.shape_of(v) for cell in chain for v in (cell.h, cell.c) if v is not None]
    if any(shape is None or math.prod(shape) != n * hidden for shape in results):
        return False
    at = first.h.producer()
    sequence = _sequence(at, first.x, [cell.x.place for cell in chain])
    states = (first.h_before, first.c_before)[: 2 if first.kind == "LSTM" else 1]
    operator = recurrent(at, chain[1], sequence, states, _is_backwards(chain))
    y, y_h, *y_c = operator.outputs
    _replace_results(chain, y, y_h, at)
    if y_c:
        g.redirect(last.c, reshaped(at, y_c[0], g.shape_of(last.c)))
    return True


def _sequence(at, source, places):
    """Return the inputs of a chain's steps as one value (steps, rows, features).

    Args:
        at: the node before which new nodes are put.
        source: where the steps read: a value, its leading dims, and the axis of the steps.
        places: index on the axis that each step reads; together they form a range.
    """
    lead, axis, n_steps = source.lead, source.axis, len(places)
    features = g.shape_of(source.value)[-1]
    value, rows = source.value, math.prod(lead) // lead[axis]
    if g.shape_of(value) != (*lead, features):
        value = reshaped(at, value, (*lead, features))
    if rows != 1 and math.prod(lead[:axis]) != 1:
        perm = [axis, *(a for a in range(len(lead) + 1) if a != axis)]
        shape = [(*lead, features)[a] for a in perm]
        value = g.add(at, "Transpose", [value], {"perm": perm}, like=value, shape=shape)
    value = reshaped(at, value, (lead[axis], rows, features))
    if n_steps != lead[axis]:
        value = g.rows_of(at, value, min(places), max(places) + 1)
    return value


def recurrent(at: ir.Node, cell: Cell, sequence: ir.Value, states, backwards: bool) -> ir.Node:
    """Write the operator that repeats a cell.

    Args:
        at: the node in front of which it is put.
        cell: the cell.
        sequence: (steps, rows, features).
        states: the states that it starts from, None for zeros.
        backwards: it goes through the steps from the last one on.
    """
    steps, rows, _ = g.shape_of(sequence)
    hidden = cell.gates[0].n
    w, r, bias, *extra = cell.weights
    b = np.zeros((2, len(bias)))
    b[0] = bias
    if extra:
        b[1, -hidden:] = extra[0]
    like = at.outputs[0]
    constants = [g.constant(like, c[None].astype(np.float32)) for c in (w, r, b.reshape(-1))]
    states = [None if _is_zero(v) else reshaped(at, v, (1, rows, hidden)) for v in states]
    inputs = [sequence, *constants, None, *states]
    while inputs[-1] is None:
        inputs.pop()
    attributes = {**cell.attributes, "hidden_size": hidden}
    attributes["direction"] = "reverse" if backwards else "forward"
    n_outputs = 3 if cell.kind == "LSTM" else 2
    node = ir.node(cell.kind, inputs, attributes, num_outputs=n_outputs, name=at.name)
    at.graph.insert_before(at, node)
    for value in node.outputs:
        value.dtype, value.shape = ir.DataType.FLOAT, ir.Shape((1, rows, hidden))
    node.outputs[0].shape = ir.Shape((steps, 1, rows, hidden))
    return node


def _replace_results(chain, y, y_h, at):
    order = chain[::-1] if _is_backwards(chain) else chain
    for reader in _readers_of_all(order):
        value = _arranged(reader, y)
        if value is not None:
            g.replace(reader, value)
    last = chain[-1].h
    g.redirect(last, reshaped(at, y_h, g.shape_of(last)))
    node = ir.node("Split", [y], {"axis": 0}, num_outputs=len(order), name=f"{at.name}/steps")
    if g.opset_of(at) >= _SPLIT_IN_NUMBER_SINCE:
        node.attributes["num_outputs"] = ir.AttrInt64("num_outputs", len(order))
    at.graph.insert_before(at, node)
    for cell, out in zip(order, node.outputs, strict=True):
        out.dtype, out.shape = y.dtype, ir.Shape((1, *y.shape[1:]))
        if cell is not chain[-1]:
            g.redirect(cell.h, reshaped(at, out, g.shape_of(cell.h)))


def _is_backwards(chain):
    return chain[1].x.place < chain[0].x.place


def _readers_of_all(order):
    """Return the Concats of all steps' results in order, each maybe as a view."""
    concats = []
    for node in _readers_through_views(order[0].h):
        is_new = g.is_op(node, "Concat") and node not in concats
        if is_new and [base(v) for v in node.inputs] == [cell.h for cell in order]:
            concats.append(node)
    return concats


def _readers_through_views(value):
    for use in list(value.uses()):
        yield use.node
        if g.is_op(use.node, *VIEWS):
            yield from _readers_through_views(use.node.outputs[0])


def _arranged(concat, y):
    """Return the outputs of all steps in the layout that a Concat gives them.

    Args:
        concat: the Concat of the steps' states.
        y: output Y (steps, directions, rows, hidden) of the recurrent operator.

    Returns:
        The value that replaces the Concat's output; None if the layout is not known.
    """
    shape, piece = g.shape_of(concat.outputs[0]), g.shape_of(concat.inputs[0])
    axis = g.attr(concat, "axis", 0) % len(piece)
    steps, _, rows, hidden = g.shape_of(y)
    if piece[-1] != hidden or axis == len(piece) - 1:
        return None
    if rows == 1 or math.prod(piece[:axis]) == 1:
        return reshaped(concat, y, shape)
    if piece[axis] != 1 or len(piece) != 3 or axis != 1:
        return None
    perm, turned = [2, 0, 3, 1], (rows, steps, hidden, 1)
    value = g.add(concat, "Transpose", [y], {"perm": perm}, like=y, shape=turned)
    return reshaped(concat, value, shape)
