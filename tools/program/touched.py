"""Which bytes a recorded call reads and writes, by the declaration of its loop.

A declared range extends from the first item to the last one. Of the loops in _ITEMS also the
items themselves are known, which tells parts of a strided tensor apart.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mpconnxr.parameters import BIAS
from tools import access

from .memory import DependsOnData
from .parameters import Depthwise, Dots, Patches, Planes, Pool
from .record import Argument, Call, Part, Place, Table, declaration


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
    loop = declaration(call.loop)
    if loop is None or len(loop.args) != 4:
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
@_items_of("qdot32", "qdots32", "out")
def _dots(p: Sequence[int]) -> np.ndarray:
    positions, channels = np.arange(p[Dots.POSITIONS])[:, None], np.arange(p[Dots.CHANNELS])
    at = positions * p[Dots.OUT_POSITION_STRIDE] + channels * p[Dots.OUT_CHANNEL_STRIDE]
    return (p[Dots.OUT_START] + at).ravel()


@_items_of("depthwise", "depthwise8 depthwise33 depthwise_dense", "out")
def _depthwise(p: Sequence[int]) -> np.ndarray:
    channels = np.arange(p[Depthwise.PLANES] * p[Depthwise.CHANNELS_A_PLANE])[:, None]
    positions = np.arange(p[Depthwise.OUT_ROWS] * p[Depthwise.OUT_COLUMNS])
    at = channels * p[Depthwise.OUT_CHANNEL_STRIDE] + positions * p[Depthwise.OUT_POSITION_STRIDE]
    return (p[Depthwise.OUT_START] + at).ravel()


@_items_of("planes", "planes", "x")
def _planes(p: Sequence[int]) -> np.ndarray:
    rows = p[Planes.FIRST_ROW] - BIAS + np.arange(p[Planes.ROWS])
    rows = rows[(rows >= 0) & (rows < p[Planes.X_ROWS])]
    planes, columns = np.arange(p[Planes.PLANES])[:, None, None], np.arange(p[Planes.COLUMNS])
    at = planes * p[Planes.PLANE_STRIDE] + rows[:, None] * p[Planes.ROW_STRIDE]
    return (p[Planes.X_START] + at + columns * p[Planes.COLUMN_STRIDE]).ravel()


@_items_of("patches", "patches", "x")
def _patches(p: Sequence[int]) -> np.ndarray:
    first = p[Patches.OUT_ROW] * p[Patches.OUT_COLUMNS] + p[Patches.OUT_COLUMN]
    y, x = np.divmod(first + np.arange(p[Patches.POSITIONS]), p[Patches.OUT_COLUMNS])
    y = p[Patches.CORNER_ROW] - BIAS + y * p[Patches.WINDOW_ROW_STRIDE]
    x = p[Patches.CORNER_COLUMN] - BIAS + x * p[Patches.WINDOW_COLUMN_STRIDE]
    y, x = (corner.reshape(-1, 1, 1, 1) for corner in (y, x))
    channels = np.arange(p[Patches.CHANNELS]).reshape(-1, 1, 1)
    ky, kx = np.arange(p[Patches.KERNEL_ROWS])[:, None], np.arange(p[Patches.KERNEL_COLUMNS])
    at = p[Patches.X_START] + y * p[Patches.ROW_STRIDE] + x * p[Patches.COLUMN_STRIDE]
    at = at + channels * p[Patches.CHANNEL_STRIDE]
    at = at + ky * p[Patches.KERNEL_ROW_STEP] + kx * p[Patches.KERNEL_COLUMN_STEP]
    y, x = y + ky * p[Patches.ROW_DILATION], x + kx * p[Patches.COLUMN_DILATION]
    is_within = (y >= 0) & (y < p[Patches.X_ROWS]) & (x >= 0) & (x < p[Patches.X_COLUMNS])
    return at[np.broadcast_to(is_within, at.shape)]


@_items_of("pool", "max_row32 max_row8 find_row32 find_row8", "x")
def _window_row(p: Sequence[int]) -> np.ndarray:
    out_columns = np.arange(p[Pool.FIRST_COLUMN], p[Pool.END_COLUMN])[:, None]
    corners = out_columns * p[Pool.WINDOW_COLUMN_STRIDE] - (p[Pool.COLUMN_PAD] - BIAS)
    z = p[Pool.CORNER_DEPTH] - BIAS + np.arange(p[Pool.KERNEL_DEPTH]) * p[Pool.DEPTH_DILATION]
    y = p[Pool.CORNER_ROW] - BIAS + np.arange(p[Pool.KERNEL_ROWS]) * p[Pool.ROW_DILATION]
    x = np.unique(corners + np.arange(p[Pool.KERNEL_COLUMNS]) * p[Pool.COLUMN_DILATION])
    depth, height, width = p[Pool.X_DEPTH], p[Pool.X_ROWS], p[Pool.X_COLUMNS]
    z, y, x = (at[(at >= 0) & (at < n)] for at, n in ((z, depth), (y, height), (x, width)))
    return (p[Pool.X_START] + ((z[:, None] * height + y)[:, :, None]) * width + x).ravel()
