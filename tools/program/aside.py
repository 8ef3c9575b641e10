"""An output that a step of two cores writes beside the arena, and then copies to its place.

Where the output lies over the input, one core would write what the other one still reads. So the
step writes elsewhere, and the cores copy the output when both have read the input.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mpconnxr.blocks import block

from .call import OUTPUT, Call, Loop, Part, Place, Step
from .touched import touched


def copies(step: Step, source: int, offset: int, nbytes: int) -> tuple[list[Call], list[Call]]:
    """Return each core's calls that copy a half of an output.

    Args:
        step: the step; its blocks of parameters keep their numbers.
        source: where in the arena the step has written the output [bytes].
        offset: where the output belongs [bytes].
        nbytes: of the output.

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
    """Return the parameters of a copy of these items, side by side, to the same ones of out."""
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
    """Return True if calls certainly write each byte of an output of a step.

    What a loop declares is what it may write; the items that touched.py knows are what it writes.

    Args:
        calls: of the step.
        source: where in the arena the output begins [bytes].
        nbytes: of the output.

    """
    found = np.zeros(nbytes, bool)
    for each in filter(None, map(touched, calls)):
        for r in each.writes:
            if r in each.items and r.role == OUTPUT:
                found[each.bytes_of(r) - source] = True
    return bool(found.all())
