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
    """The placement with larger scratch, of as many steps as there is room for, largest first.

    Steps that did not get the first that they lack get the next, if there is room.
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
        placed = _with(graph, placed, sorted(steps, key=lambda found: -found[0].macs), most, place)
    return placed


def _with(graph, placed, steps, most, place):
    while steps:
        before = [_state(step) for step, _ in steps]
        for step, nbytes in steps:
            step.grow(step, step.scratch[0].nbytes + nbytes, None)
        found = place(graph)
        if found[1] <= most:
            for step, _ in steps:
                step.lacks = ()
            return found
        for state in before:
            _restore(*state)
        steps = steps[: len(steps) // 2]
    return placed


def _state(step: Step):
    return step, list(step.params), step.scratch[0].shape, step.behind, step.lacks


def _restore(step: Step, params: Sequence[int], shape, behind, lacks) -> None:
    step.params, step.scratch[0].shape = list(params), shape
    step.behind, step.lacks = behind, lacks
