"""Two strided operands along a contiguous output, two dims per call of a loop."""

from ..blocks import block
from ..build.calls import last, walk

# params
_RANK = const(0)
_DIMS = const(1)  # [rank]
# then x_strides: [rank] 0 where broadcast
# then w_strides: [rank]

_MAX_RANK = 32


def operands(node, first, a_len, b_len, out_len):
    """Return (dims, strides of a, strides of b) with at least two dims, or None if out is empty.

    Args:
        node: the node, whose params hold them.
        first: index of the first of these params.
        a_len: elements of a.
        b_len: elements of b.
        out_len: elements of out.

    Raises:
        ModelError: if an index lies beyond an operand, or the dims do not hold out_len elements.
    """
    rank = node.params[first + _RANK]
    node.require(0 <= rank <= _MAX_RANK, "rank")
    node.require(len(node.params) == first + _DIMS + 3 * rank, "params")
    values = node.extents(first + _DIMS, 3 * rank)
    dims, a_strides, b_strides = values[:rank], values[rank : 2 * rank], values[2 * rank :]
    nelem = 1
    for d in dims:
        nelem *= d
    node.require(nelem == out_len, "output size")
    if not nelem:
        return None
    node.require(last(dims, a_strides) < a_len, "reads beyond an operand")
    node.require(last(dims, b_strides) < b_len, "reads beyond an operand")
    more = 2 - rank
    return [1] * more + dims, [0] * more + a_strides, [0] * more + b_strides


def blocks(calls, dims, a_strides, b_strides):
    """Yield the block of each call, as loops/_words.pairs has it.

    A call computes some rows, or some elements if there is only one row.
    """
    rows, columns = dims[-2:]
    n, work, x_step, w_step, out_step = rows, columns, a_strides[-2], b_strides[-2], columns
    if rows == 1:
        n, work, x_step, w_step, out_step = columns, 1, a_strides[-1], b_strides[-1], 1
    outer, out_strides, size = dims[:-2], [], rows * columns
    for d in reversed(outer):
        out_strides.insert(0, size)
        size *= d
    for x, w, out in walk(calls, outer, a_strides, b_strides, out_strides):
        for first, end in calls.parts(n, work):
            yield block(
                "_words.pairs",
                x_start=x + first * x_step,
                x_row_stride=a_strides[-2],
                x_stride=a_strides[-1],
                w_start=w + first * w_step,
                w_row_stride=b_strides[-2],
                w_stride=b_strides[-1],
                out_start=out + first * out_step,
                rows=1 if rows == 1 else end - first,
                columns=end - first if rows == 1 else columns,
            )
