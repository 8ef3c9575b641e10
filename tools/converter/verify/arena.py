"""Verify the plan of the arena: each step finds in memory what it reads.

The steps are simulated over the final offsets, with the chunks of weights that a board streams.
For each byte of the arena, the simulation knows whose memory it is: a tensor's (its root) or a
chunk's. No code of the planner is used. Within a step, an output may lie over an input as far as
the step declares (Step.over, behind, in_place), or the patch that it belongs to (Graph.overlays);
other tests prove that kernels keep what they declare.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from ..file.weights import Chunk
from ..file.writer import contents_of
from ..ir import Graph, Step, Tensor, walk
from . import InternalError

# Owner of a byte: the root of a tensor, a chunk of weights, or None.
Owner = Tensor | Chunk | None


def check(graph: Graph, arena_nbytes: int, keep_inputs: bool = False) -> None:
    """Raise InternalError if a step reads a value that is not written yet or overwritten."""
    fault = next(_Simulation(graph, arena_nbytes).faults(keep_inputs), "")
    if fault:
        raise InternalError("plan", fault)


class _Memory:
    """Owners of all bytes: owners[i] owns those from starts[i] up to starts[i + 1]."""

    def __init__(self) -> None:
        self.starts: list[int] = [0]
        self.owners: list[Owner] = [None]

    def copy(self) -> _Memory:
        copy = _Memory()
        copy.starts, copy.owners = self.starts.copy(), self.owners.copy()
        return copy

    def write(self, start: int, end: int, owner: Owner) -> None:
        first, last = bisect_left(self.starts, start), bisect_right(self.starts, end)
        behind = self.owners[last - 1]
        self.starts[first:last] = [start, end]
        self.owners[first:last] = [owner, behind]

    def read(self, start: int, end: int) -> list[Owner]:
        """Return the owners of bytes, in order."""
        first = bisect_right(self.starts, start) - 1
        return self.owners[first : bisect_left(self.starts, end)]

    def meet(self, other: _Memory) -> _Memory:
        """Return a memory with the owners that both have in common; other bytes have no owner."""
        common = _Memory()
        ends = sorted({*self.starts, *other.starts})
        for start, end in zip(ends, ends[1:], strict=False):
            owner = self.read(start, end)[0]
            if owner is not None and other.read(start, end)[0] is owner:
                common.write(start, end, owner)
        return common


class _Simulation:
    """A run of the steps of a graph, in which each body of a loop runs twice."""

    def __init__(self, graph: Graph, arena_nbytes: int):
        self.graph, self.memory = graph, _Memory()
        self.nbytes = arena_nbytes
        if graph.weights is not None:
            self.nbytes = max(arena_nbytes, graph.weights.streamed_nbytes)
        self.objects = {t.root for t in graph.inputs if t.is_object}
        self.states = _Memory()  # owners of the bytes that already hold the next run's states
        self.written = {t for step in walk(graph.steps) for t in step.outputs}

    def faults(self, keep_inputs: bool) -> Iterator[str]:
        inputs = [t for t in self.graph.inputs if is_in_arena(t)]
        for t in inputs:
            yield from self._overlap("the inputs", t, inputs)
            self._write(t)
        yield from self._run(self.graph.steps)
        for t in [*self.graph.outputs, *(inputs if keep_inputs else ())]:
            yield from self._read(t, "the end of the run")

    def _run(self, steps: Sequence[Step]) -> Iterator[str]:
        for step in steps:
            yield from self._load(step)
            for t in step.inputs:
                yield from self._read(t, shown(step), step)
            yield from self._writes(step)
            for t in step.outputs + step.scratch:
                self._write(t)
            yield from self._bodies(step)

    def _bodies(self, step):
        if step.kernel == "branch":
            before, after = self.memory, None
            for body in step.bodies:
                self.memory = before.copy()
                yield from self._run(body)
                after = self.memory if after is None else after.meet(self.memory)
            self.memory = after
            return
        for body in step.bodies * 2:  # the second trip finds what the first one left
            yield from self._run(body)

    def _load(self, step):
        """Read the chunks of weights that a board reads before a step."""
        weights = self.graph.weights
        for number in self.graph.reads.get(step, ()):
            chunk = weights.chunks[number]
            if chunk.place + chunk.nbytes > self.nbytes:
                yield f"weights of {step.node} lie outside the arena"
            self.memory.write(chunk.place, chunk.place + chunk.nbytes, chunk)

    def _read(self, t: Tensor, reader: str, step: Step | None = None) -> Iterator[str]:
        """Yield faults where a step reads a tensor from memory that does not hold its value.

        Args:
            t: the tensor.
            reader: text that names the reader.
            step: the step, or None for the caller.
        """
        root = t.root
        if root.data is not None:
            yield from self._read_weights(t, reader)
        elif t.is_object:
            if root not in self.objects:
                yield f"{reader} reads {t.name}, which no step before it makes"
        elif root.persistent:
            if _value(t, self.written) is root and self._is_renewed(t, step):
                yield f"{reader} reads the state {root.name} after its next value was written"
        elif t.planned_nbytes:
            for owner in self.memory.read(t.offset, t.offset + t.planned_nbytes):
                if owner is not root and not self._is_overlaid(owner, root):
                    why = "no step wrote" if owner is None else f"{_name(owner)} has overwritten"
                    yield f"{reader} reads {t.name} at {t.offset}, which {why}"

    def _is_renewed(self, t: Tensor, step: Step | None) -> bool:
        """Return True if a state's memory already has its next value when a step reads it.

        Steps of one node may share the memory if no other step has written what each reads.
        """
        pairs = step.in_place if step else ()
        owners = self.states.read(t.offset, t.offset + t.nbytes)
        return any(owner and (t, owner) not in pairs for owner in owners)

    def _read_weights(self, t, reader):
        weights = self.graph.weights
        location = weights.places.get(contents_of(t)) if weights and self.graph.reads else None
        chunk = weights.chunks[location[0]] if location else None
        if chunk is None or chunk.place is None or not t.nbytes:
            return
        start = chunk.place + location[1] * (1 + chunk.halves)
        if any(owner is not chunk for owner in self.memory.read(start, start + t.nbytes)):
            yield f"{reader} reads weights {t.name}, which are not in memory then"

    def _is_overlaid(self, owner: Owner, root: Tensor) -> bool:
        """Return True if bands of a patch write `owner` over `root` when they have read it."""
        lead = self.graph.overlays.get((owner, root)) if isinstance(owner, Tensor) else None
        return lead is not None and owner.offset + lead <= root.offset

    def _writes(self, step: Step) -> Iterator[str]:
        """Yield faults where a step overwrites its own inputs or outputs."""
        written = [t for t in step.outputs + step.scratch if is_in_arena(t)]
        read = [t for t in step.inputs if is_in_arena(t)]
        where = shown(step)
        for t in written:
            if t.offset + t.planned_nbytes > self.nbytes:
                yield f"{where} writes {t.name} outside the arena"
            yield from self._overlap(where, t, written)
            for x in read:
                if _meet(t, x) and not self._may_lie_over(step, t, x):
                    yield f"{where} writes {t.name} over {x.name}, which it reads"

    def _may_lie_over(self, step, t, x):
        out, root = t.root, x.root
        if self._is_overlaid(out, root):
            return True
        if not step.outputs or out is not step.outputs[0].root:
            return False
        lead = step.lead(root)
        is_before = lead is not None and out.offset + lead <= root.offset
        return is_before or out.offset == root.offset and step.is_same_place(root)

    def _overlap(self, where, t, others):
        for other in others:
            if other is not t and _meet(t, other):
                yield f"{where}: {t.name} and {other.name} lie in the same bytes"

    def _write(self, t: Tensor) -> None:
        root = t.root
        if t.is_object:
            self.objects.add(root)
        elif root.persistent:
            self.states.write(t.offset, t.offset + t.nbytes, t)
        elif t.planned_nbytes and root.data is None:
            self.memory.write(t.offset, t.offset + t.planned_nbytes, root)


def _value(t: Tensor, written: set[Tensor]) -> Tensor:
    """Return the tensor that a view belongs to: the nearest that a step writes, or the root."""
    while t.alias is not None and t not in written:
        t = t.alias
    return t


def is_in_arena(t: Tensor) -> bool:
    """Return True if a tensor, or its root, has bytes in the arena."""
    root = t.root
    is_planned = root.data is None and not t.is_object and not root.persistent
    return is_planned and t.planned_nbytes > 0


def _meet(a: Tensor, b: Tensor) -> bool:
    """Return True if tensors of different roots share bytes."""
    if a.root is b.root:
        return False
    return a.offset < b.offset + b.planned_nbytes and b.offset < a.offset + a.planned_nbytes


def shown(step: Step) -> str:
    """Return a step's node and kernel for messages."""
    return f"{step.node} ({step.kernel})"


def _name(owner: Owner) -> str:
    return owner.name if isinstance(owner, Tensor) else "a chunk of weights"
