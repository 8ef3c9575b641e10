"""Lifetimes -> arena offsets: docs/memory.md says how, step by step."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import Graph
from .blocks import ALIGNMENT, Block, Overlap, aligned, covered, lifetimes
from .bound import lower_bound
from .channels_last import lay_channels_last
from .fitting import fit
from .gaps import fill_gaps
from .order import reorder
from .pieces import share_memory
from .place import place
from .views import read_in_place
from .widen import widen

__all__ = ["ALIGNMENT", "Block", "Overlap", "Plan", "lifetimes", "lower_bound", "plan"]


@dataclass
class Plan:
    """blocks with offsets; lower_bound_bytes: the most that is alive at one time.

    least_bytes: the same, where what convolutions and pools write over their own inputs counts
    once: no placement can be below. state_bytes: of the persistent part, which is no part of
    arena_bytes. macs_again: what patches compute more than once.
    """

    blocks: list[Block]
    arena_bytes: int
    lower_bound_bytes: int
    least_bytes: int
    state_bytes: int = 0
    macs_again: int = 0

    def bytes_alive(self, step: int) -> int:
        """Bytes of the arena that hold something in a step; what two blocks share counts once."""
        return covered(self.blocks, step)


def plan(
    graph: Graph,
    keep_inputs: bool = False,
    overlap: Overlap = Overlap.ROWS,
    limit: int | None = None,
) -> Plan:
    """Gives every tensor of the graph that is not constant its offset in the arena.

    Puts the steps into the order that needs the least memory. keep_inputs: no step may overwrite
    an input's memory; overlap: what steps may write over their own inputs; limit: bytes that the
    arena may have, which may make patches of steps. Raises ConvertError if it can't be met.
    """
    read_in_place(graph)
    if overlap:
        share_memory(graph, lambda g: lower_bound(g, keep_inputs, overlap))
    blocks, arena_bytes = _ordered(graph, keep_inputs, overlap)
    blocks, arena_bytes = widen(
        graph, (blocks, arena_bytes), limit, lambda g: _placed(g, keep_inputs, overlap)
    )
    bound = lower_bound(graph, keep_inputs, min(overlap, Overlap.ITEMS))
    macs = sum(step.total_macs for step in graph.steps)
    if limit is not None and arena_bytes > limit:
        blocks, arena_bytes = fit(
            graph, limit, lambda g: _placed(g, keep_inputs, overlap), keep_inputs
        )
    blocks, arena_bytes = lay_channels_last(
        graph, (blocks, arena_bytes), lambda g: _placed(g, keep_inputs, overlap)
    )
    least = lower_bound(graph, keep_inputs, overlap)
    fill_gaps(graph, blocks, arena_bytes)
    for block in blocks:
        block.tensor.offset = block.offset
    _give_slots(graph)
    state_bytes = _place_states(graph)
    for t in graph.tensors():
        t.offset = t.root.offset + t.start
    again = sum(step.total_macs for step in graph.steps) - macs
    return Plan(blocks, arena_bytes, bound, least, state_bytes, again)


def _ordered(graph, keep_inputs, overlap):
    """(blocks with offsets, bytes of arena) of the steps in their best order, which they take."""
    given = graph.steps
    blocks, arena_bytes = _placed(graph, keep_inputs, overlap)
    graph.steps = reorder(graph, keep_inputs, overlap) or given
    if graph.steps is not given:
        others = _placed(graph, keep_inputs, overlap)
        if others[1] < arena_bytes:
            return others
        graph.steps = given
    return blocks, arena_bytes


def _placed(graph, keep_inputs, overlap):
    """(blocks with offsets, bytes of arena) of the steps in their order."""
    blocks = lifetimes(graph, keep_inputs, overlap)
    return blocks, place(blocks, lower_bound(graph, keep_inputs, overlap))


def _give_slots(graph):
    """Numbers the objects, which are not in the arena; aliases share one."""
    roots = dict.fromkeys(t.root for t in graph.tensors() if t.is_object and t.root.data is None)
    for slot, root in enumerate(roots):
        root.offset = slot


def _place_states(graph):
    """Offsets in the persistent part, one behind the other; returns its size."""
    end = 0
    for t in graph.states:
        t.offset = end
        end += aligned(t.nbytes)
    return end
