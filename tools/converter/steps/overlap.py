"""Compute leads: by how many bytes a step's output must start before an input to overwrite it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir import Tensor
from ..shapes.extent import bound_of

MAX_TRACKED = 1 << 22  # elements that are followed one by one, at most


def element_leads(out: Tensor, inputs: Sequence[Tensor]) -> dict[int, int]:
    """Return the leads of the inputs of a kernel that reads element i before it writes element i.

    An input with fewer elements, which is read repeatedly, has none.
    """
    n = int(bound_of(out.nelem))
    return {
        i: max(0, (n - 1) * (out.itemsize - t.itemsize))
        for i, t in enumerate(inputs)
        if t.nelem == out.nelem and t.data is None
    }


def line_leads(out: Tensor, x: Tensor, n: int, inner: int) -> dict[int, int]:
    """Return the lead of input 0 of a kernel that computes line by line.

    The kernel reads a line first, then again element by element between the writes. If inner > 1,
    lines interleave, and an output may only overwrite outer elements that are done.

    Args:
        out: the output.
        x: the input, (outer, n, inner).
        n: elements of a line.
        inner: elements between neighbours of a line.
    """
    if x.data is not None or x.dtype != out.dtype:
        return {}
    return {0: 0 if inner == 1 else int(bound_of(n * inner)) * x.itemsize}


def lag(read: np.ndarray, written: np.ndarray) -> int:
    """Return the lead of a kernel that alternately reads and writes.

    Args:
        read: for each write the first byte of the input that is read before it.
        written: the end of each write, in bytes of the output.
    """
    if len(read) < 2:
        return 0
    first_left = np.minimum.accumulate(read[::-1])[::-1][1:]
    return max(0, int((np.maximum.accumulate(written)[:-1] - first_left).max()))


def pool(planes: int, in_dims, out_dims, strides, pads, itemsize: int) -> int:
    """Return the lead of a pool, which writes each output element after reading its window.

    Args:
        planes: number of planes (batch times channels).
        in_dims: (z, y, x) sizes of the input.
        out_dims: (z, y, x) sizes of the output.
        strides: (z, y, x) strides of the windows.
        pads: (z, y, x) padding in front.
        itemsize: bytes of an element.
    """
    first = np.arange(planes).reshape(-1, 1, 1, 1) * int(np.prod(in_dims))
    stride = 1
    for axis in (2, 1, 0):
        start = np.maximum(np.arange(out_dims[axis]) * strides[axis] - pads[axis], 0)
        shape = [1] * 4
        shape[axis + 1] = -1
        first = first + start.reshape(shape) * stride
        stride *= in_dims[axis]
    first = first.reshape(-1)
    return lag(first * itemsize, np.arange(1, len(first) + 1) * itemsize)
