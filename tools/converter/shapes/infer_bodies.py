"""Infer the outputs of If, Loop and Scan, most of which onnx's inference leaves open."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import onnx

from ..context import Context
from ..external_weights import array_of
from ..protos import attributes_of
from . import declarations
from .bodies import always_continues, model_of
from .extent_rules import own_dim
from .infer_extents import limit, limits_of
from .types import declare_new, known_values, value_of

Infer = Callable[[onnx.ModelProto, Context], onnx.ModelProto]


class _Outer(NamedTuple):
    """The surroundings of a body: the model around it, and how to infer types."""

    model: onnx.ModelProto
    context: Context
    infer: Infer


def annotate(model: onnx.ModelProto, context: Context, infer: Infer) -> bool:
    """Declare those operators' outputs that can be inferred now; return True if any was added."""
    graph = model.graph
    known = known_values(graph)
    changed = False
    for node in graph.node:
        rule = _RULES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
        if rule is None or all(name in known for name in node.output if name):
            continue
        try:
            values = rule(_Outer(model, context, infer), node, known)
        except (LookupError, TypeError, ValueError):
            continue  # the body does not fit its node: lowering reports how
        changed |= declare_new(graph, node, values, known)
    return changed


def _results(outer, graph, types):
    """Return the types of a subgraph's outputs, each None if unknown."""
    inner = outer.infer(model_of(outer.model, graph, types), outer.context)
    if declarations.is_marked(inner):
        declarations.mark(outer.model)
    return [value_of(o) for o in inner.graph.output]


def _if(outer, node, known):
    a = attributes_of(node)
    yes, no = (_results(outer, a[name], []) for name in ("then_branch", "else_branch"))
    return [x if x == y else None for x, y in zip(yes, no, strict=True)]


def _loop(outer, node, known):
    states = [known.get(name) for name in node.input[2:]]
    if None in states:
        return []
    types = [(onnx.TensorProto.INT64, []), (onnx.TensorProto.BOOL, []), *states]
    results = _results(outer, attributes_of(node)["body"], types)[1:]
    scans = results[len(states) :]
    trips = _trips(outer, node, dict(zip(node.output[len(states) :], scans, strict=True)))
    kept = [s if s == r else None for s, r in zip(states, results, strict=False)]
    return kept + [_stacked(r, 0, trips) for r in scans]


def _scan(outer, node, known):
    a = attributes_of(node)
    n = a["num_scan_inputs"]
    values = [known.get(name) for name in node.input if name]
    if None in values:
        return []
    states, xs = values[:-n], values[-n:]
    axes = a.get("scan_input_axes", [0] * n)
    axes = [axis % len(x[1]) for axis, x in zip(axes, xs, strict=True)]
    length = xs[0][1][axes[0]]
    slices = [
        (dtype, [d for i, d in enumerate(dims) if i != axis])
        for (dtype, dims), axis in zip(xs, axes, strict=True)
    ]
    results = _results(outer, a["body"], [*states, *slices])
    scans = results[len(states) :]
    out_axes = a.get("scan_output_axes", [0] * len(scans))
    return states + [_stacked(r, i, length) for r, i in zip(scans, out_axes, strict=True)]


def _stacked(value, axis, n):
    """Return the type of a value with one more dim for the trips."""
    if value is None or n is None:
        return None
    dtype, dims = value
    axis %= len(dims) + 1
    return dtype, [*dims[:axis], n, *dims[axis:]]


def _trips(outer, node, scans):
    """Return the number of a Loop's trips, maybe a run-time dim; None if it has no bound.

    Args:
        outer: the pass over the graph around it.
        node: the Loop.
        scans: types of the values that each trip adds, by the stacked output's name.
    """
    model = outer.model
    trips = _constant(model, node.input[0])
    initial = {t.name: t for t in model.graph.initializer}
    body = attributes_of(node)["body"]
    if trips is not None and always_continues(body, node.input[1], initial):
        return trips
    limits = limits_of(model, outer.context)
    most = [limit(limits, name, 0, len(value[1]) + 1) for name, value in scans.items() if value]
    known = [n for n in [trips, *most] if n is not None]
    return own_dim(node, outer.context.bounds, min(known, default=None), "rounds")


def _constant(model, name):
    """Return a constant number of trips, else None."""
    for t in model.graph.initializer:
        if t.name == name:
            return int(array_of(t).item())
    return None


_RULES = {"If": _if, "Loop": _loop, "Scan": _scan}
