"""Which bytes a recorded call reads and writes, by the declaration of its loop.

A declared range extends from the first item to the last one. Of the loops in _ITEMS also the
items themselves are known, which tells parts of a strided tensor apart.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mpconnxr.parameters import BIAS
from tools.loops import access

from .memory import DependsOnData
from .record import Argument, Call, Part, Place, Table

_LOOPS = Path(__file__).parents[2] / "mpconnxr" / "loops"


@dataclass(frozen=True)
class Bytes:
    """From low to high - 1 of a memory. role: that of the Place they are in."""

    memory: str
    low: int
    high: int
    role: str = field(default="", compare=False)

    def overlaps(self, other: Bytes) -> bool:
        """Whether they have a byte in common."""
        same = self.memory == other.memory
        return same and self.low < other.high and other.low < self.high


Items = Callable[[Sequence[int]], np.ndarray]
# By family, loop, argument: the items of it that a call touches.
_ITEMS: dict[tuple[str, str, str], Items] = {}


@dataclass(frozen=True)
class Touched:
    """What a call may read and write, each a list of ranges.

    items: numbers of bytes of the arena in place of ranges of it: {range: its bytes}.
    """

    reads: tuple[Bytes, ...]
    writes: tuple[Bytes, ...]
    items: dict[Bytes, Callable[[], np.ndarray]]

    def bytes_of(self, r: Bytes) -> slice | np.ndarray:
        """Return the bytes of one of the ranges, as an index into its memory."""
        return self.items[r]() if r in self.items else slice(r.low, r.high)


def touched(call: Call) -> Touched | None:
    """None where no declaration tells, as of a loop that calls others."""
    path = _LOOPS / f"{call.loop.family}.py"
    loop = access.read(path).get(call.loop.name) if path.exists() else None
    if loop is None or loop.of_others or not loop.is_declared or len(loop.args) != 4:
        return None
    named = dict(zip(loop.args, call.arguments, strict=True))
    block = named.get("p")
    if not isinstance(block, Part):
        return None
    lengths = {name: n for name, a in named.items() if (n := _length(a)) is not None}
    words = call.words[block.block][block.first : block.last]
    try:
        found = loop.accesses(words, lengths)
    except (access.AccessError, DependsOnData):
        return None
    kinds: dict[str, list[Bytes]] = {"reads": [], "writes": []}
    items = {}
    for a in found:
        argument = named.get(a.argument)
        if isinstance(argument, Place):
            size = a.nbytes or struct.calcsize(argument.code)
            first = argument.offset
            low, high = first + a.low * size, first + a.high * size
            made = Bytes(argument.memory, low, high, argument.role)
            kinds[a.kind].append(made)
            exact = _ITEMS.get((call.loop.family, call.loop.name, a.argument))
            if exact:
                items[made] = _bytes(exact, words, first, size)
        elif not isinstance(argument, Part | Table):
            return None
    return Touched(tuple(kinds["reads"]), tuple(kinds["writes"]), items)


def _length(a: Argument) -> int | None:
    if isinstance(a, Place):
        return a.n
    if isinstance(a, Part):
        return a.last - a.first
    if isinstance(a, Table):
        return len(a.contents) // struct.calcsize(a.code)
    return None


def _bytes(exact: Items, words: Sequence[int], first: int, size: int) -> Callable[[], np.ndarray]:
    """Return what gives the bytes of items of so many bytes, from this one on."""
    return lambda: (first + exact(words)[:, None] * size + np.arange(size)).ravel()


def merged(ranges: Iterable[Bytes]) -> list[Bytes]:
    """The same bytes in as few ranges as can be, in their order."""
    found: list[Bytes] = []
    for r in sorted(ranges, key=lambda r: (r.memory, r.low)):
        if found and found[-1].memory == r.memory and r.low <= found[-1].high:
            found[-1] = Bytes(r.memory, found[-1].low, max(r.high, found[-1].high))
        else:
            found.append(r)
    return found


def meet(a: Iterable[Bytes], b: Iterable[Bytes]) -> bool:
    """Whether ranges have bytes in common."""
    return any(one.overlaps(other) for one in a for other in b)


def _items_of(family: str, names: str, argument: str) -> Callable[[Items], Items]:
    def declared(function: Items) -> Items:
        for name in names.split():
            _ITEMS[family, name, argument] = function
        return function

    return declared


@_items_of("qdot", "qdots8 qdots8_many", "out")
def _dots(p: Sequence[int]) -> np.ndarray:
    positions, channels = np.arange(p[3])[:, None], np.arange(p[4])
    return (p[5] + positions * p[6] + channels * p[7]).ravel()


@_items_of("depthwise", "depthwise8 depthwise33 depthwise_dense", "out")
def _depthwise(p: Sequence[int]) -> np.ndarray:
    channels, positions = np.arange(p[2] * p[3])[:, None], np.arange(p[8] * p[9])
    return (p[14] + channels * p[15] + positions * p[16]).ravel()


@_items_of("planes", "planes", "x")
def _planes(p: Sequence[int]) -> np.ndarray:
    rows = np.arange(p[11] - BIAS, p[11] - BIAS + p[4])
    rows = rows[(rows >= 0) & (rows < p[3])]
    planes, columns = np.arange(p[1])[:, None, None], np.arange(p[9])
    return (p[0] + planes * p[2] + rows[:, None] * p[5] + columns * p[6]).ravel()


@_items_of("patches", "patches", "x")
def _patches(p: Sequence[int]) -> np.ndarray:
    y, x = np.divmod(p[16] * p[15] + p[17] + np.arange(p[20]), p[15])
    y = (p[22] - BIAS + y * p[11]).reshape(-1, 1, 1, 1)
    x = (p[23] - BIAS + x * p[12]).reshape(-1, 1, 1, 1)
    ky, kx = np.arange(p[2])[:, None], np.arange(p[3])
    at = p[0] + y * p[13] + x * p[14] + np.arange(p[1]).reshape(-1, 1, 1) * p[4]
    at = at + ky * p[5] + kx * p[6]
    y, x = y + ky * p[9], x + kx * p[10]
    is_within = (y >= 0) & (y < p[7]) & (x >= 0) & (x < p[8])
    return at[np.broadcast_to(is_within, at.shape)]


@_items_of("pool", "max_row32 max_row8 find_row32 find_row8", "x")
def _window_row(p: Sequence[int]) -> np.ndarray:
    _, depth, height, width, *taps = p[:7]
    z, y, x = (np.arange(n) * by for n, by in zip(taps, p[7:10], strict=True))
    z, y = z + p[10] - BIAS, y + p[11] - BIAS
    x = (np.arange(p[15], p[16])[:, None] * p[13] - (p[12] - BIAS) + x).ravel()
    z, y, x = (
        at[(at >= 0) & (at < n)] for at, n in ((z, depth), (y, height), (np.unique(x), width))
    )
    return (p[0] + ((z[:, None] * height + y)[:, :, None]) * width + x).ravel()
