"""move: copy elements from one strided layout to another.

    out[out_first + sum(i_d * out_stride_d)] = x[x_first + sum(i_d * x_stride_d)]
    for all i_d in 0 .. dims_d - 1

Serves Transpose, Slice, Concat, Split, Pad, Expand, Tile, and every other operator that moves
elements without changing them (all opsets, all dtypes). Elements of out that are not written keep
their contents.

    x, out   buffers of any dtype, seen as elements of 1 or 4 bytes (8-byte dtypes are moved as
             pairs of 4-byte elements, 2-byte ones as pairs of bytes: the converter adds that dim)

Raises ModelError if a stride leads out of a buffer.
"""

from .. import forms
from ..blocks import block
from ..build.calls import walk

# params
_UNIT = const(0)  # bytes of an element: 1 or 4
_RANK = const(1)
_DIMS = const(2)  # [rank]
# then x_strides: [rank] signed, in elements
# then out_strides: [rank] signed, in elements
# then x_first: signed
# then out_first: signed

CALLS = True
STREAMS = (0,)
_CODES = {1: "B", 4: "i"}
_LOOP_DIMS = 3  # innermost dims, which one call of the loop covers


def prepare(node, calls):
    node.require(len(node.params) >= 4, "params")
    size, rank = node.params[_UNIT], node.params[_RANK]
    node.require(size in _CODES and 0 <= rank <= 32, "element size or rank")
    node.expect(1, 1, 4 + 3 * rank)
    dims = node.extents(_DIMS, rank)
    x_strides, out_strides = node.signed(_DIMS + rank, rank), node.signed(_DIMS + 2 * rank, rank)
    x_first, out_first = node.signed(_DIMS + 3 * rank, 2)
    x, out = node.inputs[0], node.outputs[0]
    x_nelem, out_nelem = x.nbytes // size, out.nbytes // size
    x_place, out_place = calls.place(x, _CODES[size]), calls.place(out, _CODES[size])
    if min(dims + [1]) == 0:
        return
    _check(node, dims, x_strides, x_first, x_nelem)
    _check(node, dims, out_strides, out_first, out_nelem)
    node.over(out, x, 0)
    n_elements = 1
    for d in dims:
        n_elements *= d
    # Bounds the work, too: a stride of the output may be 0.
    node.require(n_elements <= out_nelem, "moves more elements than the output has")
    ones = [1] * (_LOOP_DIMS - rank)
    zeros = [0] * len(ones)
    dims, x_strides, out_strides = ones + dims, zeros + x_strides, zeros + out_strides
    inner = len(dims) - _LOOP_DIMS
    planes, rows, columns = dims[inner:]
    x_plane, x_row, x_column = x_strides[inner:]
    out_plane, out_row, out_column = out_strides[inner:]
    loops = forms.get("move")
    copy = loops.copy8 if size == 1 else loops.copy32
    for x_start, out_start in walk(calls, dims[:inner], x_strides, out_strides):
        for start, end in calls.parts(planes, rows * columns):
            p = block(
                "move",
                start=start,
                end=end,
                rows=rows,
                columns=columns,
                x_plane_stride=x_plane,
                x_row_stride=x_row,
                x_column_stride=x_column,
                out_plane_stride=out_plane,
                out_row_stride=out_row,
                out_column_stride=out_column,
                x_start=x_first + x_start,
                out_start=out_first + out_start,
            )
            calls.call(copy, x_place, None, out_place, p)


def _check(node, dims, strides, first, nelem):
    low = high = first
    for i in range(len(dims)):
        reach = (dims[i] - 1) * strides[i]
        low, high = low + min(reach, 0), high + max(reach, 0)
    node.require(0 <= low and high < nelem, "moves beyond a buffer")
