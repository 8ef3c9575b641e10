"""What is known of the calls of a program: their loops, arguments, and blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tools import access, store

INLINE = "inline:"
INPUT, OUTPUT, SCRATCH = "input", "output", "scratch"  # what a tensor is to a step


class DependsOnData(Exception):
    """Somebody asks for what only a run knows, so the calls cannot be told in advance."""


class Unknown:
    """A word that a loop wrote. It can be handed to another loop, and that is all."""

    def _refuse(self, *_: Any) -> Any:
        raise DependsOnData("computes with what a loop wrote to its parameters")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = _refuse
    __rfloordiv__ = __mod__ = __rmod__ = __lshift__ = __rshift__ = __and__ = __or__ = _refuse
    __xor__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__ = __ne__ = __bool__ = _refuse
    __index__ = __int__ = __float__ = __hash__ = __neg__ = __invert__ = _refuse


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Loop:
    """A function of a family of loops; is_rare: it is imported when it is first called.

    One that a kernel makes of a source (ops/_inline) has that as its name, and as its family
    INLINE with the module of the kernel.
    """

    family: str
    name: str
    is_rare: bool = False


def has_plain(family: str) -> bool:
    """Return whether a family has loops in plain Python."""
    return "plain" in store.loops().modules(family)


@cache
def declaration(loop: Loop) -> access.Loop | None:
    """Return what a loop declares of its accesses; None where it has no declaration of its own."""
    declared = access.loops(loop.family) if has_plain(loop.family) else {}
    found = declared.get(loop.name)
    return None if found is None or found.of_others or not found.is_declared else found


@dataclass(frozen=True)
class Part:
    """A part of a block: which of those of its step, and which of its words."""

    block: int
    first: int
    last: int


@dataclass(frozen=True)
class Constant:
    """Constants that a kernel makes: an array of this struct code."""

    code: str
    contents: bytes


@dataclass(frozen=True)
class Place:
    """Items in the arena, the state, or the model file.

    role: what the tensor they belong to is to the step: INPUT, OUTPUT, SCRATCH, or "" if unknown.
    """

    memory: str
    offset: int
    code: str
    n: int
    role: str = field(default="", compare=False)


@dataclass(frozen=True)
class Value:
    """What a loop takes besides: a text that a rare one says, a number, or None."""

    value: str | int | None


@dataclass(frozen=True)
class Given:
    """What a program's start gives loops/handover: "h", words that two cores share; "w", those of
    a core's own program; "i", idle.
    """

    name: str


Argument = Loop | Part | Constant | Place | Value | Given | tuple


@dataclass
class Call:
    """A call: its loop and arguments; words: of each block among them when it is made, UNKNOWN
    where a loop wrote; changed: which of them are so when it has returned; origin: which of the
    calls that the step's kernel emitted this is, in whatever part of the step it was recorded.
    """

    loop: Loop
    arguments: tuple[Argument, ...]
    words: dict[int, list[Any]]
    changed: dict[int, list[int]] = field(default_factory=dict)
    origin: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Read:
    """A streamed chunk comes into the arena."""

    chunk: int


@dataclass
class Step:
    """What a step does in a run.

    number: its place in the file, and kernel: its own; None for a read of weights.
    """

    name: str
    calls: list[Call | Read] = field(default_factory=list)
    number: int | None = None
    kernel: str | None = None


class CannotRecord(Exception):
    """A model stays with the kernels; the text is why.

    kernel: that of the step that depends on data, if it is because of one.
    """

    def __init__(self, why: str, kernel: str | None = None):
        super().__init__(why)
        self.kernel = kernel


Border = tuple  # memory, offset, nbytes, dtype, shape, name, (scale, zero point) or None


@dataclass
class Recording:
    """resident: first byte and bytes of what has to be in memory of the file; reads: of each
    streamed chunk where it lies in the file, its bytes, its place in the arena; borders: inputs,
    then outputs.
    """

    steps: list[Step]
    arena_nbytes: int
    state_nbytes: int
    resident: tuple[int, int]
    reads: tuple[tuple[int, int, int], ...]
    borders: tuple[Border, ...]
    n_inputs: int

    @property
    def n_reads(self) -> int:
        """Those of a run."""
        return sum(isinstance(call, Read) for step in self.steps for call in step.calls)


def size_of(argument: Argument) -> tuple[int | None, int]:
    """Return how many items a buffer or a tuple has, and the bytes of one; None of others."""
    if isinstance(argument, Place):
        return argument.n, struct.calcsize(argument.code)
    if isinstance(argument, Constant):
        size = struct.calcsize(argument.code)
        return len(argument.contents) // size, size
    if isinstance(argument, Part):
        return argument.last - argument.first, 4
    return (len(argument), 1) if isinstance(argument, tuple) else (None, 1)


def named(call: Call) -> dict[str, Argument]:
    """Return a call's arguments by their names; of a tuple also each part, as `w[1]`.

    Its loop has to have a declaration.
    """
    return dict(_named(zip(declaration(call.loop).args, call.arguments, strict=True)))


def _named(arguments: Iterable[tuple[str, Argument]]) -> Iterator[tuple[str, Argument]]:
    for name, argument in arguments:
        yield name, argument
        if isinstance(argument, tuple):
            yield from _named((f"{name}[{i}]", each) for i, each in enumerate(argument))


def accesses(call: Call) -> list[access.Access] | None:
    """Return what a call touches, by the declaration of its loop; None where that cannot tell.

    Raises AccessError where its parameters are beyond those that the loop declares.
    """
    loop = declaration(call.loop)
    if loop is None:
        return None
    arguments = named(call)
    block = arguments.get("p")
    if not isinstance(block, Part):
        return None
    sizes = {name: size_of(each)[0] for name, each in arguments.items()}
    lengths = {name: n for name, n in sizes.items() if n is not None}
    try:
        return loop.accesses(call.words[block.block][block.first : block.last], lengths)
    except DependsOnData:
        return None
