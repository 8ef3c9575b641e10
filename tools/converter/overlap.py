"""By how much a step must start its output before an input to write over it.

A kernel may write over an input if it has read each byte for the last time before it writes
there. `lead` says that in one number: the output's memory starts at least so many bytes before
that of the input. 0: the same memory will do.
"""

from __future__ import annotations

from collections.abc import Sequence

from .extent import bound_of
from .ir import Tensor


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
