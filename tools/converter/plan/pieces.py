"""Copies of whole pieces, left out by putting one tensor into the memory of the other.

1. A part of a Concat along the outermost axis is computed where it belongs in the result.
2. A part of a Split, or a Slice along the outermost axis, is read where it lies.

Each is done only where the most that is alive does not grow: a part keeps all of the other alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..ir import Graph, Step, Tensor, walk
from .blocks import ALIGNMENT, is_planned

_EFFORT = 50_000  # steps that may be looked at: each try costs a look at all


@dataclass
class _Piece:
    """A move of nbytes from byte `source` of root x to byte `target` of root out."""

    step: Step
    x: Tensor
    out: Tensor
    source: int
    target: int
    nbytes: int


def share_memory(graph: Graph, cost: Callable[[Graph], int]) -> None:
    """Changes steps and tensors of the graph. cost: what must not grow."""
    now = cost(graph)
    most = _EFFORT // max(len(graph.steps), 1)
    for step in [s for s in graph.steps if s.kernel == "move"][:most]:
        piece = _piece(step)
        pair = piece and (_into_result(graph, piece) or _within_source(graph, piece))
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


def _piece(step: Step) -> _Piece | None:
    """What a step copies, if it is a move of one piece of memory."""
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
    return _Piece(step, *roots, x.start + source, out.start + target, math.prod(dims) * unit)


def _is_plain(t: Tensor) -> bool:
    return is_planned(t) and not t.is_open


def _into_result(graph, piece):
    """(part, whole, offset) where the part can be computed in the result; else None."""
    x, out = piece.x, piece.out
    whole = piece.source == 0 and piece.nbytes == x.nbytes and _is_aligned(x, piece.target)
    ends = {t.root for t in graph.inputs + graph.outputs}
    if not whole or x in ends or out in {t.root for t in graph.inputs}:
        return None
    others = [s for s in _writers(graph, out) if s is not piece.step]
    if not all(_writes_beside(s, piece) for s in others):
        return None
    if any(out in _roots(s.inputs) for body in _bodies(graph) for s in body):
        return None
    return (x, out, piece.target) if _is_done(graph, x, piece.step) else None


def _writes_beside(step, piece):
    """True if all that a step writes of the result is known to be other bytes of it."""
    if any(t.root is piece.out for t in step.scratch):
        return False
    for t in step.outputs:
        if t.root is piece.out:
            other = _piece(step)
            start, nbytes = (other.target, other.nbytes) if other else (t.start, t.nbytes)
            if start < piece.target + piece.nbytes and piece.target < start + nbytes:
                return False
    return True


def _within_source(graph, piece):
    x, out = piece.x, piece.out
    whole = piece.target == 0 and piece.nbytes == out.nbytes and _is_aligned(out, piece.source)
    ends = {t.root for t in graph.inputs + graph.outputs}
    if not whole or out in ends or _writers(graph, out) != [piece.step]:
        return None
    return (out, x, piece.source) if _is_done(graph, x, piece.step) else None


def _is_aligned(t, at):
    """For kernels that look at bytes as words, too."""
    return at % (ALIGNMENT if t.itemsize == ALIGNMENT else 4) == 0


def _is_done(graph, x, move):
    """True if nobody writes x behind a step, nor in any body."""
    behind = graph.steps[graph.steps.index(move) :]
    inner = [s for body in _bodies(graph) for s in body]
    return all(x not in _roots(s.outputs + s.scratch) for s in [*behind, *inner])


def _writers(graph, t):
    return [s for s in walk(graph.steps) if t in _roots(s.outputs + s.scratch)]


def _bodies(graph):
    return [list(walk(body)) for step in graph.steps for body in step.bodies]


def _roots(tensors):
    return [t.root for t in tensors]
