"""Blocks -> offsets.

A placement is made from an order of the blocks: each takes the lowest free place. Some order gives
the smallest arena there is (take the blocks of the best arena by offset and let each fall as low
as it goes), so the search is one over orders: a few by rule, each improved by moving what ends
highest to the front, and for small graphs all of them, by branch and bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from .blocks import Block

# What one search may cost, in comparisons of blocks: a second or two of Python at most.
_EFFORT = 3_000_000
_MOST_ROUNDS = 200
_MOST_BRANCHES = 60_000
_MOST_BLOCKS = 400  # of a graph small enough to branch: each is a level of recursion

_RULES = (
    lambda b: (-b.nbytes, b.first),
    lambda b: (b.first, -b.nbytes),
    lambda b: (-b.first, -b.nbytes),
    lambda b: (b.first - b.last, -b.nbytes),
    lambda b: (-b.nbytes * (b.last - b.first + 1), b.first),
)

# Of a block: (number of one that lives at the same time, where this one may not start: between
# so many bytes before the other's start and so many behind it).
_Neighbours = list[list[tuple[int, int, int]]]


def place(blocks: Sequence[Block], bound: int) -> int:
    """Sets the offsets; returns the bytes of arena they need. bound: where to stop searching."""
    search = _Search(blocks, bound)
    for rule in _RULES:
        search.improve(sorted(range(len(blocks)), key=lambda i: rule(blocks[i])))
        if search.is_done:
            break
    if not search.is_done:
        search.branch()
    for block, offset in zip(blocks, search.best, strict=True):
        block.offset = offset
    return search.nbytes


class _Search:
    """best: the offsets of the smallest arena so far; nbytes: its size."""

    def __init__(self, blocks: Sequence[Block], bound: int):
        self.bound = bound
        self.sizes = [b.nbytes for b in blocks]
        self.neighbours = _neighbours(blocks)
        effort = _EFFORT // max(sum(map(len, self.neighbours)), 1)
        self.rounds = min(effort, _MOST_ROUNDS) + 1
        self.branches = min(effort, _MOST_BRANCHES)  # that are left
        self.best: list[int] = []
        self.nbytes = sum(self.sizes) + 1

    @property
    def is_done(self) -> bool:
        return self.nbytes <= self.bound

    def improve(self, order: list[int]) -> None:
        """From an order on: what ends highest goes first, as long as that may help."""
        for _ in range(self.rounds):
            offsets = self._placed(order)
            self._keep(offsets)
            highest = max(order, key=lambda i: offsets[i] + self.sizes[i], default=None)
            if self.is_done or highest is None or order[0] == highest:
                return
            order.remove(highest)
            order.insert(0, highest)

    def branch(self) -> None:
        """Every order in which offsets do not fall, within a limit of branches."""
        if len(self.sizes) > _MOST_BLOCKS:
            return
        self._branch([None] * len(self.sizes), set(range(len(self.sizes))), 0)

    def _branch(self, offsets, rest, floor):
        self.branches -= 1
        if not rest:
            self._keep([o or 0 for o in offsets])
        if not rest or self.is_done or self.branches < 0:
            return
        lowest = sorted((self._lowest(i, offsets, floor), -self.sizes[i], i) for i in rest)
        if any(offset - size >= self.nbytes for offset, size, _ in lowest):
            return  # one of them cannot end below the best any more
        # some block must start before the end of the one that could start first
        end = min(offset - size for offset, size, _ in lowest)
        for offset, _, i in lowest:
            if offset > end or offset + self.sizes[i] >= self.nbytes:
                continue
            offsets[i] = offset
            self._branch(offsets, rest - {i}, offset)
            offsets[i] = None

    def _placed(self, order):
        offsets: list[int | None] = [None] * len(self.sizes)
        for i in order:
            offsets[i] = self._lowest(i, offsets, 0)
        return offsets

    def _lowest(self, i, offsets, floor):
        """Lowest place for block i, from `floor` on, beside those that have one."""
        taken = sorted(
            (offsets[j] - before, offsets[j] + behind)
            for j, before, behind in self.neighbours[i]
            if offsets[j] is not None
        )
        for start, end in taken:
            if floor <= start:
                break
            floor = max(floor, end)
        return floor

    def _keep(self, offsets):
        nbytes = max((o + n for o, n in zip(offsets, self.sizes, strict=True)), default=0)
        if nbytes < self.nbytes:
            self.best, self.nbytes = offsets, nbytes


def _neighbours(blocks: Sequence[Block]) -> _Neighbours:
    found: _Neighbours = [[] for _ in blocks]
    for i, a in enumerate(blocks):
        for j, b in enumerate(blocks[:i]):
            if a.meets(b):
                for before, behind in _excluded(a, b):
                    found[i].append((j, before, behind))
                    found[j].append((i, behind, before))
    return found


def _excluded(a: Block, b: Block) -> list[tuple[int, int]]:
    """Where a may not start: strictly between these bytes before and behind b's start."""
    before, behind = a.distance(b), b.distance(a)
    if before and behind and (a in b.onto or b in a.onto):
        return [(before, 0), (0, behind)]
    return [(before, behind)]
