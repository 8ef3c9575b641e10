"""Compute the bytes below which no arena of a scheduled graph can be.

This is independent of the placement: it follows live values backwards through the steps, instead
of intervals between first and last use.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import permutations

from ..ir import Graph, Step, Tensor, walk
from .blocks import Overlap, Sizes, aligned


def lower_bound(graph: Graph, keep_inputs: bool = False, overlap: Overlap = Overlap.ROWS) -> int:
    """Return the largest sum of all tensors that are alive in one step, scratch included.

    Each size is rounded up to the alignment. An output that may lie over its input counts together
    with it. See `plan` for the arguments.
    """
    inputs = {t.root for t in graph.inputs}
    live = {t.root for t in graph.outputs} | (inputs if keep_inputs else set())
    born: dict[Tensor, Step] = {}
    for step in walk(graph.steps):
        for t in step.inputs + step.outputs + step.scratch:
            if t.root not in inputs:
                born.setdefault(t.root, step)
    walker = _Backwards(born, overlap, graph.overlays)
    peak = walker.peak(graph.steps, live)
    return max(peak, walker.nbytes(live | inputs))


class _Backwards:
    """A walk through the steps from the last to the first.

    Attributes:
        born: the step that first has a value, by value.
        overlap: how far outputs may be written over inputs.
        overlays: lead of outputs over inputs through several steps.
    """

    def __init__(self, born: dict[Tensor, Step], overlap: Overlap, overlays=()):
        self.born, self.overlap, self.overlays = born, overlap, dict(overlays)
        self._sizes = Sizes()

    def nbytes(self, values) -> int:
        """Return the bytes of these values in the arena."""
        return self._sizes.total(set(values))

    def peak(self, steps: list[Step], live: set[Tensor], held: Set[Tensor] = frozenset()) -> int:
        """Return the largest sum in any of these steps.

        Args:
            steps: of the graph or of a body.
            live: values needed behind the steps; becomes those needed before them.
            held: values needed through all of the steps.
        """
        peak = 0
        for step in reversed(steps):
            touched = {t.root for t in step.inputs + step.outputs + step.scratch}
            if step.bodies:
                touched |= self._captured(step)
                through = live | touched | held
                peak = max(peak, *[self.peak(body, set(), through) for body in step.bodies])
            peak = max(peak, self._in_step(step, live | held, live | touched | held))
            live |= touched
            inner = list(walk([step]))
            live -= {t for t in live if self.born.get(t) in inner}
        return peak

    def _captured(self, step):
        """Return the values that bodies share with the outside: they live through all trips."""
        inner = list(walk([step]))
        inside = {t.root for s in inner for t in s.inputs + s.outputs + s.scratch}
        return {t for t in inside if self.born.get(t) not in inner}

    def _shared(self, alive):
        """Return the bytes that values share which lie over others through several steps."""
        total = 0
        for (out, x), lead in self.overlays.items():
            if out in alive and x in alive:
                sizes = self.nbytes([out]), self.nbytes([x])
                total += sum(sizes) - together(sizes[0], [(lead, sizes[1])])
        return total

    def _in_step(self, step, live, alive):
        total = self.nbytes(alive) - self._shared(alive)
        out = step.outputs[0].root if step.outputs else None
        if not self.overlap or self.born.get(out) is not step:
            return total
        roots = {t.root for t in step.inputs} - live - {out}
        leads = {t: lead_of(step, t, self.overlap) for t in roots if t.data is None}
        leads = {t: n for t, n in leads.items() if n is not None}
        apart = self.nbytes([out, *leads])
        return (
            total
            - apart
            + together(self.nbytes([out]), [(n, self.nbytes([t])) for t, n in leads.items()])
        )


def lead_of(step: Step, root: Tensor, overlap: Overlap) -> int | None:
    """Return how many bytes before an input's root an output must start, None if not over it."""
    rows = overlap == Overlap.ROWS
    if rows and step.is_same_place(root):
        return 0
    lead = step.lead(root, rows)
    return None if lead is None else aligned(lead)


def together(nbytes: int, inputs: Sequence[tuple[int, int]]) -> int:
    """Return the bytes of an output and the inputs it may lie over, in their best arrangement.

    Args:
        nbytes: of the output.
        inputs: (bytes by which the output must start before it, its size) of each.
    """
    best = nbytes + sum(n for _, n in inputs)
    for order in permutations(inputs):
        end = 0
        for lead, n in order:
            end = max(end, min(lead, nbytes)) + n
        best = min(best, max(nbytes, end))
    return best
