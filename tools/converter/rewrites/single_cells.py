"""Replace a recurrent cell that stands alone by LSTM or GRU of one step.

1. The cell (see _cells) reads an input, and states that are not steps of a sequence, and has the
   operator's default functions. It is not a step of an unrolled network: see unrolled.
2. The operator starts from these states; its last states are the cell's. It is put where h was
   computed: nodes before it that read c move behind it.
"""

from __future__ import annotations

import math

import onnx_ir as ir
from onnx_ir.passes import common as ir_passes

from . import _graph as g
from ._cells import Cell, base, find_cells
from .reshapes import reshaped
from .unrolled import recurrent

_DEFAULT = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}


def rewrite(model: ir.Model) -> int:
    n_changed = 0
    while any(_made(graph) for graph in model.graphs()):
        ir_passes.RemoveUnusedNodesPass()(model)
        n_changed += 1
    return n_changed


def _made(graph):
    if not any(node.op_type == "Tanh" for node in graph):
        return False
    factors = [base(node.inputs[0]) for node in graph if g.is_op(node, "MatMul", "Gemm")]
    for x in dict.fromkeys(factors):
        for cell in find_cells(graph, x):
            if _stands_alone(cell, x) and _write(cell, x):
                return True
    return False


def _stands_alone(cell: Cell, x: ir.Value) -> bool:
    is_default = cell.attributes.get("activations") == _DEFAULT.get(cell.kind, ())
    return is_default and cell.x.value is x and cell.x.place < 0 and cell.h_before is not None


def _write(cell, x):
    shape, hidden = g.shape_of(x), cell.gates[0].n
    if not shape or shape[-1] != cell.weights[0].shape[1]:
        return False
    rows = math.prod(shape[:-1])
    states = [cell.h_before] if cell.kind == "GRU" else [cell.h_before, cell.c_before]
    results = [v for v in (*states, cell.h, cell.c) if v is not None]
    shapes = [g.shape_of(v) for v in results]
    if any(s is None or math.prod(s) != rows * hidden for s in shapes):
        return False
    at = cell.h.producer()
    sequence = reshaped(at, x, (1, rows, shape[-1]))
    made = recurrent(at, cell, sequence, states, False)
    g.redirect(cell.h, reshaped(at, made.outputs[1], g.shape_of(cell.h)))
    if cell.kind == "LSTM":
        g.redirect(cell.c, reshaped(at, made.outputs[2], g.shape_of(cell.c)))
        g.sort(at.graph)
    return True
