"""Scan, and Loop of a known trip count, as that many copies of their body.

1. Each pass through the body has its own copy of the nodes, under names of its own.
2. Slices of the scan inputs are gathered, those of the scan outputs joined by a Concat.
3. States go from one copy to the next by name.
Left as they are: loops whose length is not known, that may stop early, of no pass at all, or of too
many nodes; and Scan before opset 9, which has another form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..load import opset_of

_MAX_NODES = 512  # a step of the device takes about 500 bytes of its heap


@dataclass
class _Repeat:
    """A loop to unroll. sliced, stacked: (axis, backwards) by scan input and output."""

    node: onnx.NodeProto
    body: onnx.GraphProto
    trips: int
    states: list[str]  # names of the initial values
    scanned: list[str]
    sliced: list[tuple[int, bool]]
    stacked: list[tuple[int, bool]]
    skip: int = 0  # inputs of the body before the states: Loop's iteration number and condition
    skip_out: int = 0  # outputs before the states: Loop's condition


def unroll(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model itself, or a copy with its loops unrolled. Values must have types."""
    if not any(node.op_type in ("Scan", "Loop") for node in model.graph.node):
        return model
    known = {t.name: t for t in model.graph.initializer}
    shapes = _shapes(model.graph)
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.node[:]
    changed = False
    for i, node in enumerate(model.graph.node):
        repeat = _repeat(node, opset_of(model, ""), shapes, known)
        if repeat and repeat.trips * len(repeat.body.node) <= _MAX_NODES:
            _Unroller(copy.graph, repeat, f"unrolled{i}", opset_of(model, "")).emit()
            changed = True
        else:
            copy.graph.node.append(node)
    return copy if changed else model


def _shapes(graph):
    values = [*graph.input, *graph.value_info, *graph.output]
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}
    shapes.update({t.name: list(t.dims) for t in graph.initializer})
    return shapes


def _repeat(node, opset, shapes, known):
    if node.op_type == "Scan" and opset >= 9:
        repeat = _scan(node, shapes)
    elif node.op_type == "Loop":
        repeat = _loop(node, known)
    else:
        return None
    return repeat if repeat and repeat.trips > 0 else None


def _scan(node, shapes):
    attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    m = attrs["num_scan_inputs"]
    states, scanned = list(node.input[: len(node.input) - m]), list(node.input[-m:])
    n_out = len(node.output) - len(states)
    ranks = [len(shapes.get(name, ())) for name in scanned]
    if not scanned or not all(ranks):
        return None
    axes = attrs.get("scan_input_axes", [0] * m)
    axes = [a % r for a, r in zip(axes, ranks, strict=True)]
    sliced = list(zip(axes, map(bool, attrs.get("scan_input_directions", [0] * m)), strict=True))
    out_axes = attrs.get("scan_output_axes", [0] * n_out)
    backwards = map(bool, attrs.get("scan_output_directions", [0] * n_out))
    stacked = list(zip(out_axes, backwards, strict=True))
    trips = shapes[scanned[0]][axes[0]]
    return _Repeat(node, attrs["body"], trips, states, scanned, sliced, stacked)


def _loop(node, known):
    body = next(a.g for a in node.attribute if a.name == "body")
    count, condition = node.input[:2]
    if count not in known or not always(body, condition, known):
        return None
    trips = int(numpy_helper.to_array(known[count]).item())
    states = list(node.input[2:])
    stacked = [(0, False)] * (len(node.output) - len(states))
    return _Repeat(node, body, trips, states, [], [], stacked, skip=2, skip_out=1)


def always(body, condition, known):
    """True if the condition is true at the start and the body hands it on or sets it."""
    if condition and (condition not in known or not numpy_helper.to_array(known[condition]).all()):
        return False
    makers = {name: node for node in body.node for name in node.output}
    constants = {t.name: t for t in body.initializer} | known
    name = body.output[0].name
    while name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    if name == body.input[1].name:
        return True
    if name in makers and makers[name].op_type == "Constant":
        value = next((a.t for a in makers[name].attribute if a.name == "value"), None)
        return value is not None and bool(numpy_helper.to_array(value).all())
    return name in constants and bool(numpy_helper.to_array(constants[name]).all())


class _Unroller:
    """Appends the copies of one loop's body to a graph."""

    def __init__(self, graph, repeat, prefix, opset):
        self.graph, self.repeat, self.prefix, self.opset = graph, repeat, prefix, opset
        self.constants = {}
        for t in repeat.body.initializer:
            self.constants[t.name] = f"{prefix}/{t.name}"
            graph.initializer.add().CopyFrom(t)
            graph.initializer[-1].name = self.constants[t.name]

    def emit(self):
        r = self.repeat
        states, pieces = list(r.states), [[] for _ in r.stacked]
        for trip in range(r.trips):
            outputs = self._copy(trip, states)
            states = outputs[: len(states)]
            for piece, name in zip(pieces, outputs[len(states) :], strict=True):
                piece.append(name)
        for name, out in zip(states, r.node.output, strict=False):
            self._add("Identity", [name], [out])
        for piece, (axis, back), out in zip(
            pieces, r.stacked, r.node.output[len(states) :], strict=True
        ):
            if out:
                self._stack(piece[::-1] if back else piece, axis, out)

    def _copy(self, trip, states):
        """One pass; returns the names of the body's outputs behind the condition."""
        r, prefix = self.repeat, f"{self.prefix}/{trip}"
        names = dict(self.constants)
        formals = [v.name for v in r.body.input]
        if r.skip:
            names[formals[0]] = self._constant(f"{prefix}/i", np.int64(trip))
            names[formals[1]] = self._constant(f"{prefix}/go", np.bool_(True))
        names.update(zip(formals[r.skip :], states, strict=False))
        slices = formals[r.skip + len(states) :]
        for formal, source, (axis, back) in zip(slices, r.scanned, r.sliced, strict=True):
            at = r.trips - 1 - trip if back else trip
            index = self._constant(f"{prefix}/{formal}/at", np.int64(at))
            names[formal] = f"{prefix}/{formal}"
            self._add("Gather", [source, index], [names[formal]], axis=axis)
        for node in r.body.node:
            names.update({name: f"{prefix}/{name}" for name in node.output if name})
            self.graph.node.add().CopyFrom(node)
            _rename(self.graph.node[-1], names)
        return [names.get(v.name, v.name) for v in r.body.output[r.skip_out :]]

    def _stack(self, pieces, axis, out):
        wide = [f"{self.prefix}/{out}/{i}" for i in range(len(pieces))]
        at = {"axes": [axis]}
        extra = []
        if self.opset >= 13:
            at, extra = {}, [self._constant(f"{self.prefix}/{out}/axes", np.array([axis]))]
        for name, target in zip(pieces, wide, strict=True):
            self._add("Unsqueeze", [name, *extra], [target], **at)
        self._add("Concat", wide, [out], axis=axis)

    def _add(self, op, inputs, outputs, **attributes):
        self.graph.node.append(helper.make_node(op, inputs, outputs, **attributes))

    def _constant(self, name, value):
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        return name


def _rename(node, names):
    """Values of a node, and those that its subgraphs take from outside."""
    for field in (node.input, node.output):
        for i, name in enumerate(field):
            field[i] = names.get(name, name)
    node.name = ""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            graph = attribute.g
            own = {v.name for v in graph.input} | {t.name for t in graph.initializer}
            own |= {name for inner in graph.node for name in inner.output}
            outer = {a: b for a, b in names.items() if a not in own}
            for inner in graph.node:
                _rename(inner, outer)
            for v in graph.output:
                v.name = outer.get(v.name, v.name)
