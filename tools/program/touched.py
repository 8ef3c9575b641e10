"""Determine the bytes that a recorded call reads and writes, by its loop's declaration.

A declared range extends from the first element to the last one. For the loops in _EXACT the exact
elements are known too, which tells parts of a strided tensor apart.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from tools import access
from tools.loops.parameters import by_name

from .call import Call, Constant, Part, Place, accesses, named


@dataclass(frozen=True)
class Bytes:
    """Bytes low to high - 1 of a memory.

    Attributes:
        role: role of the Place that they belong to.
    """

    memory: str
    low: int
    high: int
    role: str = field(default="", compare=False)

    def overlaps(self, other: Bytes) -> bool:
        """Return True if two ranges share a byte."""
        same = self.memory == other.memory
        return same and self.low < other.high and other.low < self.high


Elements = Callable[[Sequence[int]], np.ndarray]
Named = Callable[[SimpleNamespace], np.ndarray]
# {(family, loop, argument): function that returns the elements that a call accesses}.
_EXACT: dict[tuple[str, str, str], Elements] = {}


@dataclass(frozen=True)
class Touched:
    """Ranges that a call may read and write.

    Attributes:
        exact: {range of the arena: function that returns the exact bytes}.
    """

    reads: tuple[Bytes, ...]
    writes: tuple[Bytes, ...]
    exact: dict[Bytes, Callable[[], np.ndarray]]

    def bytes_of(self, r: Bytes) -> slice | np.ndarray:
        """Return the bytes of one of the ranges, as an index into its memory."""
        return self.exact[r]() if r in self.exact else slice(r.low, r.high)


def touched(call: Call) -> Touched | None:
    """Return the bytes that a call accesses; None if no declaration says so, as for drivers."""
    try:
        accessed = accesses(call)
    except access.AccessError:
        return None
    if accessed is None:
        return None
    arguments = named(call)
    block = arguments["p"]
    words = call.words[block.block][block.first : block.last]
    kinds: dict[str, list[Bytes]] = {"reads": [], "writes": []}
    elements = {}
    for a in accessed:
        argument = arguments.get(a.argument)
        if isinstance(argument, Place):
            size = a.nbytes or struct.calcsize(argument.code)
            first = argument.offset
            low, high = first + a.low * size, first + a.high * size
            made = Bytes(argument.memory, low, high, argument.role)
            kinds[a.kind].append(made)
            exact = _EXACT.get((call.loop.family, call.loop.name, a.argument))
            if exact:
                elements[made] = _bytes(exact, words, first, size)
        elif not isinstance(argument, Part | Constant):
            return None
    return Touched(tuple(kinds["reads"]), tuple(kinds["writes"]), elements)


def _bytes(
    exact: Elements, words: Sequence[int], first: int, size: int
) -> Callable[[], np.ndarray]:
    """Return a function that computes the bytes of exact elements.

    Args:
        exact: function of the words; returns the elements.
        words: the call's parameters.
        first: offset of element 0 [bytes].
        size: size of an element [bytes].
    """
    return lambda: (first + exact(words)[:, None] * size + np.arange(size)).ravel()


def merged(ranges: Iterable[Bytes]) -> list[Bytes]:
    """Return ranges that cover these bytes, as few as possible and sorted."""
    result: list[Bytes] = []
    for r in sorted(ranges, key=lambda r: (r.memory, r.low)):
        if result and result[-1].memory == r.memory and r.low <= result[-1].high:
            result[-1] = Bytes(r.memory, result[-1].low, max(r.high, result[-1].high))
        else:
            result.append(r)
    return result


def meet(a: Iterable[Bytes], b: Iterable[Bytes]) -> bool:
    """Return True if two lists of ranges share a byte."""
    return any(one.overlaps(other) for one in a for other in b)


def _exact_for(family: str, names: str, argument: str) -> Callable[[Named], Named]:
    def of_words(function: Named, name: str) -> Elements:
        return lambda words: function(by_name(family, name, words))

    def declared(function: Named) -> Named:
        for name in names.split():
            _EXACT[family, name, argument] = of_words(function, name)
        return function

    return declared


@_exact_for("qdot", "qdots8 qdots8_many", "out")
@_exact_for("qdot32", "qdots32", "out")
def _dots(p: SimpleNamespace) -> np.ndarray:
    positions, channels = np.arange(p.positions)[:, None], np.arange(p.channels)
    at = positions * p.out_position_stride + channels * p.out_channel_stride
    return (p.out_start + at).ravel()


@_exact_for("depthwise", "depthwise8 depthwise33 depthwise_dense", "out")
def _depthwise(p: SimpleNamespace) -> np.ndarray:
    channels = np.arange(p.planes * p.depth_multiplier)[:, None]
    positions = np.arange(p.out_rows * p.out_columns)
    at = channels * p.out_channel_stride + positions * p.out_position_stride
    return (p.out_start + at).ravel()


@_exact_for("planes", "planes", "x")
def _planes(p: SimpleNamespace) -> np.ndarray:
    rows = p.first_row + np.arange(p.out_rows)
    rows = rows[(rows >= 0) & (rows < p.rows)]
    planes, columns = np.arange(p.planes)[:, None, None], np.arange(p.columns)
    at = planes * p.x_plane_stride + rows[:, None] * p.x_row_stride
    return (p.x_start + at + columns * p.x_column_stride).ravel()


@_exact_for("patches", "patches", "x")
def _patches(p: SimpleNamespace) -> np.ndarray:
    first = p.row * p.out_columns + p.column
    y, x = np.divmod(first + np.arange(p.positions), p.out_columns)
    y = p.corner_row + y * p.row_stride
    x = p.corner_column + x * p.column_stride
    y, x = (corner.reshape(-1, 1, 1, 1) for corner in (y, x))
    channels = np.arange(p.channels).reshape(-1, 1, 1)
    ky, kx = np.arange(p.kernel_rows)[:, None], np.arange(p.kernel_columns)
    at = p.x_start + y * p.x_row_stride + x * p.x_column_stride
    at = at + channels * p.x_channel_stride
    at = at + ky * p.kernel_row_step + kx * p.kernel_column_step
    y, x = y + ky * p.row_dilation, x + kx * p.column_dilation
    is_within = (y >= 0) & (y < p.rows) & (x >= 0) & (x < p.columns)
    return at[np.broadcast_to(is_within, at.shape)]


@_exact_for("pool", "max_row32 max_row8 find_row32 find_row8", "x")
def _window_row(p: SimpleNamespace) -> np.ndarray:
    out_columns = np.arange(p.start, p.end)[:, None]
    corners = out_columns * p.column_stride - p.column_padding
    z = p.corner_depth + np.arange(p.kernel_depth) * p.depth_dilation
    y = p.corner_row + np.arange(p.kernel_rows) * p.row_dilation
    x = np.unique(corners + np.arange(p.kernel_columns) * p.column_dilation)
    depth, height, width = p.depth, p.rows, p.columns
    z, y, x = (at[(at >= 0) & (at < n)] for at, n in ((z, depth), (y, height), (x, width)))
    return (p.x_start + ((z[:, None] * height + y)[:, :, None]) * width + x).ravel()
