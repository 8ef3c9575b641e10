"""A plan that fits into a given arena, by patches where it has to be.

The step in which most is alive is looked at again and again: of all chains through it, the one
goes into bands that brings it below the limit with the fewest multiply-accumulates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import TooSmall
from ..ir import Graph, Step, Tensor
from .blocks import Block, covered
from .patches import Patch, apply, patches

_MOST_PATCHES = 16

# (blocks with offsets, bytes of arena) of a graph as it is.
Place = Callable[[Graph], tuple[list[Block], int]]


@dataclass
class _State:
    """A graph's steps and overlays with their placement."""

    steps: list[Step]
    overlays: dict[tuple[Tensor, Tensor], int]
    blocks: list[Block]
    nbytes: int


def fit(graph: Graph, limit: int, place: Place, keep_inputs: bool) -> tuple[list[Block], int]:
    """Changes the graph until it fits. Raises ConvertError, which says how far it got."""
    given = list(graph.steps), dict(graph.overlays)
    found = _shrunk(graph, limit, place, keep_inputs)
    if found.nbytes > limit:
        graph.steps, graph.overlays = given
        least = min(found, _shrunk(graph, 0, place, keep_inputs), key=lambda s: s.nbytes)
        graph.steps = least.steps
        blame = _blame(graph, least.blocks)
        said = f"--arena {limit}: {least.nbytes} bytes is the least found\n{blame}"
        raise TooSmall(said, least.nbytes)
    graph.steps, graph.overlays = found.steps, found.overlays
    return found.blocks, found.nbytes


def _shrunk(graph, limit, place, keep_inputs) -> _State:
    """The smallest that was found on the way, at the latest when it fits.

    A patch may make another step's memory grow, which is the next one's then.
    """
    best = now = _State(graph.steps, dict(graph.overlays), *place(graph))
    for _ in range(_MOST_PATCHES):
        patch = None
        if now.nbytes > limit and not any(step.bodies for step in graph.steps):
            patch = _best(graph, now.blocks, limit, keep_inputs)
        if patch is None:
            break
        apply(graph, patch)
        now = _State(graph.steps, dict(graph.overlays), *place(graph))
        best = min(best, now, key=lambda s: s.nbytes)
    return best


def _peak(blocks, n_steps):
    """The step in which most is alive, and how much."""
    alive = [covered(blocks, i) for i in range(n_steps)]
    at = max(range(n_steps), key=lambda i: alive[i])
    return at, alive[at]


def _best(graph, blocks, limit, keep_inputs) -> Patch | None:
    at, alive = _peak(blocks, len(graph.steps))
    found = []
    for patch in patches(graph, at, keep_inputs):
        through = sum(
            b.nbytes
            for b in blocks
            if b.first <= patch.last and b.last >= patch.first and not _replaces(patch, b)
        )
        need = through + patch.nbytes
        if need < alive:
            found.append((max(need, limit), patch.macs - _own_macs(patch), need, patch))
    return min(found, key=lambda f: f[:3], default=(None,))[-1]


def _own_macs(patch):
    return sum(step.macs for step in patch.chain)


def _replaces(patch, b):
    """True for blocks that the patch counts itself, or does away with."""
    inner = any(b.tensor in [t.root for t in s.outputs + s.scratch] for s in patch.chain)
    return inner or b.tensor is patch.source


def _blame(graph, blocks):
    at, alive = _peak(blocks, len(graph.steps))
    found = [b for b in blocks if b.first <= at <= b.last]
    largest = sorted(found, key=lambda b: (-b.nbytes, b.offset))
    step = graph.steps[at]
    lines = [f"  {b.nbytes} bytes: {b.tensor}" for b in largest[:6]]
    where = f"in step {at} ({step.kernel}, {step.node})"
    return "\n".join([f"  {alive} bytes are alive {where}:", *lines])
