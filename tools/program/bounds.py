"""Proof that each call of a run stays within its buffers, and is what its loop declares.

Kernels prove a step before they emit its calls, and machine code believes them. Here the loops'
own declarations say what each call reads and writes, and what its parameters may be. That is held
against the tensors, constants and blocks that the call has. So a kernel whose proof is too weak is
found on the host, without memory that faults.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools import access

from .call import INPUT, Argument, Call, Constant, Place, Recording, accesses, named, size_of


@dataclass(frozen=True)
class Stray:
    """A call that a kernel should not have emitted. kernel: whose; why: what is wrong."""

    kernel: str
    call: Call
    why: str

    def __str__(self) -> str:
        loop = self.call.loop
        return f"{self.kernel}: {loop.family}.{loop.name}: {self.why}"


@dataclass
class Proof:
    """proved, others: calls that a declaration tells of, and those of which none does; strays."""

    proved: int
    others: int
    strays: list[Stray]


def proof(recording: Recording) -> Proof:
    """Hold all calls of a recording against their buffers."""
    found = Proof(0, 0, [])
    for step in recording.steps:
        for call in step.calls:
            if not isinstance(call, Call):
                continue
            try:
                faults = _faults(call)
            except access.AccessError as e:
                faults = [str(e)]
            found.proved += faults is not None
            found.others += faults is None
            found.strays += [Stray(step.kernel or step.name, call, why) for why in faults or []]
    return found


def _faults(call: Call) -> list[str] | None:
    """Return what is wrong with a call; None where nothing declares what it touches.

    Raises AccessError where its parameters are beyond those that its loop declares.
    """
    found = accesses(call)
    if found is None:
        return None
    buffers = named(call)
    return [why for each in found if (why := _fault(each, buffers.get(each.argument)))]


def _fault(a: access.Access, buffer: Argument | None) -> str:
    """Return why a buffer does not allow an access; "" if it does."""
    if buffer is None:
        return f"there is no {a.argument}"
    n, size = size_of(buffer)
    unit = size if isinstance(buffer, tuple) else a.nbytes or size
    low, high, nbytes = a.low * unit, a.high * unit, (n or 0) * size
    if low < 0 or high > nbytes:
        return f"{a.kind} bytes {low} to {high - 1} of {a.argument}, which has {nbytes}"
    is_input = isinstance(buffer, Place) and (buffer.memory == "file" or buffer.role == INPUT)
    if a.kind == "writes" and (is_input or isinstance(buffer, Constant)):
        return f"writes to {a.argument}, which is an input"
    return ""
