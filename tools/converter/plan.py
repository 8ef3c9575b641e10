"""Lifetimes -> arena offsets."""

from __future__ import annotations

from dataclasses import dataclass

from .ir import Graph, Step, Tensor, walk

ALIGNMENT = 8  # bytes; the widest dtype


@dataclass(eq=False)
class Block:
    """Memory needed from step `first` to step `last`, both included."""

    tensor: Tensor
    nbytes: int
    first: int
    last: int
    offset: int = 0

    def overlaps(self, other: Block) -> bool:
        return self.first <= other.last and other.first <= self.last


_Placement = dict[Block, tuple[int, int]]  # (offset, end) in bytes


@dataclass
class Plan:
    """blocks with offsets; arena_bytes; lower_bound_bytes: largest sum of blocks alive at once.

    state_bytes: of the persistent part, which is no part of arena_bytes.
    """

    blocks: list[Block]
    arena_bytes: int
    lower_bound_bytes: int
    state_bytes: int = 0


def plan(graph: Graph, keep_inputs: bool = False) -> Plan:
    """Gives every tensor of the graph that is not constant its offset in the arena.

    keep_inputs: no step may overwrite an input's memory.
    """
    blocks = lifetimes(graph, keep_inputs)
    n_steps = sum(1 for _ in walk(graph.steps))
    bound = lower_bound(blocks, n_steps)
    placed = _best_placement(blocks, bound)
    for block in blocks:
        block.offset = placed[block][0]
        block.tensor.offset = block.offset
    _give_slots(graph)
    state_bytes = _place_states(graph)
    for t in graph.tensors():
        t.offset = t.root.offset
    return Plan(blocks, _end(placed), bound, state_bytes)


def lifetimes(graph: Graph, keep_inputs: bool = False) -> list[Block]:
    """A block for each piece of memory, with the steps between which it must hold."""
    steps = list(walk(graph.steps))
    last_step = len(steps)
    spans: dict[Tensor, list[int]] = {
        t: [-1, last_step if keep_inputs else -1] for t in graph.inputs
    }
    for i, step in enumerate(steps):
        for t in step.inputs + step.outputs + step.scratch:
            if t.root.data is None:
                span = spans.setdefault(t.root, [i, i])
                span[1] = max(span[1], i)
    for t in graph.outputs:
        if t.root.data is None:
            spans.setdefault(t.root, [-1, last_step])[1] = last_step
    for body in _body_ranges(graph.steps, 0):
        _hold_through(spans, *body)
    found = [(t, span) for t, span in spans.items() if not t.is_object and not t.persistent]
    return [Block(t, _aligned(t.planned_nbytes), *span) for t, span in found]


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
        end += _aligned(t.nbytes)
    return end


def _body_ranges(steps: list[Step], at: int) -> list[tuple[int, int]]:
    """(first, last) of each step with bodies and all that is in them, inner ones first."""
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
    """What a body shares with the outside must hold through all of its rounds."""
    for span in spans.values():
        inside = span[0] <= last and span[1] >= first
        if inside and (span[0] < first or span[1] > last):
            span[0], span[1] = min(span[0], first), max(span[1], last)


def lower_bound(blocks: list[Block], n_steps: int) -> int:
    """Bytes below which no placement can be: the most that is alive at one time."""
    return max(
        (sum(b.nbytes for b in blocks if b.first <= i <= b.last) for i in range(-1, n_steps + 1)),
        default=0,
    )


def _aligned(nbytes):
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


_ORDERS = (
    lambda b: (-b.nbytes, b.first),
    lambda b: (b.first, -b.nbytes),
    lambda b: (b.first - b.last, -b.nbytes),
    lambda b: (-b.nbytes * (b.last - b.first + 1), b.first),
)


# Comparisons of two blocks that improving one order may cost: seconds for a graph of hundreds.
_EFFORT = 4_000_000
_MOST_ROUNDS = 200


def _best_placement(blocks: list[Block], bound: int) -> _Placement:
    """Greedy from several orders; then what ends highest goes first, as long as that may help."""
    best: _Placement = {}
    rounds = max(_EFFORT // max(len(blocks), 1) ** 2, 1)
    for key in _ORDERS:
        order = sorted(blocks, key=key)
        for _ in range(min(rounds, _MOST_ROUNDS)):
            placed = _placed(order)
            if not best or _end(placed) < _end(best):
                best = placed
            if _end(best) <= bound:
                return best
            highest = max(order, key=lambda b: placed[b][1])
            if order[0] is highest:
                break
            order.remove(highest)
            order.insert(0, highest)
    return best


def _placed(order: list[Block]) -> _Placement:
    """(offset, end) by block: each at the lowest free place, in this order."""
    result: _Placement = {}
    for block in order:
        taken = sorted(place for other, place in result.items() if other.overlaps(block))
        offset = 0
        for start, end in taken:
            if offset + block.nbytes <= start:
                break
            offset = max(offset, end)
        result[block] = (offset, offset + block.nbytes)
    return result


def _end(placed: _Placement) -> int:
    return max((end for _, end in placed.values()), default=0)
