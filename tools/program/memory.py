"""What a kernel sees of memory while it is recorded: where things lie, not what is in them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

INPUT, OUTPUT, SCRATCH = "input", "output", "scratch"  # what a tensor is to a step


class DependsOnData(Exception):
    """A step reads in Python what only a run knows, so its calls cannot be told in advance."""


class Memory:
    """A buffer of the board: the arena, the state, or the model file.

    offset: what its first byte is there; contents: of what is known before a run, else None.
    """

    def __init__(self, name: str, nbytes: int, offset: int = 0, contents: Any = None):
        self.name, self.nbytes, self.offset, self.contents = name, nbytes, offset, contents

    def __len__(self) -> int:
        return self.nbytes


class Region:
    """Items of a Memory, as a typed view shows them.

    offset: of its first byte in the memory; code: struct code of an item; contents: a real view
    where they are known, else None; role: INPUT, OUTPUT or SCRATCH, by the step's tensor whose
    view it is, else "".
    """

    role = ""

    def __init__(self, memory: str, offset: int, code: str, n: int, contents: Any = None):
        self.memory, self.offset, self.code, self.n = memory, offset, code, n
        self.contents = contents

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            start, stop, _ = i.indices(self.n)
            contents = None if self.contents is None else self.contents[i]
            offset = self.offset + start * struct.calcsize(self.code)
            part = Region(self.memory, offset, self.code, max(0, stop - start), contents)
            part.role = self.role
            return part
        if self.contents is None:
            raise DependsOnData(f"reads an item of the {self.memory}")
        return self.contents[i]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.n))

    def __setitem__(self, i: int, value: Any) -> None:
        raise DependsOnData(f"writes an item of the {self.memory}")


def view(buffer: Memory | Region, offset: int, code: str, n: int) -> Region:
    """mpconnxr.tensor.view of a Memory, or of a Region of bytes."""
    from mpconnxr import structview

    contents = None
    if buffer.contents is not None:
        contents = structview.view(buffer.contents, offset, code, n)
    if isinstance(buffer, Memory):
        return Region(buffer.name, buffer.offset + offset, code, n, contents)
    made = Region(buffer.memory, buffer.offset + offset, code, n, contents)
    made.role = buffer.role
    return made


class Unknown:
    """A word that a loop wrote. It can be handed to another loop, and that is all."""

    def _refuse(self, *_: Any) -> Any:
        raise DependsOnData("computes with what a loop wrote to its parameters")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = _refuse
    __rfloordiv__ = __mod__ = __rmod__ = __lshift__ = __rshift__ = __and__ = __or__ = _refuse
    __xor__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__ = __ne__ = __bool__ = _refuse
    __index__ = __int__ = __float__ = __hash__ = __neg__ = __invert__ = _refuse


UNKNOWN = Unknown()


class Block:
    """A block of parameters, or a part of one, as memoryviews of an array are.

    words: of the whole block, which its parts share; first, last: those of this part.
    """

    def __init__(self, words: list[Any], first: int = 0, last: int | None = None):
        self.words, self.first = words, first
        self.last = len(words) if last is None else last

    def __len__(self) -> int:
        return self.last - self.first

    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            start, stop, _ = i.indices(len(self))
            return Block(self.words, self.first + start, self.first + max(start, stop))
        return self.words[self._at(i)]

    def __setitem__(self, i: int, value: Any) -> None:
        if isinstance(value, Unknown):
            raise DependsOnData("moves what a loop wrote to another place")
        self.words[self._at(i)] = int(value)

    def forget(self, i: int) -> None:
        """Word i is what a loop wrote from now on."""
        self.words[self._at(i)] = UNKNOWN

    def append(self, value: int) -> None:
        """Add a word."""
        self.words.append(int(value))
        self.last += 1

    def _at(self, i: int) -> int:
        if not -len(self) <= i < len(self):
            raise IndexError("outside of a block")
        return self.first + i % len(self)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.words[self.first : self.last])


def block(*values: int) -> Block:
    """mpconnxr.parameters.block"""
    return Block([int(v) for v in values])


class _Viewed(type):
    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, memoryview)


class BlockView(metaclass=_Viewed):
    """memoryview, for kernels: that of a Block is the Block."""

    def __new__(cls, thing: Any) -> Any:
        """Return a view that the recorder knows."""
        return thing if isinstance(thing, Block | Region) else memoryview(thing)


def flat(values: Iterable[Any]) -> Iterator[Any]:
    """What is in lists and tuples, and in those inside of them."""
    for v in values:
        if isinstance(v, list | tuple):
            yield from flat(v)
        else:
            yield v
