"""Remove moves: copies that readers do not need, and copies of contiguous memory.

`read_in_place` removes moves that only change the order of dims. If only convolutions whose kernel
takes strides read the result, they read the move's input instead, by strides that have the same
effect. No later step may write that input before the last reader.

`share_memory` puts one tensor into the memory of another:

1. An input of a Concat along the outermost axis is computed in its part of the result.
2. An output of a Split, or of a Slice along the outermost axis, is read in its source.

Each is done only if the most that is alive does not grow, because a part keeps the whole other
tensor alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..ir import Graph, Step, Tensor, walk
from ..ops._move import places
from ..steps.rows import Image, Rows
from .blocks import ALIGNMENT, is_planned

_EFFORT = 50_000  # step evaluations: each try evaluates all steps


def read_in_place(graph: Graph) -> None:
    """Remove moves that only change the order of dims from a graph, in place."""
    outputs = {t.root for t in graph.outputs}
    for move in [s for s in graph.steps if s.kernel == "move"]:
        out = move.outputs[0].root
        touching = [s for s in walk(graph.steps) if out in _roots(s.inputs + s.outputs)]
        readers = [s for s in touching if s is not move]
        if out in outputs or not readers or not all(s in graph.steps for s in touching):
            continue
        images = [_image(move, s) for s in readers]
        if None in images or not _holds(graph, move, readers):
            continue
        for step, image in zip(readers, images, strict=True):
            graph.steps[graph.steps.index(step)] = with_input(step, image)
        graph.steps.remove(move)


def _holds(graph, move, readers):
    """Return True if no step writes to the move's input until its last reader has run."""
    x = move.inputs[0].root
    first = graph.steps.index(move)
    last = max(graph.steps.index(s) for s in readers)
    return all(
        x not in _roots(s.outputs) for top in graph.steps[first : last + 1] for s in walk([top])
    )


def with_input(step: Step, image: Image) -> Step:
    """Return a copy of a step that reads its first input from another image, in its layout."""
    _, out = step.rows.images(step)
    new = step.rows.part(step, image, out, 0, step.rows.n_rows(step))
    new.rows, new.macs = step.rows, step.macs
    new.grow, new.lacks = step.grow, step.lacks
    return new


def _image(move: Step, step: Step) -> Image | None:
    """Return the move's input as an Image for a step; None if the step cannot read it."""
    t, rows = step.inputs[0], step.rows
    if not isinstance(rows, Rows) or not rows.x or not rows.is_cut(step):
        return None
    is_first = [u.root for u in step.inputs + step.outputs].count(t.root) == 1
    dense = rows.images(step)[0].is_dense
    if not is_first or not dense or len(t.shape) != 4 or t.nelem != move.outputs[0].root.nelem:
        return None
    x = move.inputs[0]
    sources = _sources(move, x, t.nelem)
    if sources is None:
        return None
    sources = sources.reshape(t.shape[1:])
    strides = [int(s) for s in (_stride(sources, axis) for axis in range(3))]
    if min(strides) < 0 or sources.flat[0] or (sources != places(sources.shape, strides, 0)).any():
        return None
    flat = Tensor(f"{x.name}/view", x.dtype, (1, x.nelem, 1, 1), alias=x)
    return Image(flat, t.shape[2], tuple(strides))


def _stride(sources, axis):
    if sources.shape[axis] <= 1:
        return 0
    return sources.take(1, axis).flat[0] - sources.flat[0]


def _sources(move: Step, x: Tensor, nelem: int) -> np.ndarray | None:
    """Return the element of x for each element of the move's result, None if not a permutation."""
    if not all(type(p) is int for p in move.params) or move["unit"] != x.itemsize:
        return None
    sources = places(move["dims"], move["x_strides"], move["x_first"])
    targets = places(move["dims"], move["out_strides"], move["out_first"])
    result = np.full(nelem, -1, np.int64)
    if targets.size != nelem or x.nelem != nelem or move.inputs[0].root is move.outputs[0].root:
        return None
    result[targets.reshape(-1)] = sources.reshape(-1)
    return None if result.min() < 0 else result


