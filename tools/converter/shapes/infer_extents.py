"""Shapes that a run decides: run-time dims, and what follows from them.

Operators whose result decides a shape (NonZero, Range of computed limits, ...) get a run-time dim;
where onnx's inference leaves a shape open downstream, extent_rules computes it. Extents are
written down as symbolic dimensions that inference hands on (see extent.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import onnx

from ..context import Context
from ..errors import Problem, UsageError
from ..external_weights import array_of
from ..protos import attributes_of
from . import contents, extent, extent_forms
from .extent import any_open
from .extent_rules import ASK, DECIDE, RULES, own_dim
from .limits import limit, limits_of
from .types import Value, declare, value_of

# Operators that take the bounds of their run-time dims from --bound
NEEDS_BOUND = (*ASK, "Expand", "Reshape", "Loop")


def check_bounds(bounds, *models: onnx.ModelProto) -> None:
    """UsageError for a bound of what no node of these models computes."""
    for name in unknown_bounds(bounds, *models):
        raise UsageError(f"--bound: no node computes {name}, and no input has a dim {name}")


def unknown_bounds(bounds, *models: onnx.ModelProto) -> list[str]:
    """The names that are of no value that a node computes, and of no dim of an input."""
    names = {name for model in models for name in _computed(model.graph)}
    names |= {name for model in models for name in _sizes(model.graph)}
    return [name for name in bounds if name not in names]


def _sizes(graph):
    """Names of the inputs' dims that each run decides."""
    for info in graph.input:
        for d in info.type.tensor_type.shape.dim:
            yield from (name for name, _ in extent.dims_in(extent_forms.parsed(d.dim_param)))


def _computed(graph):
    for node in graph.node:
        yield from node.output
        for a in node.attribute:
            if a.HasField("g"):
                yield from _computed(a.g)


def annotate(
    model: onnx.ModelProto,
    context: Context,
    may_be_open: Callable[[onnx.NodeProto], bool] = lambda node: True,
) -> bool:
    """Write down the shapes that can be said now; return True if there was anything to add.

    Args:
        model: changed in place.
        context: of the conversion.
        may_be_open: return False for a node of fixed inputs whose shape is written down only if
            it is fixed: declarations come first.

    """
    return _Pass(model, context, may_be_open).run()


def forget(model: onnx.ModelProto) -> None:
    """Takes Extents out of the outputs' shapes: they may be named after what is gone now."""
    for info in model.graph.output:
        for d in info.type.tensor_type.shape.dim:
            if extent_forms.parsed(d.dim_param) is not None:
                d.ClearField("dim_param")


def forget_unknown(graph: onnx.GraphProto) -> None:
    """Drop shapes with symbols that inference made: they hide from it what is known now."""
    kept = [v for v in graph.value_info if not _is_unknown(v.type)]
    del graph.value_info[:]
    graph.value_info.extend(kept)
    for info in graph.output:
        if _is_unknown(info.type):
            info.type.tensor_type.ClearField("shape")


def _is_unknown(kind):
    dims = kind.tensor_type.shape.dim
    free = [d.dim_param for d in dims if not d.HasField("dim_value")]
    return any(extent_forms.parsed(name) is None for name in free)


class _Pass:
    def __init__(self, model, context, may_be_open):
        self.graph = graph = model.graph
        self.may_be_open = may_be_open
        self.bounds = context.bounds
        self.limits = limits_of(model, context)
        self.folds = not context.keeps_operators
        self.known: dict[str, Value] = {}
        self.contents: dict[str, np.ndarray] = {}
        self.constant = {t.name for t in graph.initializer}
        for t in graph.initializer:
            self.known[t.name] = (t.data_type, list(t.dims))
            if t.data_type in (5, 6, 7):  # int16, which Range takes, int32, int64
                found = contents.of_constant(array_of(t))
                if found is not None:
                    self.contents[t.name] = found
        for info in [*graph.input, *graph.value_info, *graph.output]:
            value = value_of(info)
            if value is not None:
                self.known.setdefault(info.name, value)

    def run(self):
        changed = False
        for node in self.graph.node:
            constant = all(not name or name in self.constant for name in node.input)
            unknown = any(name and name not in self.known for name in node.output)
            if constant and (self.folds or node.op_type == "Constant"):
                self._constant(node)
                if unknown and node.domain in ("", "ai.onnx"):  # not all of them are folded
                    changed |= self._declare(node, may_be_open=False)
                continue
            self._follow(node)
            decides = node.op_type in DECIDE and node.input[0] not in self.constant
            decides = decides or node.op_type in ASK and not constant
            if node.domain in ("", "ai.onnx") and (decides or unknown):
                may_be_open = decides or self.may_be_open(node) or self._reads_open(node)
                changed |= self._declare(node, may_be_open)
        return changed

    def _reads_open(self, node):
        """Return True if a run decides the shape of an input: then it decides the node's, too."""
        return any(any_open(self.known[name][1]) for name in node.input if name in self.known)

    def _constant(self, node):
        """Folding computes it, unless it has a subgraph that takes values from outside."""
        if any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
            return
        self.constant.update(node.output)
        if node.op_type == "Constant":
            value = next((a.t for a in node.attribute if a.name == "value"), None)
            found = None if value is None else contents.of_constant(array_of(value))
        else:
            found = contents.evaluate(node, [self.contents.get(name) for name in node.input])
        if found is not None:
            self.contents[node.output[0]] = found

    def _follow(self, node):
        """Contents of what the node gives."""
        if node.op_type in ("Shape", "Size") and node.input[0] in self.known:
            dims = self.known[node.input[0]][1]
            size = np.array(math.prod(dims), object)
            found = (
                size if node.op_type == "Size" else contents.of_shape(dims, attributes_of(node))
            )
        else:
            found = contents.evaluate(node, [self.contents.get(name) for name in node.input])
        if found is not None:
            self.contents[node.output[0]] = found

    def _declare(self, node, may_be_open):
        rule = RULES.get(node.op_type)
        inputs = [self.known.get(name) for name in node.input]
        if rule is None or any(x is None for x, n in zip(inputs, node.input, strict=True) if n):
            return False
        try:
            values = rule(self, node, *inputs) or ()
        except (Problem, ArithmeticError, LookupError, TypeError, ValueError):
            return False  # an order that not all runs agree on: the shape stays unknown
        changed = False
        for name, value in zip(node.output, values, strict=False):
            if value is None or not may_be_open and (None in value[1] or any_open(value[1])):
                continue
            if name and self.known.get(name) != value:
                declare(self.graph, name, value)
                self.known[name] = value
                changed = True
        return changed

    def dim(self, node, derived=None, suffix="0"):
        """The node's own run-time dim; None where nothing says how large it can be."""
        return own_dim(node, self.bounds, derived, suffix)

    def dims(self, node, rank):
        """Run-time dims for the whole shape of the node's output, some of them None as above."""
        most = [limit(self.limits, node.output[0], i, rank) for i in range(rank)]
        return [self.dim(node, n, str(i)) for i, n in enumerate(most)]

    def constant_input(self, node, i):
        """The values of an input that is a constant, in a row; else None."""
        name = node.input[i] if i < len(node.input) else ""
        found = next((t for t in self.graph.initializer if t.name == name), None)
        return None if found is None else array_of(found).reshape(-1).tolist()

    def input_contents(self, node, i):
        name = node.input[i] if i < len(node.input) else ""
        return self.contents.get(name)
