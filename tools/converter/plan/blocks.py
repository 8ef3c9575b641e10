"""Blocks of the arena, each with the first and the last step in which it must exist.

`lifetimes` makes them from a graph; plan/place.py then chooses their offsets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum

from ..ir import Graph, Step, Tensor, walk

ALIGNMENT = 8  # bytes: the size of the widest dtype


class Overlap(IntEnum):
    """How far a step's first output may overwrite an input that no later step reads.

    ELEMENTS allows outputs that a kernel computes element by element or line by line; ROWS also
    those of convolutions and pools, which are written behind the window that is being read.
    """

    NONE = 0
    ELEMENTS = 1
    ROWS = 2


@dataclass(eq=False)
class Block:
    """Memory that is needed from step `first` to step `last`, both included.

    Attributes:
        tensor: root of the tensors in it.
        nbytes: size of the block.
        first: number of a step, -1 for an input of the graph.
        last: number of a step.
        offset: offset in the arena [bytes].
        over: blocks that this one may overwrite while they are still read, each with its lead: how
            many bytes before it this block must start at least.
        onto: blocks that step `first` reads and whose start this one may share.
    """

    tensor: Tensor
    nbytes: int
    first: int
    last: int
    offset: int = 0
    over: dict[Block, int] = field(default_factory=dict)
    onto: set[Block] = field(default_factory=set)

    def meets(self, other: Block) -> bool:
        """Return True if some step needs both blocks."""
        return self.first <= other.last and other.first <= self.last

    def distance(self, other: Block) -> int:
        """Return how many bytes behind this block's start a block at a higher offset may start."""
        return self.over.get(other, self.nbytes)


def aligned(nbytes: int) -> int:
    """Return nbytes rounded up to the alignment of every dtype."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def is_planned(t: Tensor) -> bool:
    """Return True if a tensor's memory is in the arena: it is no constant, object or state."""
    return t.data is None and not t.is_object and not t.persistent


def size_of(t: Tensor) -> int:
    """Return the bytes of a tensor in the arena."""
    return aligned(t.planned_nbytes)


class Sizes(dict[Tensor, int]):
    """The size of each tensor in the arena [bytes], computed once; 0 for tensors outside of it.

    Sizes hold as long as no tensor changes: a search reads the same ones many thousand times.
    """

    def __missing__(self, t: Tensor) -> int:
        size = self[t] = size_of(t) if is_planned(t) else 0
        return size

    def total(self, tensors: Iterable[Tensor]) -> int:
        """Return the bytes of tensors that are all different."""
        return sum(map(self.__getitem__, tensors))


def covered(blocks: Iterable[Block], step: int) -> int:
    """Return the bytes in use in a step; bytes that blocks share count once."""
    spans = sorted((b.offset, b.offset + b.nbytes) for b in blocks if b.first <= step <= b.last)
    total = reached = 0
    for start, end in spans:
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def lifetimes(
    graph: Graph, keep_inputs: bool = False, overlap: Overlap = Overlap.ROWS
) -> list[Block]:
    """Return a block for each root tensor in the arena, with the steps in which it must exist."""
    steps = list(walk(graph.steps))
    last_step = len(steps)
    spans: dict[Tensor, list[int]] = {
        t.root: [-1, last_step if keep_inputs else -1] for t in graph.inputs
    }
    for i, step in enumerate(steps):
        # A loop reads its inputs in each trip, so they must last until the end of its body.
        end = i + sum(1 for body in step.bodies for _ in walk(body))
        for t in step.inputs + step.outputs + step.scratch:
            if t.root.data is None:
                span = spans.setdefault(t.root, [i, end])
                span[1] = max(span[1], end)
    for t in graph.outputs:
        if t.root.data is None:
            spans.setdefault(t.root, [-1, last_step])[1] = last_step
    for body in _body_ranges(graph.steps, 0):
        _hold_through(spans, *body)
    blocks = {
        t: Block(t, size_of(t), *span)
        for t, span in spans.items()
        if not t.is_object and not t.persistent
    }
    for (out, x), lead in graph.overlays.items():
        if out in blocks and x in blocks:
            blocks[out].over[blocks[x]] = lead
    if overlap:
        for i, step in enumerate(steps):
            _let_overlap(step, i, blocks, overlap == Overlap.ROWS)
    return list(blocks.values())


def _body_ranges(steps: list[Step], at: int) -> list[tuple[int, int]]:
    """Return (number of the step, of the last step inside) for each step with bodies.

    Steps in bodies come before the steps that contain them.
    """
    ranges = []
    for step in steps:
        first = at
        at += 1
        for body in step.bodies:
            ranges += _body_ranges(body, at)
            at += sum(1 for _ in walk(body))
        if step.bodies:
            ranges.append((first, at - 1))
    return ranges


def _hold_through(spans: dict[Tensor, list[int]], first: int, last: int) -> None:
    """Extend the span of each tensor that a body shares with the outside to the whole body.

    Args:
        spans: [first, last] of each tensor; changed.
        first: number of the step with the body.
        last: number of the last step in it.
    """
    for span in spans.values():
        inside = span[0] <= last and span[1] >= first
        if inside and (span[0] < first or span[1] > last):
            span[0], span[1] = min(span[0], first), max(span[1], last)


def _let_overlap(step: Step, i: int, blocks: dict[Tensor, Block], rows: bool) -> None:
    """Record which inputs of a step its first output may overwrite, in `over` and `onto`.

    Args:
        step: the step.
        i: its number; only inputs whose blocks end with it count.
        blocks: the block of each root tensor.
        rows: allow outputs behind the windows of a convolution or pool (Overlap.ROWS).
    """
    out = blocks.get(step.outputs[0].root) if step.outputs else None
    if out is None or out.first != i:
        return
    for root in {t.root: None for t in step.inputs}:
        x = blocks.get(root)
        if x is None or x is out or x.last != i:
            continue
        lead = step.lead(root, rows)
        if lead is not None and lead < out.nbytes:
            out.over[x] = aligned(lead)
        if rows and step.is_same_place(root):
            out.onto.add(x)
