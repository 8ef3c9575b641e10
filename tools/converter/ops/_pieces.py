"""Choose how much of a convolution in block floating point the loops compute at a time.

mpconnxr/ops/_block_pieces.py computes it piece by piece. The more the scratch holds at a time, the
fewer calls there are, and the less often a value is converted to a mantissa. A step gets as much
scratch as it may have, and the cut that costs the fewest instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from mpconnxr.ops import _block

from ..ir import Step
from ..shapes.extent import any_open, is_open
from ._block import NARROW
from ._dtypes import UINT32

# The scratch of a step is at most 1 / SHARE of its inputs and outputs, and MOST_WORDS words; but
# at least _MIN_WORDS, and _SINGLE of what the columns of one position take.
SHARE = 16
MOST_WORDS = 1536
_SINGLE = 4 / 3
_MIN_WORDS = 96
_OPEN_SIZE = 64  # rows or positions at a time, at most, if a run decides how many there are
_WIDER = (1024, 768, 512, 384, 320, 256, 224, 192, 176, 160, 144, 128)  # words to request
_MIN_GAIN = 0.05  # share of a step's instructions that requested words have to save

# A search asks for the same sizes again and again.
_shared_columns = lru_cache(4096)(_block.shared_columns)
_places = lru_cache(4096)(_block.convolution_places)

# Instructions on a Cortex-M3.
_COLUMNS, _COLUMN_ROW, _COLUMN_NELEM = 1300, 60, 25  # call of mantissas, a row, an element of it
_ALIGN, _ALIGN_CHANNEL = 700, 80
_SUMS, _RESULT, _PRODUCT = 1700, 110, 2  # calls of dots and finish, a result, a product


class Cut(NamedTuple):
    """Sizes of the pieces of a convolution.

    Attributes:
        rows: rows that are converted to columns of mantissas at a time.
        positions: positions of a row that are converted at a time.
        sums: positions whose sums are computed at a time.
        channels: channels whose sums are computed at a time.
    """

    rows: int
    positions: int
    sums: int
    channels: int


@dataclass
class Pieces:
    """The sizes of a convolution that is computed piece by piece.

    Attributes:
        m: output channels of a group.
        rows: output rows, before pooling.
        positions: output positions of a row, before pooling.
        column_nelem: elements of a column of the window, in all channels.
        kw: columns of the window.
        window: (rows, columns) of the pool after the convolution.
        short: its weights have short mantissas.
    """

    groups: int
    m: int
    rows: int
    positions: int
    column_nelem: int
    kw: int
    stride: int
    dilation: int
    window: tuple[int, int] = (1, 1)
    short: bool = False

    def sizes(self) -> tuple[int, ...]:
        return self.groups, self.m, self.rows, self.positions, self.column_nelem, self.kw

    def columns(self, cut: Cut) -> tuple[int, int]:
        """Return the columns of a row, and how many of them no position starts at."""
        window = self.kw, self.stride, self.dilation
        _, columns, idle = _shared_columns(cut.positions, cut.rows, *window)
        return columns, idle

    def words(self, cut: Cut) -> int:
        """Return the scratch that a cut takes [words]."""
        columns, idle = self.columns(cut)
        words = _block.SHORT_WORDS if self.short else _block.WORDS
        nelem = cut.rows * columns * self.column_nelem
        *_, end = _places(words, cut.channels, cut.sums, cut.rows, idle, nelem)
        return end

    def cost(self, cut: Cut) -> int:
        """Return an estimate of the instructions that depend on the cut."""
        columns, idle = self.columns(cut)
        chunks = -(-self.m // cut.channels)
        gather = _COLUMNS + cut.rows * self.column_nelem * (_COLUMN_ROW + columns * _COLUMN_NELEM)
        sums = chunks * -(-cut.positions // cut.sums) * _SUMS
        align = chunks * _ALIGN + self.m * _ALIGN_CHANNEL if chunks * self.groups > 1 else 0
        unused = idle * (cut.rows - 1) * (self.m + 1)
        unused *= self.kw * self.column_nelem * _PRODUCT + _RESULT // 2
        pieces = -(-self.rows // cut.rows) * -(-self.positions // cut.positions)
        return pieces * (gather + sums + align + unused)

    def fixed_cost(self) -> int:
        """Return an estimate of the instructions for products and results, alike for all cuts."""
        return (
            self.m
            * self.rows
            * self.positions
            * (self.kw * self.column_nelem * _PRODUCT + _RESULT)
        )

    def best(self, words: int) -> Cut:
        """Return the cheapest cut that fits into so many words, or a small one if none does."""
        least = max(self.words(Cut(1, 1, 0, 0)) * _SINGLE, _MIN_WORDS)
        fitting: list[Cut] = []
        for most in (words, least):
            fitting = fitting or [cut for cut in self._cuts() if self.words(cut) <= most]
        return min(fitting, key=lambda cut: (self.cost(cut), self.words(cut)))

    def _cuts(self) -> Iterator[Cut]:
        wide = self.window[1]
        for n in {1, *(wide * windows for windows in _parts(self.positions // wide))}:
            for sums in {1, *(n // i // wide * wide for i in range(1, 5))} - {0}:
                if sums <= n:
                    yield from (Cut(1, n, sums, channels) for channels in _parts(self.m))
        if self.window == (1, 1):
            for rows in _parts(self.rows) - {1}:
                yield Cut(rows, self.positions, self.positions, self.m)


def _parts(n: int) -> set[int]:
    """Return candidates for the size of equal parts of n."""
    return {-(-n // parts) for parts in range(1, 17)} | {n >> i for i in range(n.bit_length())}


def pieces_of(kernel: str, p: Step | Mapping[str, Any], short: bool = False) -> Pieces:
    """Return the sizes of a convolution that decide how it is cut into calls.

    Args:
        kernel: "block_conv" or "conv_max_pool".
        p: the step, or its parameters by name.
        short: the weights have short mantissas.
    """
    *_, stride = p["strides"]
    *_, dilation = p["dilations"]
    oh, ow, column_nelem = p["oh"], p["ow"], p["c"] * p["kh"]
    if kernel == "block_conv":
        rows, n = (_OPEN_SIZE if is_open(d) else d for d in (oh, ow))
        rows = 1 if is_open(ow) else rows  # only whole rows can be combined
        window, column_nelem = (1, 1), column_nelem * p["kd"]
        n = max(n, 1)
    else:
        window = tuple(p["pool"])
        rows, n = oh * window[0], ow * window[1]
    return Pieces(p["g"], p["m"], rows, n, column_nelem, p["kw"], stride, dilation, window, short)


def set_cut(kernel: str, p: Step | dict[str, Any], words: int, short: bool = False) -> int:
    """Set the sizes of a step's pieces for a scratch; return the words that they need.

    Args:
        kernel: name of the kernel.
        p: the step, or a dict of its parameters; changed.
        words: size of the scratch [words].
        short: the weights have short mantissas.
    """
    pieces = pieces_of(kernel, p, short)
    cut = pieces.best(words)
    if kernel == "block_conv":
        p["n_rows"] = cut.rows
    p["n_positions"], p["n_sums"], p["n_channels"] = cut.positions, cut.sums, cut.channels
    return pieces.words(cut)


def lacks(p: Mapping[str, Any], words: int, short: bool = False) -> list[int]:
    """Return the extra sizes of scratch that a block_conv with so many words requests [bytes].

    See Step.lacks. conv_max_pool requests none: a small CNN's first layers decide its arena.
    """
    pieces = pieces_of("block_conv", p, short)
    if any_open(pieces.sizes()):
        return []
    now = pieces.cost(pieces.best(words))
    least = now - _MIN_GAIN * (now + pieces.fixed_cost())
    wider = [n for n in _WIDER if n > words and pieces.cost(pieces.best(n)) <= least]
    return [4 * (n - words) for n in wider]


def words_for(*nbytes: int) -> int:
    """Return the scratch that a step with inputs and outputs of so many bytes may have [words]."""
    return MOST_WORDS if any_open(nbytes) else min(sum(nbytes) // SHARE // 4, MOST_WORDS)


def grow(step: Step, nbytes: int, _lead: int | None = None) -> None:
    """Enlarge a step's scratch to at most `nbytes`: see Step.grow.

    With an FPU all of it is used, for longer rows. Narrow weights get space for their mantissas
    too.
    """
    [scratch] = step.scratch
    if any_open(step.params) or nbytes <= scratch.nbytes:
        return
    dtype = step.inputs[1].dtype
    cut = step.with_params()
    words = set_cut(step.kernel, cut, nbytes // 4, dtype == UINT32)
    words = max(words, min(nbytes // 4, MOST_WORDS))
    if dtype in NARROW:
        pieces = pieces_of(step.kernel, cut)
        weights = pieces.groups * pieces.m * pieces.kw * pieces.column_nelem
        words = max(words, min(words + weights, nbytes // 4))
    if scratch.nbytes < 4 * words <= nbytes:
        step.params, scratch.shape = cut.params, (words,)
