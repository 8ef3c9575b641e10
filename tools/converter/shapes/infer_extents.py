"""Infer shapes that a run decides: create run-time dims, and compute dims that depend on them.

Operators whose data decide a shape (NonZero, Range of computed limits, ...) get a run-time dim.
Where onnx's inference then leaves shapes open, extent_rules computes them. Extents are written
into the model as symbolic dims, which inference hands on (see extent_forms.py).
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
from .extent_rules import BROADCASTING, DATA_DEPENDENT, INPUT_DEPENDENT, RULES, own_dim
from .types import Value, declare, value_of

# Operators whose run-time dims need a --bound.
NEEDS_BOUND = (*INPUT_DEPENDENT, "Expand", "Reshape", "Loop")
# Operators whose output is at most as large as each input, but for dims of 1.
_ELEMENTWISE = ("Identity", "Cast", "CastLike", "Where", "Not", "Cos", "Sin", *BROADCASTING)


def check_bounds(bounds, *models: onnx.ModelProto) -> None:
    """Check that each --bound names a value of these models or a dim of an input.

    Raises:
        UsageError: if a name is unknown.
    """
    for name in unknown_bounds(bounds, *models):
        raise UsageError(f"--bound: no node computes {name}, and no input has a dim {name}")


def unknown_bounds(bounds, *models: onnx.ModelProto) -> list[str]:
    """Return the names that are neither a value that a node computes nor a dim of an input."""
    names = {name for model in models for name in _computed(model.graph)}
    names |= {name for model in models for name in _sizes(model.graph)}
    return [name for name in bounds if name not in names]


def _sizes(graph):
    """Yield the names of inputs' dims that each run decides."""
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
    """Declare the shapes that can be inferred now, in place; return True if any was added.

    Args:
        model: the model.
        context: context of the conversion.
        may_be_open: returns False for a node of fixed inputs that must get only a fixed shape
            here, because declarations come first.
    """
    return _Pass(model, context, may_be_open).run()


def forget(model: onnx.ModelProto) -> None:
    """Remove Extents from the outputs' shapes: their names may be of values that are gone."""
    for info in model.graph.output:
        for d in info.type.tensor_type.shape.dim:
            if extent_forms.parsed(d.dim_param) is not None:
                d.ClearField("dim_param")


def forget_unknown(graph: onnx.GraphProto) -> None:
    """Remove shapes with symbols of onnx's inference: they hide newer knowledge."""
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


def limits_of(model: onnx.ModelProto, context: Context) -> dict[str, list[int]]:
    """Return the largest dims of values by name, as far as declared output shapes bound them.

    An exporter that declares `y: float[10]` for a Range of computed limits bounds its length.
    Element-wise operators output nothing larger than their inputs, but for dims of 1. So the
    bounds of their output hold for their inputs too, aligned as broadcasting does.
    """
    limits = {
        name: [max(d.dim_value, 1) for d in kind.tensor_type.shape.dim]
        for name, kind in context.declared.items()
        if _is_fixed(kind.tensor_type.shape)
    }
    for node in reversed(model.graph.node):
        if node.op_type in _ELEMENTWISE and node.output[0] in limits:
            for name in node.input:
                limits.setdefault(name, limits[node.output[0]])
    return limits


def _is_fixed(shape):
    return bool(shape.dim) and all(d.HasField("dim_value") for d in shape.dim)


def limit(limits: dict[str, list[int]], name: str, axis: int, rank: int) -> int | None:
    """Return the bound of one dim of a value; None without one.

    Args:
        limits: bounds of a value's last dims, by name.
        name: name of the value.
        axis: the dim.
        rank: rank of the value.
    """
    dims = limits.get(name, ())
    return dims[len(dims) - rank + axis] if rank <= len(dims) else None


class _Pass:
    """One pass over the nodes of a graph, in order.

    Attributes:
        known: (dtype, dims) of values by name.
        contents: contents of small integer values by name, with Extents.
        constant: names of values that folding computes.
        limits: see limits_of.
        bounds: bounds of --bound, by name.
        folds: constants are folded, as at all levels of --optimize but 0.
    """

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
            if t.data_type in (5, 6, 7):  # int16 (of Range), int32, int64
                values = contents.of_constant(array_of(t))
                if values is not None:
                    self.contents[t.name] = values
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
                self._mark_constant(node)
                if unknown and node.domain in ("", "ai.onnx"):  # folding leaves some
                    changed |= self._declare(node, may_be_open=False)
                continue
            self._compute_contents(node)
            decides = node.op_type in DATA_DEPENDENT and node.input[0] not in self.constant
            decides = decides or node.op_type in INPUT_DEPENDENT and not constant
            if node.domain in ("", "ai.onnx") and (decides or unknown):
                may_be_open = decides or self.may_be_open(node) or self._reads_open(node)
                changed |= self._declare(node, may_be_open)
        return changed

    def _reads_open(self, node):
        """Return True if a run decides the shape of an input, and so may decide the output's."""
        return any(any_open(self.known[name][1]) for name in node.input if name in self.known)

    def _mark_constant(self, node):
        """Mark a node's outputs as constant, unless a subgraph of it reads outer values."""
        if any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
            return
        self.constant.update(node.output)
        if node.op_type == "Constant":
            value = next((a.t for a in node.attribute if a.name == "value"), None)
            values = None if value is None else contents.of_constant(array_of(value))
        else:
            values = contents.evaluate(node, [self.contents.get(name) for name in node.input])
        if values is not None:
            self.contents[node.output[0]] = values

    def _compute_contents(self, node):
        """Compute the contents of a node's output."""
        if node.op_type in ("Shape", "Size") and node.input[0] in self.known:
            dims = self.known[node.input[0]][1]
            size = np.array(math.prod(dims), object)
            values = (
                size if node.op_type == "Size" else contents.of_shape(dims, attributes_of(node))
            )
        else:
            values = contents.evaluate(node, [self.contents.get(name) for name in node.input])
        if values is not None:
            self.contents[node.output[0]] = values

    def _declare(self, node, may_be_open):
        rule = RULES.get(node.op_type)
        inputs = [self.known.get(name) for name in node.input]
        if rule is None or any(x is None for x, n in zip(inputs, node.input, strict=True) if n):
            return False
        try:
            values = rule(self, node, *inputs) or ()
        except (Problem, ArithmeticError, LookupError, TypeError, ValueError):
            return False  # runs disagree on a comparison: the shape stays unknown
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
        """Return a run-time dim of the node, None if nothing bounds it."""
        return own_dim(node, self.bounds, derived, suffix)

    def dims(self, node, rank):
        """Return run-time dims for the shape of the node's output, each None without a bound."""
        most = [limit(self.limits, node.output[0], i, rank) for i in range(rank)]
        return [self.dim(node, n, str(i)) for i, n in enumerate(most)]

    def constant_input(self, node, i):
        """Return the values of a constant input as a flat list, None for another input."""
        name = node.input[i] if i < len(node.input) else ""
        tensor = next((t for t in self.graph.initializer if t.name == name), None)
        return None if tensor is None else array_of(tensor).reshape(-1).tolist()

    def input_contents(self, node, i):
        """Return the known contents of an input, None if they are unknown."""
        name = node.input[i] if i < len(node.input) else ""
        return self.contents.get(name)
