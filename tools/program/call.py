"""Describe the calls of a program: their loops, arguments, and parameter blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tools import access, store

INLINE = "inline:"
INPUT, OUTPUT, SCRATCH = "input", "output", "scratch"  # roles of a tensor in a step


class DependsOnData(Exception):
    """A kernel uses values that only a run knows, so its calls cannot be recorded."""


class Unknown:
    """A word that a loop wrote: it may be passed to another loop, but not computed with."""

    def _refuse(self, *_: Any) -> Any:
        raise DependsOnData("computes with a word that a loop wrote to its parameters")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = _refuse
    __rfloordiv__ = __mod__ = __rmod__ = __lshift__ = __rshift__ = __and__ = __or__ = _refuse
    __xor__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__ = __ne__ = __bool__ = _refuse
    __index__ = __int__ = __float__ = __hash__ = __neg__ = __invert__ = _refuse


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Loop:
    """A function of a family of loops.

    A loop that a kernel generates from source (ops/_inline) has the source as its name, and INLINE
    plus the kernel's module as its family.

    Attributes:
        is_rare: True if it is imported when it is first called.
    """

    family: str
    name: str
    is_rare: bool = False


def has_plain(family: str) -> bool:
    """Return True if a family has a form in plain Python."""
    return "plain" in store.loops().modules(family)


@cache
def declaration(loop: Loop) -> access.Loop | None:
    """Return a loop's own declaration of its accesses; None without one."""
    declared = access.loops(loop.family) if has_plain(loop.family) else {}
    result = declared.get(loop.name)
    return None if result is None or result.of_others or not result.is_declared else result


@dataclass(frozen=True)
class Part:
    """Words first to last - 1 of a parameter block of a step."""

    block: int
    first: int
    last: int


@dataclass(frozen=True)
class Constant:
    """A constant array that a kernel makes: struct code and bytes."""

    code: str
    contents: bytes


@dataclass(frozen=True)
class Place:
    """Elements in the arena, the state, or the model file.

    Attributes:
        role: INPUT, OUTPUT or SCRATCH by the step's tensor that they belong to; "" if unknown.
    """

    memory: str
    offset: int
    code: str
    n: int
    role: str = field(default="", compare=False)


@dataclass(frozen=True)
class Value:
    """Another argument of a loop: text of a rare loop's error, a number, or None."""

    value: str | int | None


@dataclass(frozen=True)
class StartArgument:
    """An argument of loops/handover that the program's start provides, by name.

    "h": the words that both cores share; "w": the words of the core's own program; "i": idle.
    """

    name: str


Argument = Loop | Part | Constant | Place | Value | StartArgument | tuple


@dataclass
class Call:
    """One call of a loop.

    Attributes:
        loop: the loop.
        arguments: its arguments.
        words: {block: its words at the call}, UNKNOWN where a loop wrote.
        changed: {block: indices of words that loops have written when the call returns}.
        origin: number of the call among those that the step's kernel emits, whichever part of the
            step is recorded; None for calls that no kernel emits.
    """

    loop: Loop
    arguments: tuple[Argument, ...]
    words: dict[int, list[Any]]
    changed: dict[int, list[int]] = field(default_factory=dict)
    origin: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Read:
    """A streamed chunk is read into the arena."""

    chunk: int


@dataclass
class StepCalls:
    """The calls of one step in a run.

    Attributes:
        number: index of the step in the file; None for a read of weights.
        kernel: its kernel; None for a read of weights.
    """

    name: str
    calls: list[Call | Read] = field(default_factory=list)
    number: int | None = None
    kernel: str | None = None


class CannotRecord(Exception):
    """A model cannot be a program and keeps its kernels; the text is the reason.

    Attributes:
        kernel: kernel of the step that depends on data, if that is the reason.
    """

    def __init__(self, why: str, kernel: str | None = None):
        super().__init__(why)
        self.kernel = kernel


InterfaceTensor = tuple  # memory, offset, nbytes, dtype, shape, name, (scale, zero point) or None


@dataclass
class Recording:
    """Calls of a run, with the buffers that they need.

    Attributes:
        steps: calls of each step.
        arena_nbytes: size of the arena.
        state_nbytes: size of the state.
        resident: offset and size of the part of the file that must be in memory.
        reads: for each streamed chunk its offset in the file, its size, and its offset in the
            arena.
        interface: tensors of the inputs, then of the outputs.
        n_inputs: number of inputs.
    """

    steps: list[StepCalls]
    arena_nbytes: int
    state_nbytes: int
    resident: tuple[int, int]
    reads: tuple[tuple[int, int, int], ...]
    interface: tuple[InterfaceTensor, ...]
    n_inputs: int

    @property
    def n_reads(self) -> int:
        """Number of reads in a run."""
        return sum(isinstance(call, Read) for step in self.steps for call in step.calls)


def size_of(argument: Argument) -> tuple[int | None, int]:
    """Return the number of elements (None if it is no buffer or tuple) and their size [bytes]."""
    if isinstance(argument, Place):
        return argument.n, struct.calcsize(argument.code)
    if isinstance(argument, Constant):
        size = struct.calcsize(argument.code)
        return len(argument.contents) // size, size
    if isinstance(argument, Part):
        return argument.last - argument.first, 4
    return (len(argument), 1) if isinstance(argument, tuple) else (None, 1)


def named(call: Call, loop: access.Loop | None = None) -> dict[str, Argument]:
    """Return a declared loop's arguments by name; also each part of a tuple, as `w[1]`.

    loop: what the call's loop declares; by default that of its plain form.
    """
    loop = loop or declaration(call.loop)
    return dict(_named(zip(loop.args, call.arguments, strict=True)))


def _named(arguments: Iterable[tuple[str, Argument]]) -> Iterator[tuple[str, Argument]]:
    for name, argument in arguments:
        yield name, argument
        if isinstance(argument, tuple):
            yield from _named((f"{name}[{i}]", each) for i, each in enumerate(argument))


def accesses(call: Call, loop: access.Loop | None = None) -> list[access.Access] | None:
    """Return what a call accesses, by its loop's declaration; None if that cannot tell.

    loop: what the call's loop declares; by default that of its plain form.

    Raises:
        AccessError: if its parameters are outside of the declared ranges.
    """
    loop = loop or declaration(call.loop)
    if loop is None:
        return None
    arguments = named(call, loop)
    block = arguments.get("p")
    if not isinstance(block, Part):
        return None
    sizes = {name: size_of(each)[0] for name, each in arguments.items()}
    lengths = {name: n for name, n in sizes.items() if n is not None}
    try:
        return loop.accesses(call.words[block.block][block.first : block.last], lengths)
    except DependsOnData:
        return None
