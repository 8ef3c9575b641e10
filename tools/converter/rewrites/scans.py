"""Replace Scan of a recurrent cell by LSTM, GRU or RNN.

1. The body is one cell (see _cells) of the only scanned input, and of states that it passes on to
   the next round. Other results of the body (such as a count of rounds) must not be read outside.
2. The final states become the operator's, and a scanned output its results of all steps.

The Scan is of opset 9 or newer, and runs over the first axis, forwards or backwards.
"""

from __future__ import annotations

import math

import onnx_ir as ir

from . import _graph as g
from ._cells import base, find_cells
from .reshapes import reshaped
from .unrolled import recurrent

_SINCE = 9
_LISTS = ("scan_input_axes", "scan_output_axes")


def rewrite(model: ir.Model) -> int:
    return sum(_rolled(node) for node in g.nodes_of(model, "Scan"))


def _rolled(node):
    body = g.attr(node, "body")
    is_plain = g.attr(node, "num_scan_inputs") == 1 and g.opset_of(node) >= _SINCE
    if not is_plain or any(any(g.attr(node, name, [0])) for name in _LISTS):
        return False
    n_states = len(node.inputs) - 1
    step = body.inputs[-1]
    backwards = bool(g.attr(node, "scan_input_directions", [0])[0])
    n_results = len(node.outputs) - n_states
    directions = g.attr(node, "scan_output_directions", [0] * n_results)
    if any(bool(d) != backwards for d in directions):
        return False
    shape = g.shape_of(node.inputs[-1])
    if not shape or shape[-1:] != (g.shape_of(step) or ())[-1:]:
        return False
    for cell in find_cells(body, step):
        states = _states(node, body, cell, n_states)
        if states is not None and cell.x.value is step and cell.x.place < 0:
            return _write(node, cell, states, backwards)
    return False


def _states(node, body, cell, n_states):
    """Return the numbers of the states that are h and c; None if the Scan reads other results.

    Args:
        node: the Scan.
        body: its body.
        cell: the Cell in it.
        n_states: number of states.
    """
    numbers = []
    for before, after in ((cell.h_before, cell.h), (cell.c_before, cell.c)):
        if after is None:
            continue
        number = [i for i in range(n_states) if body.inputs[i] is base(before)] if before else []
        if len(number) != 1 or base(body.outputs[number[0]]) is not after:
            return None
        numbers.append(number[0])
    for i, out in enumerate(node.outputs):
        is_read = out.is_graph_output() or out.uses()
        if is_read and (i not in numbers if i < n_states else base(body.outputs[i]) is not cell.h):
            return None
    return numbers


def _write(node, cell, states, backwards):
    shape = g.shape_of(node.inputs[-1])
    rows, hidden = math.prod(shape[1:-1]), cell.gates[0].n
    outputs = [g.shape_of(out) for out in node.outputs if out.is_graph_output() or out.uses()]
    if any(s is None or math.prod(s) % (rows * hidden) for s in outputs):
        return False
    sequence = reshaped(node, node.inputs[-1], (shape[0], rows, shape[-1]))
    made = recurrent(node, cell, sequence, [node.inputs[i] for i in states], backwards)
    values = []
    for i, out in enumerate(node.outputs):
        if not (out.is_graph_output() or out.uses()):
            values.append(out)
            continue
        result = made.outputs[1 + states.index(i)] if i < len(node.inputs) - 1 else made.outputs[0]
        values.append(reshaped(node, result, g.shape_of(out)))
    return g.replace(node, *values)