@dataclass
class _Copy:
    """A move of contiguous bytes.

    Attributes:
        step: the move.
        x: root that it reads.
        out: root that it writes.
        source: first byte in x.
        target: first byte in out.
        nbytes: number of bytes.
    """

    step: Step
    x: Tensor
    out: Tensor
    source: int
    target: int
    nbytes: int


def share_memory(graph: Graph, cost: Callable[[Graph], int]) -> None:
    """Remove copies of contiguous memory from a graph, in place, unless its cost grows."""
    now = cost(graph)
    most = _EFFORT // max(len(graph.steps), 1)
    for step in [s for s in graph.steps if s.kernel == "move"][:most]:
        copy = _copy_of(step)
        pair = copy and (_into_result(graph, copy) or _within_source(graph, copy))
        if not pair:
            continue
        part, whole, at = pair
        before = list(graph.steps)
        part.alias, part.alias_at = whole, at
        graph.steps.remove(step)
        new = cost(graph)
        if new > now:
            part.alias, part.alias_at, graph.steps = None, 0, before
        else:
            now = new


def _copy_of(step: Step) -> _Copy | None:
    """Return the _Copy that a step makes; None unless it moves contiguous memory."""
    if step.kernel != "move" or not all(type(p) is int for p in step.params):
        return None
    unit, dims = step["unit"], step["dims"]
    if len(dims) > 1 or any(s != 1 for s in step["x_strides"] + step["out_strides"]):
        return None
    x, out = step.inputs[0], step.outputs[0]
    source, target = step["x_first"] * unit, step["out_first"] * unit
    roots = x.root, out.root
    if roots[0] is roots[1] or not all(map(_is_plain, roots)):
        return None
    return _Copy(step, *roots, x.start + source, out.start + target, math.prod(dims) * unit)


def _is_plain(t: Tensor) -> bool:
    return is_planned(t) and not t.is_open


def _into_result(graph, copy):
    """Return (part, whole, offset) if the part can be computed in the result, else None."""
    x, out = copy.x, copy.out
    whole = copy.source == 0 and copy.nbytes == x.nbytes and _is_aligned(x, copy.target)
    ends = {t.root for t in graph.inputs + graph.outputs}
    if not whole or x in ends or out in {t.root for t in graph.inputs}:
        return None
    others = [s for s in _writers(graph, out) if s is not copy.step]
    if not all(_writes_beside(s, copy) for s in others):
        return None
    if any(out in _roots(s.inputs) for body in _bodies(graph) for s in body):
        return None
    return (x, out, copy.target) if _is_final(graph, x, copy.step) else None


def _writes_beside(step, copy):
    """Return True if a step provably writes no byte of the copied part."""
    if any(t.root is copy.out for t in step.scratch):
        return False
    for t in step.outputs:
        if t.root is copy.out:
            other = _copy_of(step)
            start, nbytes = (other.target, other.nbytes) if other else (t.start, t.nbytes)
            if start < copy.target + copy.nbytes and copy.target < start + nbytes:
                return False
    return True


def _within_source(graph, copy):
    """Return (part, whole, offset) if the part can be read in its source, else None."""
    x, out = copy.x, copy.out
    whole = copy.target == 0 and copy.nbytes == out.nbytes and _is_aligned(out, copy.source)
    ends = {t.root for t in graph.inputs + graph.outputs}
    if not whole or out in ends or _writers(graph, out) != [copy.step]:
        return None
    return (out, x, copy.source) if _is_final(graph, x, copy.step) else None


def _is_aligned(t, at):
    """Return True if the offset suits kernels that also read bytes as words."""
    return at % (ALIGNMENT if t.itemsize == ALIGNMENT else 4) == 0


def _is_final(graph, x, move):
    """Return True if no later step and no body writes x."""
    behind = graph.steps[graph.steps.index(move) :]
    inner = [s for body in _bodies(graph) for s in body]
    return all(x not in _roots(s.outputs + s.scratch) for s in [*behind, *inner])


def _writers(graph, t):
    return [s for s in walk(graph.steps) if t in _roots(s.outputs + s.scratch)]


def _bodies(graph):
    return [list(walk(body)) for step in graph.steps for body in step.bodies]


def _roots(tensors):
    return [t.root for t in tensors]
