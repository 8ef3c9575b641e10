"""Scratch that steps lack to be much faster, where the arena hardly grows for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir import Graph, Step, walk
from .blocks import Block, covered

SHARE = 20  # of the arena that it may grow by

# (blocks with offsets, bytes of arena) of a graph as it is.
Place = Callable[[Graph], tuple[list[Block], int]]


def widen(
    graph: Graph, placed: tuple[list[Block], int], limit: int | None, place: Place
) -> tuple[list[Block], int]:
    """The placement with larger scratch, of as many steps as there is room for, largest first."""
    blocks, nbytes = placed
    most = nbytes + nbytes // SHARE
    most = most if limit is None else min(most, limit)
    steps = [
        step
        for i, step in enumerate(walk(graph.steps))
        if step.grow and step.lacks and covered(blocks, i) + step.lacks <= most
    ]
    steps.sort(key=lambda step: -step.macs)
    while steps:
        before = [_state(step) for step in steps]
        for step in steps:
            step.grow(step, step.scratch[0].nbytes + step.lacks, None)
        found = place(graph)
        if found[1] <= most:
            return found
        for state in before:
            _restore(*state)
        steps = steps[: len(steps) // 2]
    return blocks, nbytes


def _state(step: Step):
    return step, list(step.params), step.scratch[0].shape, step.behind, step.lacks


def _restore(step: Step, params: Sequence[int], shape, behind, lacks) -> None:
    step.params, step.scratch[0].shape = list(params), shape
    step.behind, step.lacks = behind, lacks
