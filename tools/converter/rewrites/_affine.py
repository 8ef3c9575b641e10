"""Values as sums of matrix products: what the parts of a recurrent cell have in common.

A value of features in its last axis is written as sum(source @ matrix) + bias, through MatMul,
Gemm, Add, Concat, Split and Slice of features, and views of the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from . import _graph as g
from .reshapes import VIEWS


class Source(NamedTuple):
    """A value that is not looked into; of a step of a sequence its leading dims, axis, place."""

    value: ir.Value
    lead: tuple[int, ...] = ()
    axis: int = 0
    place: int = -1


@dataclass
class Affine:
    """sum(source @ matrix) + bias, in doubles. A matrix that is None is the identity."""

    parts: dict[Source, np.ndarray | None]
    bias: np.ndarray
    n: int = field(default=0)

    def matrix(self, source: Source) -> np.ndarray:
        known = self.parts[source]
        return np.eye(self.n) if known is None else known


class Analysis:
    """The affine forms of a graph's values, each worked out once.

    finds_steps: whether the last result of a recurrent operator is a step of its results.
    """

    def __init__(self, finds_steps: bool = True) -> None:
        self._finds_steps = finds_steps
        self._known: dict[ir.Value, Affine | None] = {}
        self._arrays: dict[ir.Value, np.ndarray] = {}

    def of(self, value: ir.Value) -> Affine | None:
        """Return the affine form of a value; None without rows of features of fixed sizes."""
        if value not in self._known:
            self._known[value] = self._looked_into(value)
        return self._known[value]

    def stop_at(self, value: ir.Value) -> None:
        """Make a value a source: nodes that compute it are not followed."""
        n = g.shape_of(value)[-1]
        self._known[value] = Affine({Source(value): None}, np.zeros(n), n)

    def _looked_into(self, value):
        shape = g.shape_of(value)
        if shape is None or not g.is_float(value):
            return None
        node = value.producer()
        if g.const(value) is not None:
            return self._constant(value, shape or (1,))
        if not shape:
            return None
        rule = _RULES.get(node.op_type) if node is not None and node.domain == "" else None
        form = None if rule is None else rule(self, node, value, shape)
        if form is None:
            self.stop_at(value)
            return self._known[value]
        return form

    def last_step(self, node, value, shape):
        """Return the last result of a recurrent operator of one direction, as a step of all."""
        if not self._finds_steps:
            return None
        *lead, n = g.shape_of(node.outputs[0]) or (0, 0, 0, 0)
        known = all(lead) and lead[1] == 1 and value is node.outputs[1]
        if not known or g.attr(node, "layout", 0) or g.input_of(node, 4) is not None:
            return None
        lead = tuple(lead)
        is_backwards = g.attr(node, "direction", "forward") == "reverse"
        source = Source(node.outputs[0], lead, 0, 0 if is_backwards else lead[0] - 1)
        return Affine({source: None}, np.zeros(n), n)

    def _constant(self, value, shape):
        rows = self.array(value).reshape(-1, shape[-1])
        same = (rows == rows[:1]).all()
        return Affine({}, rows[0], shape[-1]) if same and len(rows) else None

    def array(self, value) -> np.ndarray | None:
        """Return a constant in doubles, as one array for all calls; None for other values."""
        if value not in self._arrays:
            data = g.const(value)
            if data is None:
                return None
            self._arrays[value] = data.astype(np.float64)
        return self._arrays[value]

    def product(self, node, value, shape):
        w = self.array(node.inputs[1])
        x = self.of(node.inputs[0]) if w is not None and w.ndim == 2 else None
        return None if x is None else _times(x, w)

    def gemm(self, node, value, shape):
        w, c = self.array(node.inputs[1]), g.input_of(node, 2)
        if w is None or g.attr(node, "transA", 0):
            return None
        w = w.T if g.attr(node, "transB", 0) else w
        alpha = g.attr(node, "alpha", 1.0)
        x, added = self.of(node.inputs[0]), None if c is None else self.of(c)
        if x is None or c is not None and added is None or g.attr(node, "beta", 1.0) != 1:
            return None
        scaled = _times(x, w if alpha == 1 else w * alpha)
        return scaled if added is None else _plus(scaled, added, shape[-1])

    def sum(self, node, value, shape):
        a, b = (self.of(v) for v in node.inputs)
        if a is None or b is None:
            return None
        whole = [g.shape_of(v) for v in node.inputs if g.const(v) is None]
        rows = {math.prod(s[:-1]) for s in whole} | {math.prod(shape[:-1])}
        return _plus(a, b, shape[-1]) if len(rows) == 1 and _widths_fit(a, b, shape[-1]) else None

    def joined(self, node, value, shape):
        if g.attr(node, "axis", 0) % len(shape) != len(shape) - 1:
            return None
        pieces = [self.of(v) for v in node.inputs]
        if any(p is None for p in pieces):
            return None
        total, at = Affine({}, np.zeros(shape[-1]), shape[-1]), 0
        for piece in pieces:
            wide = np.zeros((piece.n, shape[-1]))
            wide[:, at : at + piece.n] = np.eye(piece.n)
            total = _plus(total, _times(piece, wide), shape[-1])
            at += piece.n
        return total

    def view(self, node, value, shape):
        before = g.shape_of(node.inputs[0])
        rows = before and math.prod(before[:-1]) == math.prod(shape[:-1])
        return self.of(node.inputs[0]) if rows and before[-1] == shape[-1] else None

    def selected(self, node, value, shape):
        """Return a range of features, or one step of a sequence."""
        x = node.inputs[0]
        before, chosen = g.shape_of(x), selection(node, value)
        inner = None if before is None or chosen is None else self.of(x)
        if inner is None:
            return None
        axis, first, n = chosen
        if axis == len(before) - 1 and len(shape) < len(before):
            return None  # one feature by a scalar: another axis is the last one now
        if axis == len(before) - 1:
            columns = slice(first, first + n)
            parts = {s: inner.matrix(s)[:, columns] for s in inner.parts}
            return Affine(parts, inner.bias[columns], n)
        if n != 1 or any(s.place >= 0 for s in inner.parts):
            return None
        steps = {Source(s.value, before[:-1], axis, first): m for s, m in inner.parts.items()}
        return Affine(steps, inner.bias, inner.n)


def selection(node, value) -> tuple[int, int, int] | None:
    """Return (axis, first, number) of the elements of a Split, Slice or Gather; else None."""
    shape, result = g.shape_of(node.inputs[0]), g.shape_of(value)
    if shape is None or result is None:
        return None
    if node.op_type == "Split":
        axis = g.attr(node, "axis", 0) % len(shape)
        sizes = [(g.shape_of(v) or (0,) * len(shape))[axis] for v in node.outputs]
        i = list(node.outputs).index(value)
        return axis, sum(sizes[:i]), sizes[i]
    if node.op_type == "Gather":
        axis, place = g.attr(node, "axis", 0) % len(shape), g.scalar(node.inputs[1])
        return None if place is None else (axis, int(place) % shape[axis], 1)
    starts, axes, steps = (g.const(g.input_of(node, i)) for i in (1, 3, 4))
    if starts is None or starts.size != 1 or steps is not None and steps.item() != 1:
        return None
    axis = 0 if axes is None else int(axes.item()) % len(shape)
    first = int(np.clip(starts.item() + shape[axis] * (starts.item() < 0), 0, shape[axis]))
    return axis, first, result[axis]


def _times(x: Affine, w: np.ndarray) -> Affine:
    return Affine(
        {s: w if m is None else m @ w for s, m in x.parts.items()}, x.bias @ w, w.shape[1]
    )


def _widths_fit(a, b, n):
    return all(part.n == n or part.n == 1 and not part.parts for part in (a, b))


def _plus(a: Affine, b: Affine, n: int) -> Affine:
    parts = dict(a.parts)
    for source in b.parts:
        both = source in parts
        parts[source] = a.matrix(source) + b.matrix(source) if both else b.parts[source]
    return Affine(parts, a.bias + b.bias, n)


_RULES = {
    "Add": Analysis.sum,
    "Concat": Analysis.joined,
    "Gather": Analysis.selected,
    "Gemm": Analysis.gemm,
    "MatMul": Analysis.product,
    "Slice": Analysis.selected,
    "Split": Analysis.selected,
    **dict.fromkeys(VIEWS, Analysis.view),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), Analysis.last_step),
}
