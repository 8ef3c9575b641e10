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
        self.excluded = _excluded_by(self.neighbours)
        self.shares_start = {
            i for i, others in enumerate(self.neighbours) if any(not b for _, b, _ in others)
        }
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
        lowest = sorted((0, -nbytes, i) for i, nbytes in enumerate(self.sizes))
        self._branch([None] * len(self.sizes), lowest)

    def _branch(self, offsets, lowest, placed=None):
        """Try all orders of the blocks without an offset.

        Args:
            offsets: by block, None where a block has none yet.
            lowest: sorted (lowest place, -size, block) as they were before `placed` had a place.
            placed: the block that took its place last; None before the first one.

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
            return  # one of them cannot end below the best any more
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
        """Return `lowest` without `placed`, for places from that block's offset on.

        All blocks that have a place start at or before that offset, so a place behind one of
        them stays behind it: only the new one must be compared. Not so the place of a block that
        may start where another one does, and then lies over it as soon as it rises.
        """
        floor = offsets[placed]
        excluded = self.excluded[placed]
        found = []
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
            found.append(entry)
        found.sort()
        return found

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


def _excluded_by(neighbours: _Neighbours) -> list[dict[int, list[tuple[int, int]]]]:
    """By block: where each of its neighbours may not start, as in _Neighbours."""
    found: list[dict[int, list[tuple[int, int]]]] = [{} for _ in neighbours]
    for i, others in enumerate(neighbours):
        for j, before, behind in others:
            found[j].setdefault(i, []).append((before, behind))
    return found


def _excluded(a: Block, b: Block) -> list[tuple[int, int]]:
    """Where a may not start: strictly between these bytes before and behind b's start."""
    before, behind = a.distance(b), b.distance(a)
    if before and behind and (a in b.onto or b in a.onto):
        return [(before, 0), (0, behind)]
    return [(before, behind)]
