"""Scratch that takes what the arena has free in its step: faster steps at no cost."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Graph, Step, Tensor, walk
from .blocks import Block, aligned


def fill_gaps(graph: Graph, blocks: Sequence[Block], arena_bytes: int) -> None:
    """Moves the scratch of steps that can use more of it to their largest gap, and enlarges it."""
    by_tensor = {b.tensor: b for b in blocks}
    for i, step in enumerate(walk(graph.steps)):
        if step.grow is None or len(step.scratch) != 1:
            continue
        scratch = by_tensor[step.scratch[0]]
        if (scratch.first, scratch.last) != (i, i):
            continue
        others = [b for b in blocks if b.first <= i <= b.last and b is not scratch]
        offset, nbytes = _largest_gap(others, arena_bytes)
        if nbytes > scratch.nbytes:
            step.grow(step, nbytes, _most_lead(step, by_tensor))
        if step.scratch[0].nbytes > scratch.nbytes:
            scratch.offset, scratch.nbytes = offset, aligned(scratch.tensor.nbytes)


def _most_lead(step: Step, by_tensor: dict[Tensor, Block]) -> int | None:
    """The most that the lead of its input 0 may become; None where any will do."""
    x, out = step.inputs[0], step.outputs[0]
    a, b = by_tensor.get(x.root), by_tensor.get(out.root)
    if a is None or b is None or a is b:
        return None
    apart = a.offset + a.nbytes <= b.offset or b.offset + b.nbytes <= a.offset
    if apart or (a.offset == b.offset and step.is_same_place(x.root)):
        return None
    return a.offset + x.start - b.offset - out.start


def _largest_gap(blocks: Sequence[Block], arena_bytes: int) -> tuple[int, int]:
    """(offset, bytes) of the largest piece of the arena that is in none of the blocks."""
    found, end = [], 0
    for b in sorted(blocks, key=lambda b: b.offset):
        found.append((b.offset - end, end))
        end = max(end, b.offset + b.nbytes)
    nbytes, offset = max([*found, (arena_bytes - end, end)], key=lambda gap: (gap[0], -gap[1]))
    return offset, nbytes
