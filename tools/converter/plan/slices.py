"""Split steps whose weights exceed the window into steps for some of the output's channels.

Each slice is the same kernel with fewer rows of weights, and an output that starts further on. A
kernel has a rule here if its weights are rows by output channel:

1. conv, block_conv: the output is addressed by strides, so a slice only begins at another element.
2. gemm, block_gemm of one row: a slice of the output is contiguous. Of several rows: a slice is
   computed in memory of its own, and a move puts it between the others.
3. conv_max_pool of a batch of one: a slice of the output is contiguous.
4. qconv: like conv; the table of its channels is sliced too. Its rows are stored in fours, so a
   slice begins at a multiple of 4.
5. Convolutions by groups are sliced within each group, with that group's input, only for a batch
   of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ..ir import Graph, Step, Tensor
from ..ops._move import emit_move
from ..shapes.extent import any_open

_PADDING = 16  # bytes between two constants of a step, at most

_Slice = tuple[int, int, int]  # group, first and last + 1 of its channels


def split(graph: Graph, window: int) -> None:
    """Split the steps of a graph whose weights have more bytes than the window, in place."""
    _split_all(graph.steps, window)


def _split_all(steps: list[Step], window):
    for step in list(steps):
        for body in step.bodies:
            _split_all(body, window)
        rule = _RULES.get(step.kernel)
        if not rule or any_open(step.params) or step.inputs[1].data is None:
            continue
        if sum(t.nbytes for t in step.inputs[1:] if t.data is not None) > window:
            at = steps.index(step)
            steps[at : at + 1] = list(rule(step, window)) or [step]


def _slices(groups: int, channels: int, nbytes: int, window: int, unit: int = 1) -> list[_Slice]:
    """Return even slices of each group, none if not even one unit fits.

    Args:
        groups: number of groups.
        channels: channels of a group.
        nbytes: bytes of a channel's weights.
        window: most bytes of a slice.
        unit: channels of which a slice has a multiple.
    """
    most, units = window // (nbytes * unit), -(-channels // unit)
    if most < 1:
        return []
    n = -(-units // most)
    ends = [min(units * i // n * unit, channels) for i in range(n + 1)]
    return [(g, ends[i], ends[i + 1]) for g in range(groups) for i in range(n)]


def _part(step: Step, weights: list[np.ndarray], share: float, x=None, **changes) -> Step:
    """Return a copy of a step that computes some output channels, with their weights.

    It must not overwrite the input, which other slices still read.

    Args:
        step: the step for all channels.
        weights: arrays of its inputs from the second one on.
        share: part of the step's multiply-accumulates.
        x: another first input, or None.
        **changes: other attributes of the copy.
    """
    inputs = [x or step.inputs[0]]
    for t, data in zip(step.inputs[1:], weights, strict=False):
        inputs.append(Tensor(t.name, t.dtype, data.shape, np.ascontiguousarray(data)))
    inputs += step.inputs[len(inputs) :]
    changes |= {"over": {}, "behind": {}, "in_place": (), "rows": None, "grow": None}
    return replace(step, inputs=inputs, macs=round(step.macs * share), **changes)


def _from(t: Tensor, first: int, nelem: int | None = None) -> Tensor:
    """Return the memory of t from an element on."""
    n = t.nelem - first if nelem is None else nelem
    return Tensor(t.name, t.dtype, (n,), alias=t, alias_at=first * t.itemsize)


def _rows(step: Step, *shape: int) -> tuple[list[np.ndarray], int]:
    """Return the constants by (*shape, elements of a row), and the bytes of one row of all."""
    rows = [t.data.reshape(*shape, -1) for t in step.inputs[1:] if t.data is not None]
    return rows, sum(r.shape[-1] * r.itemsize for r in rows)


def _conv(step: Step, window: int) -> Iterator[Step]:
    batch, groups, c, m = step["n"], step["g"], step["c"], step["m"]
    plane, x = step["d"] * step["h"] * step["w"], step.inputs[0]
    first, stride = step["out_first"], step["out_strides.m"]
    if groups > 1 and batch > 1:
        return
    rows, nbytes = _rows(step, groups, m)
    for g, lo, hi in _slices(groups, m, nbytes, window - _PADDING):
        part = step.with_params(g=1, m=hi - lo, out_first=first + (g * m + lo) * stride)
        memory = None if groups == 1 else _from(x, g * c * plane, c * plane)
        share = (hi - lo) / (groups * m)
        yield _part(part, [r[g, lo:hi] for r in rows], share, memory)


def _conv_max_pool(step: Step, window: int) -> Iterator[Step]:
    batch, groups, c, m = step["n"], step["g"], step["c"], step["m"]
    plane, pooled = step["h"] * step["w"], step["oh"] * step["ow"]
    if batch > 1:
        return
    rows, nbytes = _rows(step, groups, m)
    for g, lo, hi in _slices(groups, m, nbytes, window - _PADDING):
        part = step.with_params(g=1, m=hi - lo)
        memory = None if groups == 1 else _from(step.inputs[0], g * c * plane, c * plane)
        outputs = [_from(step.outputs[0], (g * m + lo) * pooled, (hi - lo) * pooled)]
        weights, share = [r[g, lo:hi] for r in rows], (hi - lo) / (groups * m)
        yield _part(part, weights, share, memory, outputs=outputs)


def _gemm(step: Step, window: int) -> Iterator[Step]:
    """Yield the slices of a gemm: steps for some of its columns each."""
    if any(step["w_steps"]):
        return
    n, out = step["n"], step.outputs[0]
    rows, nbytes = _rows(step, n)
    n_rows = math.prod(step["batches"]) * step["m"]
    for _, lo, hi in _slices(1, n, nbytes, window - _PADDING):
        width = hi - lo
        memory = (
            _from(out, lo, width) if n_rows == 1 else Tensor(out.name, out.dtype, (n_rows, width))
        )
        part = step.with_params(n=width)
        weights = [r[lo:hi] for r in rows]
        yield _part(part, weights, width / n, outputs=[memory])
        if n_rows > 1:
            moves: list[Step] = []

            def emit(moves=moves, **move):
                moves.append(Step.of(**move, node=step.node))

            emit_move(emit, memory, out, [n_rows, width], [width, 1], [n, 1], 0, lo)
            yield from moves


def _qconv(step: Step, window: int) -> Iterator[Step]:
    """Yield the slices of a quantized convolution: steps for some of a group's channels each."""
    batch, groups, m = step["n"], step["g"], step["m"]
    x_group, out_group, out_channel = (
        step[name] for name in ("x_strides.g", "out_strides.g", "out_strides.m")
    )
    x, w = step.inputs[:2]
    if groups > 1 and batch > 1:
        return
    flat = w.data.reshape(-1)
    table = flat[: 8 * groups * m].reshape(groups, m, 8)
    rows = flat[8 * groups * m :].reshape(groups, m, -1)
    for g, lo, hi in _slices(groups, m, 8 + rows.shape[2], window, 4):
        data = np.concatenate([table[g, lo:hi].reshape(-1), rows[g, lo:hi].reshape(-1)])
        part = step.with_params(g=1, m=hi - lo)
        memory = None if groups == 1 else _from(x, g * x_group)
        outputs = [_from(step.outputs[0], g * out_group + lo * out_channel)]
        share = (hi - lo) / (groups * m)
        yield _part(part, [data], share, memory, outputs=outputs)


_RULES: dict[str, Callable[[Step, int], Iterator[Step]]] = {
    "block_conv": _conv,
    "block_gemm": _gemm,
    "conv": _conv,
    "conv_max_pool": _conv_max_pool,
    "gemm": _gemm,
    "qconv": _qconv,
}
