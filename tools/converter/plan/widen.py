"""Enlarge the scratch of steps that run faster with more.

`widen` runs before the placement: the arena may grow a little for it. `fill_gaps` runs after it,
and uses memory that is free in a step anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir import Graph, Step, Tensor, walk
from .blocks import Block, aligned, covered

SHARE = 20  # the arena may grow by one part in SHARE

# Returns (blocks with offsets, bytes of the arena) of a graph.
Place = Callable[[Graph], tuple[list[Block], int]]


def widen(
    graph: Graph, placed: tuple[list[Block], int], limit: int | None, place: Place
) -> tuple[list[Block], int]:
    """Enlarge the scratch of as many steps as the arena allows, those with the most work first.

    Steps that did not get their first desired size get the next, if it fits.

    Args:
        graph: the graph; its steps are changed.
        placed: (blocks with offsets, bytes of the arena).
        limit: most bytes of the arena, or None.
        place: as for fitting.fit.

    Returns:
        The new (blocks with offsets, bytes of the arena).
    """
    most = placed[1] + placed[1] // SHARE
    most = most if limit is None else min(most, limit)
    lacking = [(i, step) for i, step in enumerate(walk(graph.steps)) if step.grow and step.lacks]
    for level in range(max((len(step.lacks) for _, step in lacking), default=0)):
        steps = [
            (step, step.lacks[level])
            for i, step in lacking
            if level < len(step.lacks) and covered(placed[0], i) + step.lacks[level] <= most
        ]
        placed = _with(graph, placed, sorted(steps, key=lambda pair: -pair[0].macs), most, place)
    return placed


def _with(graph, placed, steps, most, place):
    """Enlarge the scratch of these steps, or of half of them and so on until the arena fits.

    Args:
        graph: the graph.
        placed: (blocks with offsets, bytes of the arena) without changes.
        steps: (step, bytes to add) in order of preference.
        most: most bytes of the arena.
        place: as for fitting.fit.
    """
    while steps:
        before = [_state(step) for step, _ in steps]
        for step, nbytes in steps:
            step.grow(step, step.scratch[0].nbytes + nbytes, None)
        enlarged = place(graph)
        if enlarged[1] <= most:
            for step, _ in steps:
                step.lacks = ()
            return enlarged
        for state in before:
            _restore(*state)
        steps = steps[: len(steps) // 2]
    return placed


def _state(step: Step):
    return step, list(step.params), step.scratch[0].shape, step.behind, step.lacks


def _restore(step: Step, params: Sequence[int], shape, behind, lacks) -> None:
    step.params, step.scratch[0].shape = list(params), shape
    step.behind, step.lacks = behind, lacks


def fill_gaps(graph: Graph, blocks: Sequence[Block], arena_bytes: int) -> None:
    """Move scratch to the largest gap of its step, if the step can use more of it."""
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
    """Return the largest lead of a step's input 0 that the offsets allow; None without a limit."""
    x, out = step.inputs[0], step.outputs[0]
    a, b = by_tensor.get(x.root), by_tensor.get(out.root)
    if a is None or b is None or a is b:
        return None
    apart = a.offset + a.nbytes <= b.offset or b.offset + b.nbytes <= a.offset
    if apart or (a.offset == b.offset and step.is_same_place(x.root)):
        return None
    return a.offset + x.start - b.offset - out.start


def _largest_gap(blocks: Sequence[Block], arena_bytes: int) -> tuple[int, int]:
    """Return (offset, bytes) of the largest part of the arena that no block uses."""
    gaps, end = [], 0
    for b in sorted(blocks, key=lambda b: b.offset):
        gaps.append((b.offset - end, end))
        end = max(end, b.offset + b.nbytes)
    nbytes, offset = max([*gaps, (arena_bytes - end, end)], key=lambda gap: (gap[0], -gap[1]))
    return offset, nbytes
