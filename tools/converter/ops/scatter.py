"""Lower GatherElements, GatherND, Scatter..., TensorScatter and Col2Im.

Tuples of indices become row numbers of data seen as (rows, inner), by kernel offsets. Kernels
gather, scatter and cache read or write these rows.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open
from . import lowers
from ._dtypes import BOOL, INT32, NUMBERS, UINT8
from ._move import emit_copy, emit_fill, emit_move, strides_of
from ._select import emit_gather
from .cast import emit_cast

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
    """Emit the output: a copy of data, then the updates in the order of their indices.

    Args:
        node: the node to lower.
        rows: number of the row that each update replaces.
        n: number of rows.
        inner: elements of a row.
    """
    data, updates, out = node.inputs[0], node.inputs[2], node.outputs[0]
    op = _REDUCTIONS[node.attr("reduction", "none")]
    if op and data.dtype == BOOL:
        out = node.temp(UINT8, data.shape)
        data, updates = (_as_bytes(node, t) for t in (data, updates))
    elif op:
        node.require_dtype(*NUMBERS)
    emit_copy(node.emit, data, out)
    if updates.nelem:
        node.emit("scatter", [updates, rows], [out], op=op, n=n, inner=inner)
    if out is not node.outputs[0]:
        emit_cast(node, out, node.outputs[0])


def _as_bytes(node, x: Tensor) -> Tensor:
    """Return a bool tensor as 0 and 1, of which a sum is an or, a product an and."""
    y = node.temp(UINT8, x.shape)
    emit_cast(node, x, y)
    return y


def _element_rows(node, data, index) -> Tensor:
    """Return flat indices into data for elementwise indices along an axis."""
    axis = node.attr("axis", 0) % len(data.shape)
    strides = strides_of(data.shape)
    along = strides[axis]
    strides[axis] = 0
    for a, (d, i) in enumerate(zip(data.shape, index.shape, strict=True)):
        if a != axis and i > d:
            raise Problem(f"indices reach beyond axis {a} of data")
    return emit_offsets(node, index, index.shape, strides, [data.shape[axis]], [along])


def _slice_rows(node, data, index, batch: int) -> tuple[Tensor, tuple[int, int]]:
    """Return the row number of each tuple of indices, and (rows, inner) of data.

    Args:
        node: the node to lower.
        data: the tensor that the tuples index.
        index: tuples in its last axis.
        batch: number of leading dims that both share.
    """
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
    """Return a new tensor with the row number of each tuple of indices.

    Args:
        node: the node to lower.
        index: the tuples.
        dims: shape of the row numbers.
        strides: what each dimension of a tuple's position adds to its row.
        sizes: limits of the indices in a tuple.
        steps: what each index in a tuple adds to its row.
    """
    rows = node.temp(INT32, dims)
    params = {"rank": len(dims), "n_t": len(sizes), "dims": dims, "strides": strides}
    node.emit("offsets", [index], [rows], **params, sizes=sizes, steps=steps)
    return rows


@lowers("TensorScatter")
def lower_tensor_scatter(node):
    """Lower TensorScatter: update is written to a copy of the cache from a batch's index on."""
    past, update, start = node.inputs[0], node.inputs[1], node.input(2)
    out = node.outputs[0]
    axis = node.attr("axis", -2) % len(past.shape)
    n, k = past.shape[axis], update.shape[axis]
    mode = node.attr("mode", "linear")
    if axis == 0 or mode not in ("linear", "circular"):
        raise Problem(f"axis {axis}, mode {mode}")
    batches = past.shape[0]
    lines, inner = math.prod(past.shape[1:axis]), math.prod(past.shape[axis + 1 :])
    start = start if start is not None else node.constant(np.zeros(batches, np.int64))
    emit_copy(node.emit, past, out)
    unit = 4 if out.itemsize % 4 == 0 else 1
    sizes = {"batches": batches, "lines": lines, "n": n, "count": k}
    sizes["inner"] = inner * out.itemsize // unit
    circular = int(mode == "circular")
    node.emit("cache", [update, start], [out], unit=unit, **sizes, circular=circular)


_ADD = 1  # operation of kernel scatter


@lowers("Col2Im", fixes_shape=(1, 2))
def lower_col2im(node):
    """Lower Col2Im: columns are added to the positions of their blocks in a padded image.

    The images of all batches and channels are interleaved, so that one index serves all.
    """
    node.require_dtype(*NUMBERS)
    x, out = node.inputs[0], node.outputs[0]
    image = node.const(1, "image_shape").tolist()
    block = node.const(2, "block_shape").tolist()
    rank = len(image)
    pads = node.attr("pads", [0] * 2 * rank)
    padded = [d + pads[i] + pads[rank + i] for i, d in enumerate(image)]
    index = _block_indices(node, padded, block)
    planes, n = math.prod(out.shape[:2]), math.prod(padded)
    columns = node.temp(x.dtype, (len(index), planes))
    dims = [planes, len(index)]
    emit_move(node.emit, x, columns, dims, [len(index), 1], [1, planes])
    total = node.temp(x.dtype, (n, planes))
    emit_fill(node, node.constant(np.zeros(1, x.np_dtype)), total)
    node.emit("scatter", [columns, node.constant(index)], [total], op=_ADD, n=n, inner=planes)
    _emit_inner(node, total, out, image, padded, pads)


def _block_indices(node, padded, block) -> np.ndarray:
    """Return indices into the padded image, for each element of a block and each block."""
    rank = len(padded)
    strides = node.attr("strides", [1] * rank)
    dilations = node.attr("dilations", [1] * rank)
    index = np.zeros((1, 1), np.int64)
    for d, b, s, e in zip(padded, block, strides, dilations, strict=True):
        count = (d - (b - 1) * e - 1) // s + 1
        grid = np.arange(b)[:, None] * e + np.arange(count) * s
        index_grid = index[:, None, :, None] * d + grid[None, :, None, :]
        index = index_grid.reshape(index.shape[0] * b, index.shape[1] * count)
    return index.reshape(-1).astype(np.int32)


def _emit_inner(node, total: Tensor, out: Tensor, image, padded, pads):
    """Emit the image of Col2Im without its padding, with channels first again.

    Args:
        node: the node to lower.
        total: the sums, with channels last.
        out: the output.
        image: dims of the image.
        padded: dims with padding.
        pads: padding at the beginning of each dim.
    """
    planes = total.shape[1]
    steps = strides_of(padded)
    first = sum(p * s for p, s in zip(pads, steps, strict=False)) * planes
    dims = [planes, *image]
    strides = [1, *(s * planes for s in steps)]
    emit_move(node.emit, total, out, dims, strides, strides_of(dims), first)
