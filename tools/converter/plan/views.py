"""Copies that only change the order of dims, left out where all readers take strides.

1. A move whose result is read by convolutions only, whose kernel takes strides of its input, goes;
   they read its input instead, by the strides that the copy would have undone.
2. The input must hold until then: no later step writes it.
"""

from __future__ import annotations

import numpy as np

from ..ir import Graph, Step, Tensor, walk
from ..ops._move import places
from ..steps.rows import Image, Rows


def read_in_place(graph: Graph) -> None:
    """Changes the steps of the graph."""
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


def _roots(tensors):
    return [t.root for t in tensors]


def _holds(graph, move, readers):
    """True if nobody writes the move's input from the move to the last reader on."""
    x = move.inputs[0].root
    first = graph.steps.index(move)
    last = max(graph.steps.index(s) for s in readers)
    return all(
        x not in _roots(s.outputs) for top in graph.steps[first : last + 1] for s in walk([top])
    )


def with_input(step: Step, image: Image) -> Step:
    """A step that reads its first input as it lies in memory."""
    _, out = step.rows.images(step)
    new = step.rows.part(step, image, out, 0, step.rows.n_rows(step))
    new.rows, new.macs = step.rows, step.macs
    new.grow, new.lacks = step.grow, step.lacks
    return new


def _image(move: Step, step: Step) -> Image | None:
    """The move's input as the step's input; None if the step cannot read it."""
    t, rows = step.inputs[0], step.rows
    if not isinstance(rows, Rows) or not rows.x or not rows.is_cut(step):
        return None
    is_first = [u.root for u in step.inputs + step.outputs].count(t.root) == 1
    dense = rows.images(step)[0].is_dense
    if not is_first or not dense or len(t.shape) != 4 or t.nelem != move.outputs[0].root.nelem:
        return None
    x = move.inputs[0]
    found = _sources(move, x, t.nelem)
    if found is None:
        return None
    found = found.reshape(t.shape[1:])
    strides = [int(s) for s in (_step(found, axis) for axis in range(3))]
    if min(strides) < 0 or found.flat[0] or (found != places(found.shape, strides, 0)).any():
        return None
    flat = Tensor(f"{x.name}/view", x.dtype, (1, x.nelem, 1, 1), alias=x)
    return Image(flat, t.shape[2], tuple(strides))


def _step(found, axis):
    return found.take(1, axis).flat[0] - found.flat[0] if found.shape[axis] > 1 else 0


def _sources(move: Step, x: Tensor, nelem: int) -> np.ndarray | None:
    """The element of x that each element of the move's result is; None if it is no such copy."""
    if not all(type(p) is int for p in move.params) or move["unit"] != x.itemsize:
        return None
    sources = places(move["dims"], move["x_strides"], move["x_first"])
    targets = places(move["dims"], move["out_strides"], move["out_first"])
    found = np.full(nelem, -1, np.int64)
    if targets.size != nelem or x.nelem != nelem or move.inputs[0].root is move.outputs[0].root:
        return None
    found[targets.reshape(-1)] = sources.reshape(-1)
    return None if found.min() < 0 else found
