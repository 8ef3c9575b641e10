"""Find the order of steps in which the least memory is alive at one time.

The values that are alive after a set of steps do not depend on their order. So the search is over
sets, from none to all, along the path whose worst step is the smallest (Dijkstra's algorithm with
maxima instead of sums). It is exact if it ends in time; for graphs with too many sets, a beam
search of the best sets replaces it.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from ..ir import Graph, Step, Tensor, walk
from .blocks import Overlap, Sizes, is_planned
from .bound import lead_of, together

# Step evaluations of a search: a second or two of Python.
_EFFORT = 1_500_000


def reorder(graph: Graph, keep_inputs: bool, overlap: Overlap) -> list[Step] | None:
    """Return the steps in an order with a lower peak; None without one, or if they must not move.

    Steps with bodies and steps with run-time extents keep their order: they depend on one another
    by more than their tensors.
    """
    tensors = [t for step in graph.steps for t in step.inputs + step.outputs + step.scratch]
    if (
        not graph.steps
        or any(step.bodies for step in graph.steps)
        or any(t.is_open for t in tensors)
    ):
        return None
    if any(type(p) is not int for step in graph.steps for p in step.params):
        return None
    search = _Search(graph, keep_inputs, overlap)
    now = search.peak_of(range(len(graph.steps)))
    if now <= search.floor:
        return None
    order = search.best_below(now)
    return order and [graph.steps[i] for i in order]


@dataclass
class _Node:
    """A set of steps on a path of the search.

    Attributes:
        done: the set, a bit for each step.
        alive: bytes alive after these steps.
        peak: bytes of the worst step on the path.
        last: number of the last step.
        before: the _Node before that step.
    """

    done: int
    alive: int
    peak: int
    last: int
    before: _Node | None


class _Search:
    """A search over sets of steps; a set is an int with a bit for each step.

    Attributes:
        steps: steps of the graph.
        of: roots in the arena of each step.
        leads: leads of these roots, see lead_of.
        users: set of steps that use a root.
        kept: roots that stay alive at the end.
        floor: bytes that the most demanding step needs for itself.
    """

    def __init__(self, graph: Graph, keep_inputs: bool, overlap: Overlap):
        self.steps = graph.steps
        self.overlap = overlap
        self.all = (1 << len(self.steps)) - 1
        self.users: dict[Tensor, int] = {}
        self.sizes = Sizes()
        self.of: list[list[Tensor]] = []  # roots of each step
        self.leads: list[dict[Tensor, int | None]] = []  # of these roots
        for i, step in enumerate(self.steps):
            roots = dict.fromkeys(
                t.root for t in step.inputs + step.outputs + step.scratch if is_planned(t.root)
            )
            self.of.append(list(roots))
            self.leads.append({t: lead_of(step, t, overlap) for t in roots} if overlap else {})
            for t in roots:
                self.users[t] = self.users.get(t, 0) | 1 << i
        inputs = {t.root for t in graph.inputs}
        self.kept = {t.root for t in graph.outputs} | (inputs if keep_inputs else set())
        self.first = {t for t in inputs if is_planned(t) and (t in self.kept or t in self.users)}
        self.before = _dependencies(self.steps)
        self.start = _Node(0, self.sizes.total(self.first), 0, -1, None)
        self.floor = max(self._own(i) for i in range(len(self.steps)))

    def peak_of(self, order) -> int:
        node = self.start
        for i in order:
            node = self._after(node, i)
        return node.peak

    def best_below(self, limit: int) -> list[int] | None:
        """Return the step numbers in an order with a peak below a limit; None without one."""
        heap = [(0, 0, 0, self.start)]
        ticket = count(1)
        least = {0: 0}  # peak of the best path to a set
        while heap:
            peak, *_, node = heappop(heap)
            if node.done == self.all:
                return _path(node)
            if peak > least[node.done]:
                continue  # reached by a better path since
            for new in self._next(node):
                if new.peak < least.get(new.done, limit):
                    least[new.done] = new.peak
                    heappush(heap, (new.peak, -new.done.bit_count(), next(ticket), new))
            if len(least) > _EFFORT // len(self.steps):
                return self._beam(limit)
        return None

    def _beam(self, limit):
        """Search like best_below, but follow only the most promising sets of each size."""
        front = [self.start]
        width = max(_EFFORT // len(self.steps) ** 2, 4)
        for _ in self.steps:
            best: dict[int, _Node] = {}
            for node in front:
                for new in self._next(node):
                    other = best.get(new.done)
                    if new.peak < limit and (other is None or new.peak < other.peak):
                        best[new.done] = new
            front = sorted(best.values(), key=lambda n: (n.peak, n.alive, n.done))[:width]
        return _path(front[0]) if front else None

    def _next(self, node):
        for i, before in enumerate(self.before):
            if not node.done >> i & 1 and before & ~node.done == 0:
                yield self._after(node, i)

    def _after(self, node, i):
        """Return the set with step i added, whose dependencies are in the set."""
        done = node.done | 1 << i
        born = [t for t in self.of[i] if not self.users[t] & node.done and t not in self.first]
        ended = [t for t in self.of[i] if not self.users[t] & ~done and t not in self.kept]
        most = node.alive + self.sizes.total(born)
        peak = max(node.peak, most - self._saved(i, born, ended))
        return _Node(done, most - self.sizes.total(ended), peak, i, node)

    def _own(self, i):
        """Return the bytes of a step's tensors, with its output over inputs if possible."""
        return self.sizes.total(self.of[i]) - self._saved(i, self.of[i], self.of[i])

    def _saved(self, i, born, ended):
        step, leads, sizes = self.steps[i], self.leads[i], self.sizes
        out = step.outputs[0].root if step.outputs else None
        if not self.overlap or out not in born:
            return 0
        over = [t for t in ended if t is not out and leads[t] is not None]
        pairs = [(leads[t], sizes[t]) for t in over]
        return sizes[out] + sizes.total(over) - together(sizes[out], pairs)


def _path(node: _Node) -> list[int]:
    path = []
    while node.before:
        path.append(node.last)
        node = node.before
    return path[::-1]


def _dependencies(steps: list[Step]) -> list[int]:
    """Return a bit set for each step of the steps that must precede it.

    They write or read memory that the step reads or writes.
    """
    readers: dict[Tensor, int] = {}
    writers: dict[Tensor, int] = {}
    dependencies = []
    for i, step in enumerate(steps):
        inner = list(walk([step]))
        reads = {t.root for s in inner for t in s.inputs}
        writes = {t.root for s in inner for t in s.outputs + s.scratch}
        before = 0
        for t in reads | writes:
            before |= writers.get(t, 0)
        for t in writes:
            before |= readers.get(t, 0)
        for table, touched in ((readers, reads), (writers, writes)):
            for t in touched:
                table[t] = table.get(t, 0) | 1 << i
        dependencies.append(before & ~(1 << i))
    return dependencies
