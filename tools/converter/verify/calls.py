"""The calls of a step: none reads the step's input where an earlier one of them has written.

An output may lie over an input as far as its kernel has read that by then. Lowering computes how
far from the kernel's pieces, and arena.py takes it as given. Here the file's own kernels say which
loops they call, and the loops' declarations what each call reads and writes.

Loops that call others have no declaration of their own, as those of block floating point. Their
calls are passed over, and so are models that cannot be recorded (see tools/program/record.py).
"""

from __future__ import annotations

from tools.program.call import CannotRecord
from tools.program.overwritten import first_fault
from tools.program.record import Share, record

from ..file import on_host
from ..ir import Graph, Step
from . import InternalError, is_asked_for
from .arena import is_in_arena, shown

_MOST_CALLS, _MOST_OF_ALL = 2500, 10_000  # of a step, and of all: the latter take two seconds


def check(data: bytes, graph: Graph) -> list[str]:
    """Prove the steps of a file whose outputs lie over their inputs.

    Args:
        data: the file.
        graph: what it was made of, with all tensors in their places.

    Returns:
        Notes on steps of too many calls, unless all is to be verified (see is_asked_for).

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
    """Have the recorder call the steps of these numbers alone, if they make few calls."""

    def __init__(self, numbers: set[int]):
        self._numbers, self._n_calls = numbers, 0
        self._left_out: list[int] = []
        self.most_calls = None if is_asked_for() else _MOST_CALLS

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        if step not in self._numbers:
            return []
        if self.most_calls and self._n_calls > _MOST_OF_ALL:
            self._left_out.append(step)
            return []
        return [(0, n)]

    def recorded(self, step: int | None, n: int | None) -> None:
        if n is None:
            self._left_out.append(step)
        else:
            self._n_calls += n

    def notes(self, graph: Graph) -> list[str]:
        """Return a note that names the first step of too many calls, if there is one."""
        if not self._left_out:
            return []
        others = len(self._left_out) - 1
        more = f" and {others} more" if others else ""
        first = shown(graph.steps[self._left_out[0]])
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
