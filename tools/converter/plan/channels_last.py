"""Lay out values between quantized convolutions with channels last.

A row of a patch is then contiguous memory.

1. A value between two convolutions, of which the second has windows of several columns, gets
   channels last if the arena does not grow for that.
2. A convolution of such an input treats (column, channel) as columns of an image of one channel
   that is C times as wide. Its weights get that order too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir import Graph, Step, Tensor, walk
from ..ops._qoverlap import behind, depthwise_behind, is_same_place
from ..ops._qweights import AS_IT_IS, Geometry, packed_rows, rows_of
from ..shapes.extent import any_open
from .blocks import Block

# Returns (blocks with offsets, bytes of the arena) of a graph.
Place = Callable[[Graph], tuple[list[Block], int]]
_COUNTS = ("n", "g", "c", "h", "w", "m", "kh", "kw", "oh", "ow")
_WRITERS = ("qconv", "qdepthwise")


def lay_channels_last(
    graph: Graph, placed: tuple[list[Block], int], place: Place
) -> tuple[list[Block], int]:
    """Change layouts in a graph, in place; return its placement, which is `placed` at first."""
    candidates = list(_values(graph))
    candidates.sort(key=lambda pair: -sum(step.macs for step in pair[1]))
    while candidates:
        before = [_state(step) for writer, readers in candidates for step in (writer, *readers)]
        for writer, readers in candidates:
            _turn(writer, readers)
        now = place(graph)
        if now[1] <= placed[1]:
            placed = now
            break
        for state in reversed(before):
            _restore(*state)
        candidates = candidates[: len(candidates) // 2]
    reordered: dict[tuple[Tensor, int], Tensor] = {}
    for step in walk(graph.steps):
        if step.kernel == "qconv" and step.scratch and _is_channels_last(step):
            _take_rows(step, reordered)
    return placed


def _values(graph):
    """Yield (writer, readers) of values that may get channels last, all outside of bodies."""
    kept = {t.root for t in graph.outputs}
    kept |= {t.root for pair in graph.overlays for t in pair}  # their rows follow each other
    users: dict[Tensor, list[Step]] = {}
    for step in walk(graph.steps):
        for root in dict.fromkeys(t.root for t in step.inputs + step.outputs + step.scratch):
            users.setdefault(root, []).append(step)
    for writer in graph.steps:
        if writer.kernel not in _WRITERS or writer.outputs[0].alias or not _is_dense(writer):
            continue
        t = writer.outputs[0]
        readers = users[t][1:]
        if t in kept or users[t][0] is not writer or not readers:
            continue
        if all(_may_turn(step, t) and step in graph.steps for step in readers):
            yield writer, readers


def _is_dense(writer):
    """Return True if the step writes one whole image with channels first."""
    t = writer.outputs[0]
    if any_open((*writer.params, *t.shape)) or writer["n"] != 1 or writer.bodies:
        return False
    positions, channels = writer["oh"] * writer["ow"], writer["g"] * writer["m"]
    is_one = writer.kernel == "qdepthwise" or writer["g"] == 1
    strides = [writer["out_strides.m"], writer["out_strides.i"]]
    return is_one and strides == [positions, 1] and t.nelem == positions * channels > positions


def _may_turn(step, t):
    x = step.inputs[0]
    if step.kernel != "qconv" or x.root is not t or any_open(step.params) or not step.scratch:
        return False
    uses = [u.root for u in step.inputs + step.outputs + step.scratch].count(t)
    c, h, w = (step[name] for name in ("c", "h", "w"))
    whole = x.nelem == t.nelem == c * h * w and not x.start and step["n"] == step["g"] == 1
    dense = [step[f"x_strides.{at}"] for at in "cyx"] == [h * w, w, 1]
    return uses == 1 and whole and dense and step["kw"] > 1 and step["dilations.x"] == 1


def _turn(writer, readers):
    channels = writer["g"] * writer["m"]
    writer["out_strides.m"], writer["out_strides.i"] = 1, channels
    writer.rows = None  # bands would have another layout
    _update_overlap(writer)
    for step in readers:
        c, w = step["c"], step["w"]
        for at, stride in zip("cyx", (1, w * c, c), strict=True):
            step[f"x_strides.{at}"] = stride
        _update_overlap(step)


def _update_overlap(step):
    x, out = step.inputs[0], step.outputs[0]
    if step.kernel == "qdepthwise":
        geometry = _geometry(step, [1], "bgyx", "bmi")
        step.behind = depthwise_behind(geometry, step["planes"], step["out_rows"], x)
        return
    geometry = _geometry(step, [], "bgcyx", "bgmi")
    if step.behind:
        step.behind = behind(geometry, step["piece"], x, out)
    if not is_same_place(geometry, x, out):
        step.in_place = ()


def _geometry(step, c, of_x, of_out):
    counts = [step[name] for name in _COUNTS if not c or name != "c"]
    x = [step[f"x_strides.{at}"] for at in of_x]
    out = [step[f"out_strides.{at}"] for at in of_out]
    if c:
        counts[2:2], x[2:2], out[1:1] = c, [0], [0]
    return Geometry(counts, x, out, step["strides"], step["dilations"], step["pads"])


def _state(step):
    return step, list(step.params), step.behind, step.in_place, step.rows


def _restore(step, params, behind, in_place, rows):
    step.params, step.behind, step.in_place, step.rows = params, behind, in_place, rows


def _is_channels_last(step):
    if any_open(step.params):
        return False
    c, kw = step["c"], step["kw"]
    lies = step["x_strides.c"] == 1 and step["x_strides.x"] == c
    return lies and c > 1 and kw > 1 and step["dilations.x"] == 1


def _take_rows(step, reordered):
    """Replace the columns of a convolution and their elements by columns of one channel."""
    c, kh, kw, w = (step[name] for name in ("c", "kh", "kw", "w"))
    weights = step.inputs[1]
    key = weights, c
    if key not in reordered:
        channels = step["g"] * step["m"]
        bits = step["table.bits"] + step["table.scale_bits"]
        is_packed = step["table.bits"] != AS_IT_IS[0]
        table = (bits * channels + 31) // 32 * 4 if is_packed else 8 * channels
        flat = weights.data.reshape(-1)
        rows = rows_of(flat[table:], step["g"], channels, c * kh * kw)
        turned = rows.reshape(channels, c, kh, kw).transpose(0, 2, 3, 1).reshape(rows.shape)
        data = np.concatenate([flat[:table], packed_rows(turned, step["g"])])
        reordered[key] = Tensor(weights.name, weights.dtype, data.shape, data)
    step.inputs[1] = reordered[key]
    step["c"], step["kw"], step["w"] = 1, kw * c, w * c
    step["x_strides.x"] = 1
    step["strides.x"] *= c
    step["pads.x"] *= c
    step.rows = None
