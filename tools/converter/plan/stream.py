"""Decide which weights a board may stream while the model runs, when, and where in the arena.

1. A constant may be streamed if the kernels' STREAMS name all inputs that use it. All others stay
   in memory, and so do small ones that several steps use.
2. The constants that a step is the first to use form a chunk, together with those of the next
   steps as long as the chunk stays small.
3. A chunk is read before the first step of each stretch of steps that use it. Stretches are
   joined, to read the chunk once, if the arena does not grow for that.
4. Its offset is one where no live value and no other chunk lies during any stretch: mostly memory
   that values of other steps leave free.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tools import package

from ..errors import TooSmall
from ..file.weights import CHUNK_NBYTES, Chunk, Contents, Weights
from ..file.writer import contents_of, unchanged
from ..ir import Graph, Step, walk
from . import ALIGNMENT, Plan

_SMALL = 256  # bytes of a constant that is not worth reading repeatedly

_Stretch = tuple[int, int]  # first and last step


@dataclass(eq=False)
class _Streamed:
    """A streamed chunk.

    Attributes:
        number: number of the chunk.
        chunk: its contents.
        uses: steps that use it.
        stretches: (first, last) steps between which it is in memory.
    """

    number: int
    chunk: Chunk
    uses: list[int] = field(default_factory=list)
    stretches: list[_Stretch] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        return self.chunk.nbytes


def arrange(
    graph: Graph, plan: Plan, window: int | None = None, own: Mapping[str, Path] | None = None
) -> None:
    """Set the weights of a graph and the chunks that steps read.

    Args:
        graph: the lowered graph; graph.weights and graph.reads are set.
        plan: plan of the arena.
        window: most bytes of streamed weights in memory at one time.
        own: files of the user's kernels, by name.

    Raises:
        TooSmall: if the window does not suffice.
    """
    steps = list(walk(graph.steps))
    uses = _streamable(graph, steps, own or {})
    weights = Weights()
    for t in graph.tensors():
        if t.root.data is not None and contents_of(t) not in uses:
            weights.add(unchanged(t))
    contexts = list(_contexts(graph.steps))
    streamed = _chunks(weights, steps, uses, contexts, window)
    if window is not None:
        _check_window(steps, streamed, window)
    _join_stretches(streamed, contexts, plan, window)
    weights.streamed_nbytes = _place(streamed, plan)
    weights.window_nbytes = max(_loads(streamed).values(), default=0)
    graph.reads.clear()
    for s in streamed:
        for first, _ in s.stretches:
            graph.reads.setdefault(steps[first], []).append(s.number)
    graph.weights = weights


def _streamable(graph, steps: list[Step], own) -> dict[Contents, list[int]]:
    """Return the constants that may be streamed, each with the numbers of steps that use it."""
    uses: dict[Contents, list[int]] = {}
    held = {contents_of(t) for t in graph.outputs if t.root.data is not None}
    for i, step in enumerate(steps):
        names = _streams(own.get(f"{step.kernel}.py") or package.KERNELS / f"{step.kernel}.py")
        for k, t in enumerate(step.inputs):
            if t.root.data is None:
                continue
            contents = contents_of(t)
            if k not in names or t.is_object or t.stored_nbytes != t.nbytes:
                held.add(contents)
            elif i not in uses.setdefault(contents, []):
                uses[contents].append(i)
    return {
        c: numbers
        for c, numbers in uses.items()
        if c.raw and c not in held and (len(numbers) == 1 or len(c.raw) > _SMALL)
    }


@cache
def _streams(path: Path) -> tuple[int, ...]:
    """Return the indices of inputs that a kernel may stream: STREAMS in its source."""
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "STREAMS":
            return ast.literal_eval(statement.value)
    return ()


def _contexts(steps: list[Step], path: tuple = ()) -> Iterator[tuple]:
    """Yield for each step, in the order of walk(), the body that it is in."""
    for step in steps:
        yield path
        for k, body in enumerate(step.bodies):
            yield from _contexts(body, (*path, step, k))


def _chunks(weights, steps, uses, contexts, window) -> list[_Streamed]:
    """Put all constants that may be streamed into chunks, in the order in which steps need them.

    Args:
        weights: receives the chunks and the place of each constant in them.
        steps: all steps, in the order of walk().
        uses: the constants to stream, each with the numbers of the steps that use it.
        contexts: the body that each step is in; a new chunk begins where the body changes.
        window: most bytes of a chunk, or None.

    Returns:
        The chunks with the stretches of steps during which each is in memory.
    """
    streamed: dict[int, _Streamed] = {}
    current: dict[bool, _Streamed] = {}  # by halves
    most = min(CHUNK_NBYTES, window or CHUNK_NBYTES)
    for i, step in enumerate(steps):
        used = [contents_of(t) for t in step.inputs if t.root.data is not None]
        used = [c for c in dict.fromkeys(used) if c in uses]
        for halves in (False, True):
            new = [c for c in used if c not in weights.places and c.halves == halves]
            nbytes = sum(c.nbytes for c in new)
            last = current.get(halves)
            if new and (
                last is None
                or last.nbytes + nbytes > most
                or contexts[last.uses[0]] != contexts[i]
            ):
                last = _Streamed(len(weights.chunks), Chunk(halves=halves))
                weights.chunks.append(last.chunk)
                current[halves] = streamed[last.number] = last
            for c in new:
                weights.append(c, last.number)
        for number in dict.fromkeys(weights.places[c][0] for c in used):
            streamed[number].uses.append(i)
    for s in streamed.values():
        s.stretches = _stretches(s, streamed.values(), contexts)
    return list(streamed.values())


def _stretches(s, streamed, contexts) -> list[_Stretch]:
    """Merge the uses of a chunk into stretches (first, last) without a use of another chunk.

    Args:
        s: the chunk.
        streamed: all chunks.
        contexts: the body that each step is in; a stretch stays within one.
    """
    others = {i for other in streamed if other is not s for i in other.uses}
    stretches = [(s.uses[0], s.uses[0])]
    for i in s.uses[1:]:
        first, last = stretches[-1]
        if contexts[i] == contexts[last] and not others & set(range(last + 1, i)):
            stretches[-1] = (first, i)
        else:
            stretches.append((i, i))
    return stretches


def _loads(streamed) -> dict[int, int]:
    """Return the bytes of streamed weights that are in memory, by step."""
    loads: dict[int, int] = {}
    for s in streamed:
        for first, last in s.stretches:
            for i in range(first, last + 1):
                loads[i] = loads.get(i, 0) + s.nbytes
    return loads


def _check_window(steps, streamed, window):
    """Refuse a window that is too small for the streamed weights of any step.

    Raises:
        TooSmall: if it is.
    """
    loads = _loads(streamed)
    least = max(loads.values(), default=0)
    if least > window:
        names = [steps[i].node for i in sorted(loads) if loads[i] > window]
        text = f"{least} bytes is the least for {', '.join(dict.fromkeys(names))}"
        raise TooSmall(f"--window {window}: {text}", least)


def _join_stretches(streamed, contexts, plan, window):
    """Join stretches of a chunk as far as the arena does not grow and the window suffices."""
    arena_bytes = _place(streamed, plan)
    for s in streamed:
        k = 1
        while k < len(s.stretches):
            before = s.stretches
            (first, end), (start, last) = before[k - 1 : k + 1]
            s.stretches = [*before[: k - 1], (first, last), *before[k + 1 :]]
            fits = contexts[end] == contexts[start] and _place(streamed, plan) <= arena_bytes
            if not fits or window and max(_loads(streamed).values()) > window:
                s.stretches = before
                k += 1


def _place(streamed, plan: Plan) -> int:
    """Set the offset of each chunk, and return the bytes of the arena that the plan then takes."""
    placed: list[_Streamed] = []
    for s in sorted(streamed, key=lambda s: (-s.nbytes, s.number)):
        taken = [(b.offset, b.offset + b.nbytes) for b in plan.blocks if _meet(s, b.first, b.last)]
        for other in placed:
            if any(_meet(s, *stretch) for stretch in other.stretches):
                taken.append((other.chunk.place, other.chunk.place + other.nbytes))
        s.chunk.place = _lowest(sorted(taken), s.nbytes)
        placed.append(s)
    ends = (s.chunk.place + s.nbytes for s in streamed)
    end = max(ends, default=0)
    return max(plan.arena_bytes, end + -end % ALIGNMENT)


def _meet(s, first, last):
    """Return True if a chunk is in memory in any of the steps first .. last."""
    return any(a <= last and first <= b for a, b in s.stretches)


def _lowest(taken, nbytes) -> int:
    """Return the lowest free offset for this number of bytes."""
    place = 0
    for start, end in taken:
        if place + nbytes <= start:
            break
        place = max(place, end + -end % ALIGNMENT)
    return place
