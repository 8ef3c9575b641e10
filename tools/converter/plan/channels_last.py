"""Convolutions of bytes whose channels lie side by side: a row of a patch is one piece of memory.

1. A value between two convolutions, of which the second has windows of several columns, lies
   channels last where the arena does not grow for that.
2. A convolution whose input lies so takes (column, channel) for its columns: those of an image of
   one channel, C times as wide. Its weights have that order, too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir import Graph, Step, Tensor, walk
from ..ops._qoverlap import behind, depthwise_behind, is_same_place
from ..ops._qweights import AS_IT_IS, Geometry, packed_rows, rows_of
from ..shapes.extent import any_open
from .blocks import Block

# (blocks with offsets, bytes of arena) of a graph as it is.
Place = Callable[[Graph], tuple[list[Block], int]]
_COUNTS = ("n", "g", "c", "h", "w", "m", "kh", "kw", "oh", "ow")
_WRITERS = ("qconv", "qdepthwise")


def lay_channels_last(
    graph: Graph, placed: tuple[list[Block], int], place: Place
) -> tuple[list[Block], int]:
    """Changes the steps of the graph; returns its placement."""
    found = list(_values(graph))
    found.sort(key=lambda pair: -sum(step.macs for step in pair[1]))
    while found:
        before = [_state(step) for writer, readers in found for step in (writer, *readers)]
        for writer, readers in found:
            _turn(writer, readers)
        now = place(graph)
        if now[1] <= placed[1]:
            placed = now
            break
        for state in reversed(before):
            _restore(*state)
        found = found[: len(found) // 2]
    made: dict[tuple[Tensor, int], Tensor] = {}
    for step in walk(graph.steps):
        if step.kernel == "qconv" and step.scratch and _is_channels_last(step):
            _take_rows(step, made)
    return placed


def _values(graph):
    """(writer, readers) of values that may lie so; all of them at the top of the graph."""
    kept = {t.root for t in graph.outputs}
    kept |= {t.root for pair in graph.overlays for t in pair}  # bands follow each other there
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
    """Whether it writes one image, channels first, and all of its output."""
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
    writer.rows = None  # bands would lie in another way
    _overlap_anew(writer)
    for step in readers:
        c, w = step["c"], step["w"]
        for at, stride in zip("cyx", (1, w * c, c), strict=True):
            step[f"x_strides.{at}"] = stride
        _overlap_anew(step)


def _overlap_anew(step):
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


def _take_rows(step, made):
    """Its columns and their items become columns of one channel."""
    c, kh, kw, w = (step[name] for name in ("c", "kh", "kw", "w"))
    weights = step.inputs[1]
    key = weights, c
    if key not in made:
        channels = step["g"] * step["m"]
        bits = step["table.bits"] + step["table.word_bits"]
        is_packed = step["table.bits"] != AS_IT_IS[0]
        table = (bits * channels + 31) // 32 * 4 if is_packed else 8 * channels
        flat = weights.data.reshape(-1)
        rows = rows_of(flat[table:], step["g"], channels, c * kh * kw)
        turned = rows.reshape(channels, c, kh, kw).transpose(0, 2, 3, 1).reshape(rows.shape)
        data = np.concatenate([flat[:table], packed_rows(turned, step["g"])])
        made[key] = Tensor(weights.name, weights.dtype, data.shape, data)
    step.inputs[1] = made[key]
    step["c"], step["kw"], step["w"] = 1, kw * c, w * c
    step["x_strides.x"] = 1
    step["strides.x"] *= c
    step["pads.x"] *= c
    step.rows = None
