"""Move an output that two cores compute to a buffer behind the arena, and copy it back.

If an output lies over the input, one core would overwrite what the other one still reads. So the
step writes behind the arena, and the cores copy the output when both have read the input.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mpconnxr.blocks import block

from .call import OUTPUT, Call, Loop, Part, Place, StepCalls
from .touched import touched


def copies(
    step: StepCalls, source: int, offset: int, nbytes: int
) -> tuple[list[Call], list[Call]]:
    """Return for each core the calls that copy one half of an output.

    Args:
        step: the step; the numbers of its parameter blocks stay.
        source: offset in the arena where the step wrote the output [bytes].
        offset: offset where the output belongs [bytes].
        nbytes: size of the output.
    """
    size, code, name = (1, "B", "copy8") if (offset | nbytes) % 4 else (4, "i", "copy32")
    n = nbytes // size
    x, out = (Place("arena", at, code, n, OUTPUT) for at in (source, offset))
    number = 1 + max((b for c in step.calls if isinstance(c, Call) for b in c.words), default=-1)

    def copy(first: int, end: int) -> list[Call]:
        words = _words(first, end)
        arguments = x, x, out, Part(number, 0, len(words))
        return [Call(Loop("move", name), arguments, {number: words}, {number: []})]

    return copy(0, n // 2), copy(n // 2, n)


def _words(first: int, end: int) -> list[int]:
    """Return the parameter block of a `move` that copies elements first to end - 1."""
    words = block(
        "move",
        start=0,
        end=1,
        rows=1,
        columns=end - first,
        x_plane_stride=0,
        x_row_stride=0,
        x_column_stride=1,
        out_plane_stride=0,
        out_row_stride=0,
        out_column_stride=1,
        x_start=first,
        out_start=first,
    )
    return list(words)


def is_written(calls: Iterable[Call], source: int, nbytes: int) -> bool:
    """Return True if calls certainly write each byte of a step's output.

    A declaration says what a loop may write; only ranges with exact elements (see touched.py)
    are certain.

    Args:
        calls: calls of the step.
        source: offset of the output in the arena [bytes].
        nbytes: size of the output.
    """
    written = np.zeros(nbytes, bool)
    for each in filter(None, map(touched, calls)):
        for r in each.writes:
            if r in each.exact and r.role == OUTPUT:
                written[each.bytes_of(r) - source] = True
    return bool(written.all())
