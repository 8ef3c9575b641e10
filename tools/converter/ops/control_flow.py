"""Lower If, Loop and Scan to kernels branch and loop, with their subgraphs as bodies of steps."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..ir import Step, Tensor
from ..shapes import extent
from . import lowers
from ._axes import lines_of
from ._dtypes import BOOL, INT64
from ._elementwise import binary
from ._move import emit_copy
from ._select import emit_gather

_MAX_ROUNDS = 1 << 16  # as in mpconnxr/ops/loop.py


@lowers("If")
def lower_if(node):
    condition = node.inputs[0]
    bodies = []
    for branch in ("then_branch", "else_branch"):
        steps, outputs = node.lower_body(branch, [])
        for out, x in zip(node.outputs, outputs, strict=True):
            if x.shape != out.shape:
                raise Problem(f"branches give {list(x.shape)} and {list(out.shape)}")
            with node.emitting_to(steps):
                emit_copy(node.emit, x, out)
        bodies.append(steps)
    node.emit("branch", [condition], [], bodies=bodies)


@lowers("Loop")
def lower_loop(node):
    """Lower Loop.

    Each carried value has a tensor of its own; a round ends by copying the new values there.
    """
    trips = node.input(0) or node.constant(np.array(np.iinfo(np.int64).max))
    first = node.input(1) or node.constant(np.array(True))
    initial = node.inputs[2:]
    condition, states = node.temp(BOOL, ()), [node.temp(t.dtype, t.shape) for t in initial]
    for t, start in zip([condition, *states], [first, *initial], strict=True):
        emit_copy(node.emit, start, t)
    counter = node.temp(INT64, ())
    steps, outputs = node.lower_body("body", [counter, condition, *states])
    scans = list(zip(outputs[1 + len(states) :], node.outputs[len(states) :], strict=True))
    go_on = first if outputs[0].root is condition else outputs[0]
    stops_early = go_on.data is None or not go_on.data.item()
    if not stops_early and trips.data is not None and trips.data.item() > _MAX_ROUNDS:
        raise Problem(f"it does not end: its condition stays true for over {_MAX_ROUNDS} rounds")
    scans = [(x, out) for x, out in scans if out is not None]
    rounds = _rounds(trips, stops_early, [out for _, out in scans])
    most = extent.bound_of(rounds)
    for x, out in scans:
        whole = out
        if extent.is_open(out.shape[0]):
            whole = node.temp(out.dtype, (most, *out.shape[1:]))
            node.alias(out, whole)
        _emit_put(steps, node, x, counter, whole, 0)
    _emit_carry(steps, node, outputs[: 1 + len(states)], [condition, *states])
    number = [extent.number_of(rounds)] if extent.is_open(rounds) else []
    params = {"bodies": [steps], "trips": int(most), "most": most, "rounds": number}
    node.emit("loop", [trips, condition], [counter], **params)
    for _, out in scans:
        if rounds != out.shape[0]:  # the model promises it, whatever its inputs
            node.emit("same", [], [], pairs=[rounds, out.shape[0]])
    for out, state in zip(node.outputs, states, strict=False):
        if out is not None:
            node.alias(out, state)


def _rounds(trips, stops_early, scans) -> int:
    """Return the number of rounds as an Extent, or their maximum if no shape depends on it.

    Args:
        trips: the tensor with the maximum trip count.
        stops_early: a condition may end the loop before.
        scans: outputs with a slice for each round.
    """
    known = _MAX_ROUNDS if trips.data is None else max(int(trips.data.item()), 0)
    if not scans or (trips.data is not None and not stops_early):
        return min(known, _MAX_ROUNDS)
    for out in scans:
        if extent.is_open(out.shape[0]):
            return out.shape[0]
    return extent.dim(f"{scans[0].name}.rounds", min(scans[0].shape[0], known))


@lowers("Scan")
def lower_scan(node):
    """Lower Scan to a loop.

    A round reads a slice of each scan input, and writes a slice of each scan output.
    """
    n_scans = node.attr("num_scan_inputs")
    inputs, batched = (node.inputs[1:], True) if node.opset < 9 else (node.inputs, False)
    if batched and (node.inputs[0] is not None or any(t.shape[0] != 1 for t in inputs)):
        raise Problem("Scan of opset 8 with lengths or a batch", "export at opset 9 or later")
    skip = int(batched)  # opset 8 has a batch dimension before all others
    initial, xs = inputs[:-n_scans], inputs[-n_scans:]
    axes = node.attr("scan_input_axes", [skip] * n_scans)
    axes = [a % len(x.shape) for a, x in zip(axes, xs, strict=True)]
    reverse = node.attr("scan_input_directions", node.attr("directions", [0] * n_scans))
    length = xs[0].shape[axes[0]]
    states = [node.temp(t.dtype, t.shape[skip:]) for t in initial]
    for t, start in zip(states, initial, strict=True):
        emit_copy(node.emit, start, t)
    counter = node.temp(INT64, ())
    steps: list[Step] = []
    slices = []
    for x, axis, backward in zip(xs, axes, reverse, strict=True):
        index = _index(steps, node, counter, length, backward)
        slices.append(_emit_take(steps, node, x, index, axis, skip))
    body, outputs = node.lower_body("body", [*states, *slices])
    steps += body
    _write_scans(steps, node, outputs[len(states) :], counter, length, skip)
    _emit_carry(steps, node, outputs[: len(states)], states)
    constants = [node.constant(np.array(length)), node.constant(np.array(True))]
    node.emit("loop", constants, [counter], bodies=[steps], trips=length, most=length, rounds=[])
    for out, state in zip(node.outputs, states, strict=False):
        if out is not None:
            node.alias(out, state)


def _write_scans(steps, node, values, counter, length, skip):
    """Emit the copies of a round's scan outputs to their slices of the node's outputs.

    Args:
        steps: the steps of the body, which get the copies.
        node: the Loop or Scan.
        values: the round's values.
        counter: number of the round.
        length: number of rounds.
        skip: the default axis of the slices.
    """
    outs = node.outputs[len(node.outputs) - len(values) :]
    axes = node.attr("scan_output_axes", [skip] * len(outs))
    reverse = node.attr("scan_output_directions", [0] * len(outs))
    for x, out, axis, backward in zip(values, outs, axes, reverse, strict=True):
        if out is not None:
            index = _index(steps, node, counter, length, backward)
            _emit_put(steps, node, x, index, out, axis % len(out.shape))


def _index(steps, node, counter, length, backward) -> Tensor:
    """Return the index of the slice that a round uses: the counter, or length - 1 - counter.

    Args:
        steps: the steps of the body, which get the subtraction.
        node: the Scan.
        counter: number of the round.
        length: number of rounds.
        backward: True for slices in reverse order.
    """
    if not backward:
        return counter
    with node.emitting_to(steps):
        return binary(node, "sub", length - 1, counter)


def _emit_take(steps, node, x, index, axis, skip) -> Tensor:
    """Return the slice of x at an index, without the axis.

    Args:
        steps: the steps of the body, which get the copy.
        node: the Scan.
        x: the input of the node.
        index: scalar tensor.
        axis: axis of the slices.
        skip: number of leading dims of 1 to drop as well (a batch).
    """
    out = node.temp(x.dtype, [d for i, d in enumerate(x.shape) if i != axis][skip:])
    with node.emitting_to(steps):
        emit_gather(node, x, index, out, axis)
    return out


def _emit_put(steps, node, x, index, out, axis):
    """Write x to out as the slice at an index.

    Args:
        steps: the steps of the body, which get the copy.
        node: the Loop or Scan.
        x: the slice.
        index: scalar tensor.
        out: the output of the node.
        axis: axis of the slices.
    """
    unit = 4 if out.itemsize % 4 == 0 else 1
    outer, n, inner = lines_of(out.shape, axis)
    if outer * inner * out.itemsize != x.nbytes:
        raise Problem(f"a round gives {list(x.shape)} for an output of {list(out.shape)}")
    params = {"unit": unit, "outer": outer, "n": n, "inner": inner * out.itemsize // unit}
    with node.emitting_to(steps):
        node.emit("place", [x, index], [out], **params)


def _emit_carry(steps, node, values, states):
    """Copy new values to the states, after saving those that an earlier copy would overwrite.

    Args:
        steps: the steps of the body, which get the copies.
        node: the Loop or Scan.
        values: the round's values.
        states: the tensors that carry them to the next round.
    """
    targets = set(states)
    sources = []
    with node.emitting_to(steps):
        for x, state in zip(values, states, strict=True):
            if x.shape != state.shape:
                shapes = f"{list(state.shape)} to {list(x.shape)}"
                raise Problem(f"a carried value changes its shape from {shapes}")
            if x.root in targets and x.root is not state:
                saved = node.temp(x.dtype, x.shape)
                emit_copy(node.emit, x, saved)
                x = saved
            sources.append(x)
        for x, state in zip(sources, states, strict=True):
            if x.root is not state:
                emit_copy(node.emit, x, state)
