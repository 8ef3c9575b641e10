"""Compute int64 values as int32 where their range is proved to fit.

The range of indices and counts is often known: ArgMax gives 0 to n - 1, a comparison 0 or 1, and
sums, products and selections of such values follow. On a board an int64 is a big integer in every
step and takes twice the memory. A value becomes int32 if each operator that reads it can take
int32. It becomes int64 again for an operator that cannot, or for an output of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx

from ..ir import Tensor

INT32, INT64 = 6, 7
_LEAST, _GREATEST = -(1 << 31), (1 << 31) - 1

# Ranges of other dtypes, by ONNX number: uint8, int8, uint16, int16, int32, bool.
_RANGES = {
    2: (0, 255),
    3: (-128, 127),
    4: (0, (1 << 16) - 1),
    5: (-(1 << 15), (1 << 15) - 1),
    INT32: (_LEAST, _GREATEST),
    9: (0, 1),
}

Range = tuple[int, int]


@dataclass
class _Rule:
    """How an operator can compute int32 in place of int64.

    Attributes:
        same: indices of inputs that must have the outputs' dtype.
        free: indices of inputs that may be int32 whatever the outputs are.
        ranges: takes the node and the known ranges of its inputs; returns the ranges of its
            outputs.
    """

    same: tuple[int, ...]
    free: tuple[int, ...]
    ranges: Callable[..., list[Range | None]]


def _corners(f):
    """Return the rule of a function with its extremes at the ends of its inputs' ranges."""

    def ranges(node, known):
        ends = known[0]
        for other in known[1:]:
            corners = [f(a, b) for a in ends for b in other]
            ends = min(corners), max(corners)
        return [ends]

    return ranges


def _union(node, known):
    ranges = [r for r in known if r]
    return [(min(r[0] for r in ranges), max(r[1] for r in ranges))] * len(node.outputs)


def _extent(node, known):
    return [(0, _axis_extent(node) - 1)]


def _axis_extent(node):
    return node.inputs[0].shape[node.attr("axis", -1 if node.op == "TopK" else 0)]


def _top_k(node, known):
    return [known[0], (0, _axis_extent(node) - 1)][: len(node.outputs)]


def _reduce_sum(node, known):
    out = node.outputs[0].nelem
    n = node.inputs[0].nelem // out if out else 0
    return [(min(n * known[0][0], 0), max(n * known[0][1], 0))]


def _magnitude(node, known):
    """Return a range of both signs that is as large as the first input's magnitudes."""
    most = max(map(abs, known[0]))
    return [(-most, most)]


def _modulo(node, known):
    most = max(map(abs, known[1]))
    return [(-most, most)]


def _none(node, known):
    return [None] * len(node.outputs)


_ALL = tuple(range(99))
_RULES = {
    "Cast": _Rule((0,), (), lambda node, known: [known[0]]),
    "ArgMax": _Rule((), (), _extent),
    "ArgMin": _Rule((), (), _extent),
    "TopK": _Rule((0,), (), _top_k),
    "Add": _Rule(_ALL, (), _corners(lambda a, b: a + b)),
    "Sub": _Rule(_ALL, (), _corners(lambda a, b: a - b)),
    "Mul": _Rule(_ALL, (), _corners(lambda a, b: a * b)),
    "Min": _Rule(_ALL, (), _corners(min)),
    "Max": _Rule(_ALL, (), _corners(max)),
    "Div": _Rule(_ALL, (), _magnitude),
    "Mod": _Rule(_ALL, (), _modulo),
    "Neg": _Rule(_ALL, (), lambda node, known: [(-known[0][1], -known[0][0])]),
    "Abs": _Rule(_ALL, (), _magnitude),
    "Where": _Rule((1, 2), (), lambda node, known: _union(node, known[1:])),
    "Gather": _Rule((0,), (1,), lambda node, known: [known[0]]),
    "ArrayFeatureExtractor": _Rule((0,), (1,), lambda node, known: [known[0]]),
    "OneHot": _Rule((2,), (0,), lambda node, known: [known[2]]),
    "Concat": _Rule(_ALL, (), _union),
    "ReduceSum": _Rule((0,), (), _reduce_sum),
}
_RULES |= dict.fromkeys(
    ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"), _Rule(_ALL, (), _none)
)
# Operators that rearrange their first input
_MOVES = "Expand Flatten Identity Reshape ReduceMax ReduceMin Slice Split Squeeze Tile Transpose"
_RULES |= dict.fromkeys(
    (*_MOVES.split(), "Unsqueeze"), _Rule((0,), (), lambda node, known: _union(node, known[:1]))
)


