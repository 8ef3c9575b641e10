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
    """Return the largest number of bytes that are alive in one step, scratch included.

    Sizes are rounded up to the alignment. An output that may overwrite an input counts together
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
    """A walk through the steps from the last to the first, which knows the values alive.

    Attributes:
        born: {value: the step that first has it}.
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
        """Return the largest number of bytes alive in any of these steps.

        Args:
            steps: steps of the graph or of a body.
            live: values needed after the steps; becomes the values needed before them.
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
        """Return the values that bodies of a step share with the outside, in all trips."""
        inner = list(walk([step]))
        inside = {t.root for s in inner for t in s.inputs + s.outputs + s.scratch}
        return {t for t in inside if self.born.get(t) not in inner}

    def _shared(self, alive):
        """Return the bytes that values share with values that they overwrite in several steps."""
        total = 0
        for (out, x), lead in self.overlays.items():
            if out in alive and x in alive:
                sizes = self.nbytes([out]), self.nbytes([x])
                total += sum(sizes) - together(sizes[0], [(lead, sizes[1])])
        return total

    def _in_step(self, step, live, alive):
        """Return the bytes alive in a step, if its output overwrites inputs as far as allowed.

        Args:
            step: the step.
            live: values needed after it.
            alive: values needed after it or used by it.
        """
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
    """Return the lead of a step's output over an input; None if it must not overwrite it."""
    rows = overlap == Overlap.ROWS
    if rows and step.is_same_place(root):
        return 0
    lead = step.lead(root, rows)
    return None if lead is None else aligned(lead)


def together(nbytes: int, inputs: Sequence[tuple[int, int]]) -> int:
    """Return the bytes that an output and the inputs that it may overwrite take together.

    The result is the least of all orders in which the inputs can follow each other.

    Args:
        nbytes: size of the output.
        inputs: (lead, size) of each input: the output must start `lead` bytes before it.
    """
    best = nbytes + sum(n for _, n in inputs)
    for order in permutations(inputs):
        end = 0
        for lead, n in order:
            end = max(end, min(lead, nbytes)) + n
        best = min(best, max(nbytes, end))
    return best
