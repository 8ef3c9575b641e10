"""Plan the arena: find the lifetimes of tensors and give them offsets (docs/memory.md)."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import Graph
from .blocks import ALIGNMENT, Block, Overlap, aligned, covered, lifetimes
from .bound import lower_bound
from .channels_last import lay_channels_last
from .fitting import fit
from .moves import read_in_place, share_memory
from .order import reorder
from .place import place
from .widen import fill_gaps, widen

__all__ = ["ALIGNMENT", "Block", "Overlap", "Plan", "lifetimes", "lower_bound", "plan"]


@dataclass
class Plan:
    """The arena of a graph.

    Attributes:
        blocks: memory of tensors, with offsets.
        arena_bytes: size of the arena.
        lower_bound_bytes: the most bytes that are alive at one time.
        least_bytes: the lower bound if outputs of convolutions and pools overwrite their inputs
            where allowed; no placement can be smaller.
        state_bytes: size of the persistent tensors, which are outside of the arena.
        macs_again: multiply-accumulates that patches compute more than once.
    """

    blocks: list[Block]
    arena_bytes: int
    lower_bound_bytes: int
    least_bytes: int
    state_bytes: int = 0
    macs_again: int = 0

    def bytes_alive(self, step: int) -> int:
        """Return the bytes of the arena in use in a step; shared bytes count once."""
        return covered(self.blocks, step)


def plan(
    graph: Graph,
    keep_inputs: bool = False,
    overlap: Overlap = Overlap.ROWS,
    limit: int | None = None,
) -> Plan:
    """Choose the offset of every tensor of a graph that is not constant.

    Steps are put in the order that needs the least memory.

    Args:
        graph: the lowered graph, changed in place.
        keep_inputs: no step may overwrite an input of the graph.
        overlap: how far steps may write over their own inputs.
        limit: largest arena in bytes; to keep it, steps may be computed in patches.

    Raises:
        TooSmall: if the limit cannot be kept.
    """
    read_in_place(graph)
    if overlap:
        share_memory(graph, lambda g: lower_bound(g, keep_inputs, overlap))
    blocks, arena_bytes = _ordered(graph, keep_inputs, overlap)
    blocks, arena_bytes = widen(
        graph, (blocks, arena_bytes), limit, lambda g: _placed(g, keep_inputs, overlap)
    )
    bound = lower_bound(graph, keep_inputs, min(overlap, Overlap.ELEMENTS))
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
    """Put the steps in their best order; return the placement."""
    original_steps = graph.steps
    blocks, arena_bytes = _placed(graph, keep_inputs, overlap)
    graph.steps = reorder(graph, keep_inputs, overlap) or original_steps
    if graph.steps is not original_steps:
        others = _placed(graph, keep_inputs, overlap)
        if others[1] < arena_bytes:
            return others
        graph.steps = original_steps
    return blocks, arena_bytes


def _placed(graph, keep_inputs, overlap):
    """Return the placement of the steps in their order: (blocks with offsets, arena bytes)."""
    blocks = lifetimes(graph, keep_inputs, overlap)
    return blocks, place(blocks, lower_bound(graph, keep_inputs, overlap))


def _give_slots(graph):
    """Set the offset of objects, which are not in the arena, to numbers that aliases share."""
    roots = dict.fromkeys(t.root for t in graph.tensors() if t.is_object and t.root.data is None)
    for slot, root in enumerate(roots):
        root.offset = slot


def _place_states(graph):
    """Set the offsets of the states in the persistent memory; return its size."""
    end = 0
    for t in graph.states:
        t.offset = end
        end += aligned(t.nbytes)
    return end
