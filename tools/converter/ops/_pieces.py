"""How much of a convolution in block floating point the loops do at a time.

mpconnxr/ops/_block_pieces.py goes through it in pieces: the more that is in the scratch at a time,
the fewer calls, and the less often a value becomes a mantissa. A step gets as much scratch as it
may have, and takes the cut that costs the fewest instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mpconnxr.ops._block import SHORT_WORDS, WORDS, convolution_places, shared_columns

from ..ir import Step
from ..shapes.extent import any_open, is_open
from ._block import NARROW
from ._dtypes import UINT32

SHARE = 16  # of its input and output that a step's scratch may take up
MOST_WORDS = 1536  # of that
_SINGLE = 4 / 3  # of the columns of one position, where these are more than that
_LEAST = 96  # words, where that is more
_PIECE = 64  # rows or positions at a time, at most, where a run decides how many there are
# Words that a step may ask for.
_WIDER = (1024, 768, 512, 384, 320, 256, 224, 192, 176, 160, 144, 128)
_WORTH = 0.05  # of its instructions, which they have to save

# Instructions on a Cortex-M3.
_COLUMNS, _COLUMN_ROW, _COLUMN_ITEM = 1300, 60, 25  # call of mantissas, a row of items, an item
_ALIGN, _ALIGN_CHANNEL = 700, 80
_SUMS, _RESULT, _PRODUCT = 1700, 110, 2  # calls of dots and finish, a result, a product


class Cut(NamedTuple):
    """Rows and positions that become columns at a time; positions and channels whose sums do."""

    rows: int
    positions: int
    sums: int
    channels: int


@dataclass
class Pieces:
    """A convolution. item: of a column, by kernel row; window: of the pool behind it; short: with
    short mantissas.
    """

    groups: int
    m: int
    rows: int
    positions: int
    item: int
    kw: int
    stride: int
    dilation: int
    window: tuple[int, int] = (1, 1)
    short: bool = False

    def sizes(self) -> tuple[int, ...]:
        return self.groups, self.m, self.rows, self.positions, self.item, self.kw

    def columns(self, cut: Cut) -> tuple[int, int]:
        """(columns of a row, those that no position begins with)"""
        kernel = self.kw, self.stride, self.dilation
        _, columns, idle = shared_columns(cut.positions, cut.rows, *kernel)
        return columns, idle

    def words(self, cut: Cut) -> int:
        """Return the words of scratch."""
        columns, idle = self.columns(cut)
        words = SHORT_WORDS if self.short else WORDS
        nelem = cut.rows * columns * self.item
        *_, end = convolution_places(words, cut.channels, cut.sums, cut.rows, idle, nelem)
        return end

    def cost(self, cut: Cut) -> int:
        """Instructions, about."""
        columns, idle = self.columns(cut)
        chunks = -(-self.m // cut.channels)
        gather = _COLUMNS + cut.rows * self.item * (_COLUMN_ROW + columns * _COLUMN_ITEM)
        sums = chunks * -(-cut.positions // cut.sums) * _SUMS
        align = chunks * _ALIGN + self.m * _ALIGN_CHANNEL if chunks * self.groups > 1 else 0
        unused = idle * (cut.rows - 1) * (self.m + 1)
        unused *= self.kw * self.item * _PRODUCT + _RESULT // 2
        pieces = -(-self.rows // cut.rows) * -(-self.positions // cut.positions)
        return pieces * (gather + sums + align + unused)

    def fixed_cost(self) -> int:
        """Instructions, about, of products and results: the same for all cuts."""
        return self.m * self.rows * self.positions * (self.kw * self.item * _PRODUCT + _RESULT)

    def best(self, words: int) -> Cut:
        """The cheapest cut that so many words are enough for; a small one if none is."""
        least = max(self.words(Cut(1, 1, 0, 0)) * _SINGLE, _LEAST)
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
    """Sizes to choose from for parts of n."""
    return {-(-n // parts) for parts in range(1, 17)} | {n >> i for i in range(n.bit_length())}


def pieces_of(kernel: str, p: Step | Mapping[str, Any], short: bool = False) -> Pieces:
    """Those of a step, by its parameters. short: with short mantissas."""
    *_, stride = p["strides"]
    *_, dilation = p["dilations"]
    oh, ow, item = p["oh"], p["ow"], p["c"] * p["kh"]
    if kernel == "block_conv":
        rows, n = (_PIECE if is_open(d) else d for d in (oh, ow))
        rows = 1 if is_open(ow) else rows  # whole rows alone go together
        window, item = (1, 1), item * p["kd"]
        n = max(n, 1)
    else:
        window = tuple(p["pool"])
        rows, n = oh * window[0], ow * window[1]
    return Pieces(p["g"], p["m"], rows, n, item, p["kw"], stride, dilation, window, short)


def set_cut(kernel: str, p: Step | dict[str, Any], words: int, short: bool = False) -> int:
    """Sets a step's parameters for that much scratch; returns what it needs of it."""
    pieces = pieces_of(kernel, p, short)
    cut = pieces.best(words)
    if kernel == "block_conv":
        p["n_rows"] = cut.rows
    p["n_positions"], p["n_sums"], p["n_channels"] = cut.positions, cut.sums, cut.channels
    return pieces.words(cut)


def lacks(p: Mapping[str, Any], words: int, short: bool = False) -> list[int]:
    """Bytes of scratch that a block_conv asks for beside so many words, the most first: see Step.

    conv_max_pool asks for none: a small CNN's first layers decide its arena.
    """
    pieces = pieces_of("block_conv", p, short)
    if any_open(pieces.sizes()):
        return []
    now = pieces.cost(pieces.best(words))
    least = now - _WORTH * (now + pieces.fixed_cost())
    wider = [n for n in _WIDER if n > words and pieces.cost(pieces.best(n)) <= least]
    return [4 * (n - words) for n in wider]


def words_for(*nbytes: int) -> int:
    """What the scratch of a step may have that has these inputs and outputs."""
    return MOST_WORDS if any_open(nbytes) else min(sum(nbytes) // SHARE // 4, MOST_WORDS)


def grow(step: Step, nbytes: int, _lead: int | None = None) -> None:
    """Gives a step a scratch of so many bytes at most, where that is more than it has.

    An FPU takes all of it, for longer rows; of weights that are narrow there is room for their
    mantissas, too.
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
        weights = pieces.groups * pieces.m * pieces.kw * pieces.item
        words = max(words, min(words + weights, nbytes // 4))
    if scratch.nbytes < 4 * words <= nbytes:
        step.params, scratch.shape = cut.params, (words,)
