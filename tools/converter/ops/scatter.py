"""GatherElements, GatherND, Scatter, ScatterElements, ScatterND -> offsets, gather, scatter.

Tuples of indices become row numbers of data seen as (rows, inner), which pick or place the rows.
"""

from __future__ import annotations

import math

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open
from . import lowers
from ._move import emit_copy, strides_of
from ._select import emit_gather

INT32 = 6
_NUMBERS = (1, 11, 2, 3, 4, 5, 6, 7, 12, 13)
_REDUCTIONS = {"none": 0, "add": 1, "mul": 2, "max": 3, "min": 4}


@lowers("GatherElements")
def lower_gather_elements(node):
    data, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    rows = _element_rows(node, data, index)
    emit_gather(node, node.reshaped(data, (data.nelem,)), rows, out, 0)


@lowers("GatherND")
def lower_gather_nd(node):
    data, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    rows, shape = _slice_rows(node, data, index, node.attr("batch_dims", 0))
    emit_gather(node, node.reshaped(data, shape), rows, out, 0)


@lowers("ScatterElements", "Scatter")
def lower_scatter_elements(node):
    data, index = node.inputs[0], node.inputs[1]
    _emit_scatter(node, _element_rows(node, data, index), data.nelem, 1)


@lowers("ScatterND")
def lower_scatter_nd(node):
    rows, shape = _slice_rows(node, node.inputs[0], node.inputs[1], 0)
    _emit_scatter(node, rows, *shape)


def _emit_scatter(node, rows: Tensor, n: int, inner: int):
    """The output starts as a copy of data; updates come in the order of their indices."""
    data, updates, out = node.inputs[0], node.inputs[2], node.outputs[0]
    op = _REDUCTIONS[node.attr("reduction", "none")]
    if op:
        node.require_dtype(*_NUMBERS)
    emit_copy(node.emit, data, out)
    if updates.nelem:
        node.emit("scatter", [updates, rows], [out], op=op, n=n, inner=inner)


def _element_rows(node, data, index) -> Tensor:
    """Flat positions in data: each index moves along axis only."""
    axis = node.attr("axis", 0) % len(data.shape)
    strides = strides_of(data.shape)
    along = strides[axis]
    strides[axis] = 0
    for a, (d, i) in enumerate(zip(data.shape, index.shape, strict=True)):
        if a != axis and i > d:
            raise Problem(f"indices reach beyond axis {a} of data")
    return emit_offsets(node, index, index.shape, strides, [data.shape[axis]], [along])


def _slice_rows(node, data, index, batch: int) -> tuple[Tensor, tuple[int, int]]:
    """(row numbers, shape of data as rows and inner): the last axis of index holds tuples."""
    n_t = index.shape[-1]
    if any_open([n_t]):
        raise Problem("tuples of indices of a run-time length")
    row_shape = data.shape[: batch + n_t]
    strides = strides_of(row_shape)
    dims = index.shape[:-1]
    base = strides[:batch] + [0] * (len(dims) - batch)
    rows = emit_offsets(node, index, dims, base, row_shape[batch:], strides[batch:])
    return rows, (math.prod(row_shape), math.prod(data.shape[batch + n_t :]))


def emit_offsets(node, index, dims, strides, sizes, steps) -> Tensor:
    """Row numbers (dims): strides say what a tuple's place adds to it, steps what it holds."""
    rows = node.temp(INT32, dims)
    params = {"rank": len(dims), "n_t": len(sizes), "dims": dims, "strides": strides}
    node.emit("offsets", [index], [rows], **params, sizes=sizes, steps=steps)
    return rows
