"""Fit a plan into a given arena by computing steps in patches.

Of all chains through the step in which most is alive, the one is cut into bands that brings the
step below the limit with the fewest extra multiply-accumulates. This is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import TooSmall
from ..ir import Graph, Step, Tensor
from .blocks import Block, covered
from .patches import Patch, apply, patches

_MOST_PATCHES = 16

# Returns (blocks with offsets, bytes of the arena) of a graph.
Place = Callable[[Graph], tuple[list[Block], int]]


@dataclass
class _State:
    """The steps and overlays of a graph, with their placement."""

    steps: list[Step]
    overlays: dict[tuple[Tensor, Tensor], int]
    blocks: list[Block]
    nbytes: int


def fit(graph: Graph, limit: int, place: Place, keep_inputs: bool) -> tuple[list[Block], int]:
    """Compute steps in patches until the arena fits a limit.

    Args:
        graph: the graph; changed.
        limit: most bytes of the arena.
        place: returns the blocks of a graph with offsets, and the bytes of its arena.
        keep_inputs: inputs keep their values through the run.

    Returns:
        The blocks with offsets, and the bytes of the arena.

    Raises:
        TooSmall: if it does not fit, with the smallest arena that was found.
    """
    original = list(graph.steps), dict(graph.overlays)
    fitted = _shrunk(graph, limit, place, keep_inputs)
    if fitted.nbytes > limit:
        graph.steps, graph.overlays = original
        least = min(fitted, _shrunk(graph, 0, place, keep_inputs), key=lambda s: s.nbytes)
        graph.steps = least.steps
        blame = _blame(graph, least.blocks)
        text = f"--arena {limit}: {least.nbytes} bytes is the least found\n{blame}"
        raise TooSmall(text, least.nbytes)
    graph.steps, graph.overlays = fitted.steps, fitted.overlays
    return fitted.blocks, fitted.nbytes


def _shrunk(graph, limit, place, keep_inputs) -> _State:
    """Apply patches until the arena fits; return the state with the smallest arena on the way.

    A patch may make the memory of another step grow, which is cut next.

    Args:
        graph: the graph; changed.
        limit: most bytes of the arena.
        place: as for `fit`.
        keep_inputs: as for `fit`.
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
    """Return the step in which most is alive, and its bytes."""
    alive = [covered(blocks, i) for i in range(n_steps)]
    at = max(range(n_steps), key=lambda i: alive[i])
    return at, alive[at]


def _best(graph, blocks, limit, keep_inputs) -> Patch | None:
    """Return the patch that lowers the peak of the arena most, at equal peaks with the least work.

    A peak below the limit counts as the limit. Returns None if no patch lowers the peak.

    Args:
        graph: the graph.
        blocks: its blocks.
        limit: most bytes of the arena.
        keep_inputs: as for `fit`.
    """
    at, alive = _peak(blocks, len(graph.steps))
    options = []
    for patch in patches(graph, at, keep_inputs):
        through = sum(
            b.nbytes
            for b in blocks
            if b.first <= patch.last and b.last >= patch.first and not _replaces(patch, b)
        )
        need = through + patch.nbytes
        if need < alive:
            options.append((max(need, limit), patch.macs - _own_macs(patch), need, patch))
    return min(options, key=lambda f: f[:3], default=(None,))[-1]


def _own_macs(patch):
    return sum(step.macs for step in patch.chain)


def _replaces(patch, b):
    """Return True for blocks that the patch counts itself or makes unnecessary."""
    inner = any(b.tensor in [t.root for t in s.outputs + s.scratch] for s in patch.chain)
    return inner or b.tensor is patch.source


def _blame(graph, blocks):
    at, alive = _peak(blocks, len(graph.steps))
    alive_blocks = [b for b in blocks if b.first <= at <= b.last]
    largest = sorted(alive_blocks, key=lambda b: (-b.nbytes, b.offset))
    step = graph.steps[at]
    lines = [f"  {b.nbytes} bytes: {b.tensor}" for b in largest[:6]]
    where = f"in step {at} ({step.kernel}, {step.node})"
    return "\n".join([f"  {alive} bytes are alive {where}:", *lines])
