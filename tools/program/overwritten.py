"""Prove that no call of a step reads an input where an earlier call of the step has written.

An output may lie over an input as far as its kernel has read it by then. The lowering computes
that distance from the chunks in which the kernel works; here the calls themselves are checked, by
the declarations of their loops. Reads of outputs or scratch are meant to see earlier writes: only
reads of inputs can be faults. Within one call the order is the loop's own.

first_fault checks steps (converter/verify/calls.py, build.py); is_proved checks what two cores
compute at the same time (cores.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .call import INPUT, Call
from .touched import Bytes, Touched, touched


@dataclass(frozen=True)
class Fault:
    """A call that reads, as input, bytes that an earlier call of its step has written.

    Attributes:
        number: index of the call in its step.
        read: the range.
    """

    call: Call
    number: int
    read: Bytes

    def __str__(self) -> str:
        loop, r = self.call.loop, self.read
        return (
            f"call {self.number}, {loop.family}.{loop.name}, reads its input in bytes {r.low} to "
            f"{r.high - 1} of the {r.memory}, where an earlier call of the step has written"
        )


def first_fault(calls: Iterable[Any]) -> Fault | None:
    """Return the first fault of a step, or None. Calls without a declaration are skipped."""
    calls = list(calls)
    return _first_fault(calls, [_touched(call) for call in calls])


def is_proved(calls: Iterable[Any]) -> bool:
    """Return True if all calls of a step are declared and have no fault."""
    calls = list(calls)
    known = [_touched(call) for call in calls]
    return all(map(_is_known, known)) and _first_fault(calls, known) is None


def _touched(call: Any) -> Touched | None:
    return touched(call) if isinstance(call, Call) else None


def _is_known(accessed: Touched | None) -> bool:
    return accessed is not None and all(r.role for r in (*accessed.reads, *accessed.writes))


def _first_fault(calls: list[Any], known: list[Touched | None]) -> Fault | None:
    written = _Bytes(r for accessed in known if accessed for r in accessed.writes)
    for number, (call, accessed) in enumerate(zip(calls, known, strict=True)):
        if accessed is None:
            continue
        for r in accessed.reads:
            if r.role == INPUT and written.has_any(r, accessed):
                return Fault(call, number, r)
        for r in accessed.writes:
            written.add(r, accessed)
    return None


class _Bytes:
    """A set of bytes in memories.

    Args:
        ranges: all ranges that will be added.
    """

    def __init__(self, ranges: Iterable[Bytes]):
        sizes: dict[str, int] = {}
        for r in ranges:
            sizes[r.memory] = max(sizes.get(r.memory, 0), r.high)
        self._marks = {memory: np.zeros(n, bool) for memory, n in sizes.items()}

    def add(self, r: Bytes, of: Touched) -> None:
        """Add the bytes of a range that a call accesses."""
        self._marks[r.memory][of.bytes_of(r)] = True

    def has_any(self, r: Bytes, of: Touched) -> bool:
        """Return True if a byte of the range that a call accesses is in the set."""
        marks = self._marks.get(r.memory)
        if marks is None or not marks[r.low : r.high].any():
            return False
        at = of.bytes_of(r)
        return bool(marks[at if isinstance(at, slice) else at[at < len(marks)]].any())
