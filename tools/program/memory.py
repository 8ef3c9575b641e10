"""Memory as a kernel sees it while it is recorded: addresses without contents."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from mpconnxr import structview

from .call import DependsOnData


class Memory:
    """A buffer of the board: the arena, the state, or the model file.

    Args:
        name: "arena", "state" or "file".
        nbytes: size.
        offset: offset of its first byte in the board's buffer.
        contents: bytes that are known before a run, else None.
    """

    def __init__(self, name: str, nbytes: int, offset: int = 0, contents: Any = None):
        self.name, self.nbytes, self.offset, self.contents = name, nbytes, offset, contents

    def __len__(self) -> int:
        return self.nbytes


class Region:
    """Elements of a Memory, in place of a typed view.

    Args:
        memory: name of the memory.
        offset: offset of the first byte in the memory.
        code: struct code of the elements.
        n: number of elements.
        contents: a real view if the contents are known, else None.

    Attributes:
        role: INPUT, OUTPUT or SCRATCH by the step's tensor that it views, else "".
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
            raise DependsOnData(f"reads an element of the {self.memory}")
        return self.contents[i]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self.n))

    def __setitem__(self, i: int, value: Any) -> None:
        raise DependsOnData(f"writes an element of the {self.memory}")


def view(memory: Memory, offset: int, code: str, nbytes: int) -> Region:
    """Return a Region: bytes of a memory as elements of a struct code.

    Args:
        memory: the Memory.
        offset: offset of the first byte in it.
        code: struct code.
        nbytes: number of bytes.
    """
    n = nbytes // struct.calcsize(code)
    contents = memory.contents
    if contents is not None:
        contents = structview.view(contents, offset, code, n)
    return Region(memory.name, memory.offset + offset, code, n, contents)
