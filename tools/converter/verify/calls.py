"""Prove that no call of a step reads its input where an earlier call has written.

An output may lie over an input as far as its kernel has read the input by then. Lowering computes
how far from the kernel's tiles, and arena.py trusts that. Here the file's own kernels record which
loops they call, and the loops' declarations say what each call reads and writes.

Loops that call other loops, as in block floating point, have no declarations. Their calls are
skipped, and so are models that cannot be recorded (see tools/program/record.py).
"""

from __future__ import annotations

from tools.program.call import CannotRecord
from tools.program.overwritten import first_fault
from tools.program.record import Share, record

from ..file import on_host
from ..ir import Graph, Step
from . import InternalError, is_requested
from .arena import is_in_arena, shown

_MOST_CALLS = 2500  # of one step
_MOST_OF_ALL = 10_000  # of all steps: they take two seconds


def check(data: bytes, graph: Graph) -> list[str]:
    """Prove that no step of a file reads what it has already overwritten.

    Returns:
        Notes on steps that make too many calls, unless everything is verified (is_requested).

    Raises:
        InternalError: if a call reads what an earlier call of its step has written.
    """
    overlapping = {i for i, step in enumerate(graph.steps) if _writes_over_inputs(step)}
    if not overlapping:
        return []
    share = _Overlapping(overlapping)
    try:
        with on_host.package(None):
            steps = record(data, _is_plain, share=share).steps
    except CannotRecord:
        return []
    for step in steps:
        if fault := first_fault(step.calls):
            raise InternalError("plan", f"{shown(graph.steps[step.number])}: {fault}")
    return share.notes(graph)


class _Overlapping(Share):
    """Make the recorder call only the steps of these numbers, if they make few calls."""

    def __init__(self, numbers: set[int]):
        self._numbers, self._n_calls = numbers, 0
        self._skipped: list[int] = []
        self.most_calls = None if is_requested() else _MOST_CALLS

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        if step not in self._numbers:
            return []
        if self.most_calls and self._n_calls > _MOST_OF_ALL:
            self._skipped.append(step)
            return []
        return [(0, n)]

    def recorded(self, step: int | None, n: int | None) -> None:
        if n is None:
            self._skipped.append(step)
        else:
            self._n_calls += n

    def notes(self, graph: Graph) -> list[str]:
        """Return a note about the steps with too many calls to prove; [] without such steps."""
        if not self._skipped:
            return []
        others = len(self._skipped) - 1
        more = f" and {others} more" if others else ""
        first = shown(graph.steps[self._skipped[0]])
        return [
            f"{first}{more}: too many pieces to prove here that no input is overwritten before it "
            "is read; --check proves it, and so does flash"
        ]


def _is_plain(family: str, form: str) -> bool:
    """Return True for the form of loops that every board can run."""
    return form == "plain"


def _writes_over_inputs(step: Step) -> bool:
    read = [t for t in step.inputs if is_in_arena(t)]
    written = [t for t in step.outputs + step.scratch if is_in_arena(t)]
    return any(
        x.offset < t.offset + t.planned_nbytes and t.offset < x.offset + x.planned_nbytes
        for x in read
        for t in written
    )
