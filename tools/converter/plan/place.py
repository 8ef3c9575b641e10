"""Choose the offset of each block in the arena.

A placement follows from an order of the blocks: each takes the lowest free offset. Some order
gives the smallest possible arena (take the blocks of the best arena by offset, and let each fall
as low as it goes). So the search is over orders: a few by rule, each improved by moving the block
that ends highest to the front; then, for small graphs, all orders by branch and bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from .blocks import Block

# Comparisons of blocks in one search: a second or two of Python at most.
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

# For each block (number of a block alive at the same time, bytes before, bytes behind): strictly
# between these bytes before and behind the other's start, this one may not start.
_Neighbours = list[list[tuple[int, int, int]]]


def place(blocks: Sequence[Block], bound: int) -> int:
    """Set the offsets of blocks and return the arena's bytes; stop searching at the bound."""
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
    """A search for the smallest arena.

    Attributes:
        best: offsets of the smallest arena so far.
        nbytes: its size.
        branches: number of branches left.
        shares_start: blocks that may start where another one does.
    """

    def __init__(self, blocks: Sequence[Block], bound: int):
        self.bound = bound
        self.sizes = [b.nbytes for b in blocks]
        self.neighbours = _neighbours(blocks)
        self.excluded = _excluded_by(self.neighbours)
        self.shares_start = {
            i for i, others in enumerate(self.neighbours) if any(not b for _, b, _ in others)
        }
        effort = _EFFORT // max(sum(map(len, self.neighbours)), 1)
        self.rounds = min(effort, _MOST_ROUNDS) + 1
        self.branches = min(effort, _MOST_BRANCHES)
        self.best: list[int] = []
        self.nbytes = sum(self.sizes) + 1

    @property
    def is_done(self) -> bool:
        return self.nbytes <= self.bound

    def improve(self, order: list[int]) -> None:
        """Move the block that ends highest to the front of the order, as long as that may help."""
        for _ in range(self.rounds):
            offsets = self._placed(order)
            self._keep(offsets)
            highest = max(order, key=lambda i: offsets[i] + self.sizes[i], default=None)
            if self.is_done or highest is None or order[0] == highest:
                return
            order.remove(highest)
            order.insert(0, highest)

    def branch(self) -> None:
        """Try every order with ascending offsets, within a limit of branches."""
        if len(self.sizes) > _MOST_BLOCKS:
            return
        lowest = sorted((0, -nbytes, i) for i, nbytes in enumerate(self.sizes))
        self._branch([None] * len(self.sizes), lowest)

    def _branch(self, offsets, lowest, placed=None):
        """Try all orders of the blocks without an offset.

        Args:
            offsets: offset of each block, None if it has none yet.
            lowest: sorted (lowest offset, -size, block), before `placed` had an offset.
            placed: the block placed last; None before the first one.
        """
        self.branches -= 1
        is_complete = None not in offsets
        if is_complete:
            self._keep(offsets[:])
        if is_complete or self.is_done or self.branches < 0:
            return
        if placed is not None:
            lowest = self._raised(lowest, placed, offsets)
        if any(offset - size >= self.nbytes for offset, size, _ in lowest):
            return  # a block cannot end below the best any more
        # some block must start before the end of the one that could start first
        end = min(offset - size for offset, size, _ in lowest)
        for offset, size, i in lowest:
            if offset > end:
                break
            if offset - size >= self.nbytes:
                continue
            offsets[i] = offset
            self._branch(offsets, lowest, i)
            offsets[i] = None

    def _raised(self, lowest, placed, offsets):
        """Return `lowest` without block `placed`, raised for the offset that it got.

        All placed blocks start at or before that offset, so an offset behind one of them stays
        valid: only the new block must be compared. The exception is a block that may start where
        another one does: it overlaps the other as soon as it rises.
        """
        floor = offsets[placed]
        excluded = self.excluded[placed]
        result = []
        for entry in lowest:
            offset, size, i = entry
            if i == placed:
                continue
            place = max(offset, floor)
            for before, behind in excluded.get(i, ()):
                if floor - before < place < floor + behind:
                    place = floor + behind
            if place != offset:
                if i in self.shares_start:
                    place = self._lowest(i, offsets, place)
                entry = place, size, i
            result.append(entry)
        result.sort()
        return result

    def _placed(self, order):
        offsets: list[int | None] = [None] * len(self.sizes)
        for i in order:
            offsets[i] = self._lowest(i, offsets, 0)
        return offsets

    def _lowest(self, i, offsets, floor):
        """Return the lowest offset for block i, from `floor` on, that is free of placed blocks."""
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
    result: _Neighbours = [[] for _ in blocks]
    for i, a in enumerate(blocks):
        for j, b in enumerate(blocks[:i]):
            if a.meets(b):
                for before, behind in _excluded(a, b):
                    result[i].append((j, before, behind))
                    result[j].append((i, behind, before))
    return result


def _excluded_by(neighbours: _Neighbours) -> list[dict[int, list[tuple[int, int]]]]:
    """Return for each block where its neighbours may not start, as in _Neighbours."""
    result: list[dict[int, list[tuple[int, int]]]] = [{} for _ in neighbours]
    for i, others in enumerate(neighbours):
        for j, before, behind in others:
            result[j].setdefault(i, []).append((before, behind))
    return result


def _excluded(a: Block, b: Block) -> list[tuple[int, int]]:
    """Return the ranges in which a must not start: (bytes before b's start, bytes behind it)."""
    before, behind = a.distance(b), b.distance(a)
    if before and behind and (a in b.onto or b in a.onto):
        return [(before, 0), (0, behind)]
    return [(before, behind)]
