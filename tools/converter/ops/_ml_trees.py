"""Pack decision trees into the table of integers that kernels trees and trees_float walk.

Every node mode becomes comparisons x <= cut in float32 or float64:

    x < t    x <= the value below t            x > t   not x <= t
    x >= t   not x < t                         x == t  x <= t and not x < t
    x in {a, b, ...}    x == a or x == b or ...
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import Problem
from ._tree_leaves import Leaves

LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, NEVER = range(8)

_LEAF = 1 << 29  # flag of a root that is a leaf


@dataclass
class Branch:
    """A node of a tree that is not a leaf.

    Attributes:
        mode: how `feature` is compared with `value`, or with `members`.
        on_true: index of the branch that follows, or ~index of the leaf.
        on_false: index of the branch or ~index of the leaf if the comparison is false.
        missing: NaN counts as true.
    """

    mode: int
    feature: int
    value: np.float32
    on_true: int
    on_false: int
    missing: bool
    members: Sequence[np.float32] = ()


@dataclass
class Forest:
    """Trees over common lists of nodes.

    Attributes:
        roots: index of a branch, or ~index of a leaf, for each tree.
        leaves: a list of (target, weight) for each leaf.
    """

    branches: list[Branch]
    roots: list[int]
    leaves: list[list[tuple[int, np.float32]]]


@dataclass
class Table:
    """The constants and parameters of kernel trees or trees_float.

    Attributes:
        cuts: thresholds; None if they are in `words`.
        n_slots: number of (feature, missing) pairs.
        wide: nodes have three words rather than two.
        rank_bits: bits of a node's threshold index.
    """

    words: np.ndarray
    cuts: np.ndarray | None
    leaves: Leaves
    n_trees: int
    n_slots: int
    n_cuts: int
    n_nodes: int
    wide: int
    rank_bits: int


def pack(forest: Forest, gather: Callable[[list[int]], Leaves], dtype: type = np.float32) -> Table:
    """Pack a forest for features and cuts of a dtype. Its modes are replaced.

    gather(numbers) returns Leaves for the leaves in use.
    """
    _compare_only(forest.branches)
    order = _order(forest)
    leaves = gather(_used_leaves(forest, order))
    slots = _slots([forest.branches[i] for i in order])
    ahead, rank_bits, nodes = _nodes(forest.branches, order, leaves.numbers, slots)
    wide = ahead >= 1 << 14 or leaves.end > 1 << 14
    rows = [
        [v, left, right] if wide else [v, left << 15 | right] for v, left, right in nodes(wide)
    ]
    position = {i: n for n, i in enumerate(order)}
    roots = [_LEAF | leaves.numbers[~r] if r < 0 else position[r] for r in forest.roots]
    cuts = [c for values in slots.values() for c in values]
    keys = [_key(c) for c in cuts] if dtype == np.float32 else []
    words = np.array([*roots, *_slot_words(slots), *keys, *itertools.chain(*rows)], np.int32)
    apart = None if dtype == np.float32 else np.array(cuts or [0], dtype)
    counts = (len(roots), len(slots), len(cuts), len(order), int(wide), rank_bits)
    return Table(words, apart, leaves, *counts)


def _compare_only(branches):
    """Replace every mode except LEQ and NEVER, in place; add branches where necessary."""
    for b in branches:  # which includes those that are added meanwhile
        if b.mode == MEMBER:
            _split_members(branches, b)
        if np.isnan(b.value) and b.mode in (EQ, LEQ, LT, GTE, GT):
            b.mode = NEVER
        elif np.isnan(b.value) and b.mode == NEQ:
            b.mode, b.on_false = NEVER, b.on_true
        if b.mode == NEQ:
            b.mode, b.missing = EQ, False
            b.on_true, b.on_false = b.on_false, b.on_true
        if b.mode == EQ:
            below = replace(b, mode=LT, on_true=b.on_false, on_false=b.on_true, missing=False)
            branches.append(below)
            b.mode, b.on_true = LEQ, len(branches) - 1
        if b.mode in (GTE, GT):
            b.mode, b.missing = LT if b.mode == GTE else LEQ, not b.missing
            b.on_true, b.on_false = b.on_false, b.on_true
        if b.mode == LT:
            b.mode = NEVER if b.value == -np.inf else LEQ
            b.value = np.nextafter(b.value, b.value.dtype.type(-np.inf))


def _split_members(branches, b):
    if not b.members:
        b.mode = NEVER
        return
    b.mode, b.value, others = EQ, b.members[0], b.members[1:]
    if others:
        branches.append(replace(b, mode=MEMBER, members=others))
        b.on_false = len(branches) - 1


def _order(forest):
    """Return the reachable branches, parents before children."""
    is_finished, order = {}, []
    for root in reversed(forest.roots):
        stack = [(root, False)]
        while stack:
            i, has_finished_children = stack.pop()
            if has_finished_children:
                is_finished[i] = True
                order.append(i)
            elif i >= 0 and i not in is_finished:
                is_finished[i] = False
                b = forest.branches[i]
                stack += [(i, True), (b.on_true, False), (b.on_false, False)]
            elif i >= 0 and not is_finished[i]:
                raise Problem("a tree whose nodes form a circle")
    return order[::-1]


def _used_leaves(forest, order):
    """Return the reachable leaves, in the order of their trees."""
    used = [r for r in forest.roots if r < 0]
    for i in order:
        used += [r for r in (forest.branches[i].on_true, forest.branches[i].on_false) if r < 0]
    return list(dict.fromkeys(~r for r in used))


def _slots(branches):
    """Return the sorted cuts of each (feature, whether NaN goes left)."""
    cuts: dict[tuple[int, bool], set] = {}
    for b in branches:
        values = cuts.setdefault((b.feature, b.missing), set())
        if b.mode == LEQ:
            values.add(b.value + np.float32(0))  # no -0
    return {slot: sorted(cuts[slot]) for slot in sorted(cuts)}


def _slot_words(slots):
    words, first = [], 0
    for (feature, missing), cuts in slots.items():
        words += [feature * 2 + missing, first, sum(c < 0 for c in cuts), len(cuts)]
        first += len(cuts)
    return words


def _key(cut):
    """Return the bits of a float32 without sign; for a negative one 2**31 - 1 minus its bits."""
    bits = int(np.float32(cut).view(np.uint32)) & 0x7FFFFFFF
    return 0x7FFFFFFF - bits if cut < 0 else bits


def _nodes(branches, order, leaf_ids, slots):
    """Prepare the words of inner nodes.

    Args:
        branches: the inner nodes.
        order: their indices in the order of the table.
        leaf_ids: number of each leaf.
        slots: {(feature, missing): its sorted thresholds}.

    Returns:
        (largest distance of a child, bits of a threshold's rank, function that yields the three
        numbers of each node).
    """
    position = {i: n for n, i in enumerate(order)}
    numbers = {slot: i for i, slot in enumerate(slots)}
    ranks = {slot: {c: i + 1 for i, c in enumerate(cuts)} for slot, cuts in slots.items()}
    rank_bits = max([len(cuts) for cuts in slots.values()], default=0).bit_length()
    if max(len(slots), 1) << rank_bits >= 1 << 30:
        raise Problem("too many features and thresholds")
    ends = [
        (n, r) for n, i in enumerate(order) for r in (branches[i].on_true, branches[i].on_false)
    ]
    ahead = max([position[r] - n for n, r in ends if r >= 0], default=0)

    def reference(n, r, leaf):
        return leaf | leaf_ids[~r] if r < 0 else position[r] - n

    def nodes(wide):
        leaf = 1 << (29 if wide else 14)
        for n, i in enumerate(order):
            b = branches[i]
            slot = (b.feature, b.missing)
            rank = ranks[slot][b.value] if b.mode == LEQ else 0
            left, right = reference(n, b.on_true, leaf), reference(n, b.on_false, leaf)
            yield numbers[slot] << rank_bits | rank, left, right

    return ahead, rank_bits, nodes
