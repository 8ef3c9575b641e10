"""Prove that each call of a run stays within its buffers, and obeys its loop's declaration.

Kernels prove a step before they emit its calls, and machine code relies on them. Here the loops'
own declarations say what each call reads and writes, and which parameters are allowed. These are
compared with the call's tensors, constants and parameter blocks. So a kernel whose proof is too
weak is found on the host, without memory that faults.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools import access
from tools.loops.parameters import LOOPS

from .call import (
    INPUT,
    Argument,
    Call,
    Constant,
    Loop,
    Place,
    Recording,
    accesses,
    declaration,
    named,
    size_of,
)


@dataclass(frozen=True)
class Stray:
    """A call that violates its loop's declaration, or leaves a buffer.

    Attributes:
        kernel: kernel that emitted the call.
        why: what is wrong.
    """

    kernel: str
    call: Call
    why: str

    def __str__(self) -> str:
        loop = self.call.loop
        return f"{self.kernel}: {loop.family}.{loop.name}: {self.why}"


@dataclass
class Proof:
    """Result of checking a recording.

    Attributes:
        proved: number of calls that were checked by a declaration.
        others: number of calls without a declaration.
        strays: calls that are wrong.
    """

    proved: int
    others: int
    strays: list[Stray]


def proof(recording: Recording) -> Proof:
    """Check all calls of a recording against their buffers."""
    result = Proof(0, 0, [])
    for step in recording.steps:
        for call in step.calls:
            if not isinstance(call, Call):
                continue
            try:
                faults = _faults(call)
            except access.AccessError as e:
                faults = [str(e)]
            result.proved += faults is not None
            result.others += faults is None
            result.strays += [Stray(step.kernel or step.name, call, why) for why in faults or []]
    return result


def _faults(call: Call) -> list[str] | None:
    """Return the faults of a call; None if no declaration says what the call accesses.

    Raises:
        AccessError: if its parameters are outside of the declared ranges.
    """
    declared = declaration(call.loop) or _in_floats(call.loop)
    accessed = accesses(call, declared)
    if accessed is None:
        return None
    buffers = named(call, declared)
    return [why for each in accessed if (why := _fault(each, buffers.get(each.argument)))]


def _in_floats(loop: Loop) -> access.Loop | None:
    """Return what a loop for an FPU declares: these have no plain form."""
    if loop == Loop("fpu_to_float", "to_float32"):
        return access.loops("to_float")["to_float32"]
    path = LOOPS / "vfp" / f"{loop.family}.py"
    return access.read(path).get(loop.name) if path.exists() else None


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
