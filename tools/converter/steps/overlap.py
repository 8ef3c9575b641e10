"""By how much a step must start its output before an input to write over it.

A kernel may write over an input if it has read each byte for the last time before it writes
there. `lead` says that in one number: the output's memory starts at least so many bytes before
that of the input. 0: the same memory will do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir import Tensor
from ..shapes.extent import bound_of

MOST_PIECES = 1 << 22  # more are not followed one by one


def item_by_item(out: Tensor, inputs: Sequence[Tensor]) -> dict[int, int]:
    """Leads of the inputs of a kernel that reads item i of each before it writes item i of out.

    An input with fewer items, which is read again and again, gets none.
    """
    n = int(bound_of(out.nelem))
    return {
        i: max(0, (n - 1) * (out.itemsize - t.itemsize))
        for i, t in enumerate(inputs)
        if t.nelem == out.nelem and t.data is None
    }


def line_by_line(out: Tensor, x: Tensor, n: int, inner: int) -> dict[int, int]:
    """Lead of input 0 of a kernel that goes line after line along the middle of (.., n, inner).

    It reads a line first, then again item by item with the writes. Lines of an inner dim lie
    between one another: only what is one outer item behind is free.
    """
    if x.data is not None or x.dtype != out.dtype:
        return {}
    return {0: 0 if inner == 1 else int(bound_of(n * inner)) * x.itemsize}


def lag(read: np.ndarray, written: np.ndarray) -> int:
    """Lead of a kernel that reads and writes piece by piece.

    read: for each piece the first byte of the input that it reads; written: the end of what it
    writes, in bytes of the output, all after its reads.
    """
    if len(read) < 2:
        return 0
    first_left = np.minimum.accumulate(read[::-1])[::-1][1:]
    return max(0, int((np.maximum.accumulate(written)[:-1] - first_left).max()))


def pool(planes: int, in_dims, out_dims, strides, pads, itemsize: int) -> int:
    """Lead of a pool: item after item of its output, each when its window has been read.

    The dims and so on are those of z, y, x.
    """
    first = np.arange(planes).reshape(-1, 1, 1, 1) * int(np.prod(in_dims))
    item = 1
    for axis in (2, 1, 0):
        at = np.maximum(np.arange(out_dims[axis]) * strides[axis] - pads[axis], 0)
        shape = [1] * 4
        shape[axis + 1] = -1
        first = first + at.reshape(shape) * item
        item *= in_dims[axis]
    first = first.reshape(-1)
    return lag(first * itemsize, np.arange(1, len(first) + 1) * itemsize)