def _rule_of(proto) -> _Rule | None:
    return _RULES.get(proto.op_type) if proto.domain in ("", "ai.onnx", "ai.onnx.ml") else None


def _fits(known: Range) -> bool:
    return known[0] >= _LEAST and known[1] <= _GREATEST


class Narrowing:
    """The ranges of a graph's int64 values, found node by node while the graph is lowered.

    In a body (in_body) no value is narrowed.
    """

    def __init__(self, graph: onnx.GraphProto, in_body: bool):
        self._narrow: dict[Tensor, Tensor] = {}
        self._ranges: dict[Tensor, Range] = {}
        self._in_body = in_body
        self._kept = {info.name for info in graph.output}
        for node in graph.node:
            rule = _rule_of(node)
            takes = (*rule.same, *rule.free) if rule else ()
            self._kept.update(name for i, name in enumerate(node.input) if i not in takes)
            for a in node.attribute:
                if a.HasField("g"):
                    self._kept.update(name for inner in a.g.node for name in inner.input)

    def enter(self, node) -> list[tuple[Tensor, Tensor]]:
        """Replace int64 by int32 in a node's inputs and outputs where that is proved right.

        Returns:
            (int32, int64) for each replaced output; see `leave`.
        """
        rule = _rule_of(node.proto)
        tensors = [t for t in node.inputs + node.outputs if t is not None]
        if rule is None or self._in_body:
            return []
        if any(t.is_object or t.is_open or 0 in t.shape for t in tensors):
            return []
        known = [self._range(t) for t in node.inputs]
        self._take(node, rule.free, known)
        same = [
            i for i in range(len(node.inputs)) if i in rule.same and node.inputs[i] is not None
        ]
        if any(known[i] is None for i in same if node.inputs[i].dtype == INT64):
            return []
        ranges = self._outputs(node, rule, known, same)
        if ranges is None:
            return []
        self._take(node, same, known)
        return self._give(node, ranges)

    def _range(self, t):
        """Return the range of an integer value, None if it is unknown or exceeds 32 bits."""
        if t is None or t.dtype != INT64:
            return None if t is None else _RANGES.get(t.dtype)
        if t not in self._ranges and t.data is not None and t.data.size:
            self._note(t, (int(t.data.min()), int(t.data.max())))
        return self._ranges.get(t)

    def _note(self, t, known):
        if _fits(known):
            self._ranges[t] = known

    def _outputs(self, node, rule, known, same):
        """Return the ranges of the outputs, None if an int64 output has to stay.

        Args:
            node: the node.
            rule: its _Rule.
            known: ranges of its inputs.
            same: indices of inputs that must have the outputs' dtype.
        """
        wide = [t is not None and t.dtype == INT64 for t in node.outputs]
        if not any(wide) and not any(node.inputs[i].dtype == INT64 for i in same):
            return None
        ranges = rule.ranges(node, known)
        flowing = any(node.inputs[i] in self._narrow and node.inputs[i].data is None for i in same)
        for t, is_wide, r in zip(node.outputs, wide, ranges, strict=True):
            if is_wide and (r is None or not _fits(r) or t.name in self._kept and not flowing):
                return None
        return ranges

    def _take(self, node, indexes, known):
        """Replace int64 inputs at these indices by int32 values, if their range is known."""
        for i in indexes:
            t = node.input(i)
            if t is not None and t.dtype == INT64 and known[i]:
                if t not in self._narrow:
                    self._narrow[t] = node.constant(t.data.astype(np.int32))
                node.inputs[i] = self._narrow[t]

    def _give(self, node, ranges):
        replaced = []
        for i, (t, r) in enumerate(zip(node.outputs, ranges, strict=True)):
            if t is not None and t.dtype == INT64:
                self._note(t, r)
                self._narrow[t] = node.outputs[i] = node.temp(INT32, t.shape)
                replaced.append((node.outputs[i], t))
        return replaced

    @staticmethod
    def leave(node, replaced) -> None:
        """Convert the outputs back to int64; steps whose results nothing reads are dropped."""
        for narrow, t in replaced:
            node.emit("cast", [narrow], [t])
