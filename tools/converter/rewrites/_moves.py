"""Compute how a node changes if its input is not transposed: op(x.T) = op'(x).T."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from . import _graph as g
from .reshapes import VIEWS


@dataclass
class Move:
    """How a node changes if its input is not transposed.

    Attributes:
        perm: permutation that its outputs get instead.
        laid: indices of the inputs that have the permuted axes.
        op: the new operator, "" for the same one.
        attributes: attributes that replace the node's own.
        constants: {index of an input: array that replaces it}.
    """

    perm: list[int]
    laid: tuple[int, ...] = (0,)
    op: str = ""
    attributes: dict = field(default_factory=dict)
    constants: dict[int, np.ndarray] = field(default_factory=dict)


_UNARY = str.split(
    """Abs Acos Asin Atan BitwiseNot Cast Ceil Celu Clip Cos Cosh Elu Erf Exp Floor Gelu
    HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round
    Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu"""
)
_VARIADIC = str.split(
    """Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual
    Max Mean Min Mod Mul Or PRelu Pow Sub Sum Where Xor"""
)
_REDUCE = str.split(
    """ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd
    ReduceSum ReduceSumSquare"""
)
_QUANTIZE = ("QuantizeLinear", "DequantizeLinear")
_QLINEAR = {"QLinearAdd": (0, 3), "QLinearMul": (0, 3), "QLinearSigmoid": (0,)}
_QLINEAR["QLinearLeakyRelu"] = (0,)


def inverse(perm: list[int]) -> list[int]:
    return [perm.index(a) for a in range(len(perm))]


def move_of(node: ir.Node, perm: list[int]) -> Move | None:
    """Return how the node moves if the layout's inputs have this order; None if it cannot."""
    if any(g.shape_of(v) is None for v in node.outputs):
        return None
    if g.is_op(node, "Lookup", domain=g.OWN):
        return Move(perm)
    if node.domain == g.MS and node.op_type in _QLINEAR:
        return _elementwise(node, perm, _QLINEAR[node.op_type])
    if node.domain in ("", g.MS) and node.op_type in _QUANTIZE:
        return _quantize(node, perm)
    rule = _RULES.get(node.op_type) if node.domain == "" else None
    return None if rule is None else rule(node, perm)


def _elementwise(node, perm, laid):
    """Return the move where each operand has all axes, or is a constant or one number."""
    for x in (node.inputs[i] for i in laid):
        is_small = len(g.shape_of(x) or ()) != len(perm)
        if is_small and g.const(x) is None and not g.is_one(x):
            return None
    return Move(perm, laid) if len(node.outputs[0].shape) == len(perm) else None


def _unary(node, perm):
    return Move(perm)


def _variadic(node, perm):
    return _elementwise(node, perm, tuple(range(len(node.inputs))))


def _axis(node, perm, name="axis", default=0):
    """Return the axis of the unpermuted input that the node's axis stands for.

    Args:
        node: a node that reads a permuted input.
        perm: the permutation.
        name: name of the node's attribute.
        default: value of the attribute if the node lacks it.
    """
    return perm[g.attr(node, name, default) % len(perm)]


def _along_axis(default: int, all_inputs: bool = False, since: int = 0) -> Callable:
    """Return the rule of operators that have one `axis`.

    Args:
        default: the axis of a node without the attribute.
        all_inputs: all inputs are permuted, not only the first.
        since: the first opset in which the rule holds.
    """

    def move(node, perm):
        if g.opset_of(node) < since:
            return None
        laid = tuple(range(len(node.inputs))) if all_inputs else (0,)
        return Move(perm, laid, attributes={"axis": _axis(node, perm, default=default)})

    return move


def _quantize(node, perm):
    if g.attr(node, "block_size", 0):
        return None
    if g.is_one(node.inputs[1]):
        return Move(perm)
    return Move(perm, attributes={"axis": _axis(node, perm, default=1)})


def _pad(node, perm):
    known = g.ints_of(node, "pads", 1)
    if known is None or len(known) != 2 * len(perm) or g.input_of(node, 3) is not None:
        return None
    turned = np.reshape(known, (2, -1))[:, inverse(perm)].ravel()
    if "pads" in node.attributes:
        return Move(perm, attributes={"pads": turned.tolist()})
    return Move(perm, constants={1: turned})


def _slice(node, perm):
    starts = g.const(g.input_of(node, 1))
    axes = g.const(g.input_of(node, 3))
    if starts is None or g.opset_of(node) < 10:
        return None
    known_axes = range(starts.size) if axes is None else axes.tolist()
    turned = np.asarray([perm[a % len(perm)] for a in known_axes], np.int64)
    return Move(perm, constants={3: turned})


def _reduce(node, perm):
    """Reorder the axes of a reduction; without keepdims the output has the remaining ones."""
    known = g.ints_of(node, "axes", 1)
    if not known:
        return None
    turned = [perm[a % len(perm)] for a in known]
    out = perm if g.attr(node, "keepdims", 1) else _left(perm, turned)
    if "axes" in node.attributes:
        return Move(out, attributes={"axes": turned})
    return Move(out, constants={1: np.asarray(turned, np.int64)})


def _arg_reduce(node, perm):
    axis = _axis(node, perm)
    out = perm if g.attr(node, "keepdims", 1) else _left(perm, [axis])
    return Move(out, attributes={"axis": axis})


def _left(perm, dropped):
    left = [a for a in perm if a not in dropped]
    return [sorted(left).index(a) for a in left]


def _view(node, perm):
    """Return the Move of a node that only adds or drops dims of 1; None for other nodes."""
    y, z = g.shape_of(node.inputs[0]), g.shape_of(node.outputs[0])
    long_y, long_z = ([a for a, d in enumerate(s) if d != 1] for s in (y, z))
    if [y[a] for a in long_y] != [z[a] for a in long_z]:
        return None
    order = sorted(perm[a] for a in long_y)
    out = list(range(len(z)))
    for a, b in zip(long_y, long_z, strict=True):
        out[b] = long_z[order.index(perm[a])]
    shape = [z[a] for a in inverse(out)]
    return Move(out, op="Reshape", constants={1: np.asarray(shape, np.int64)})


_RULES: dict[str, Callable] = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_VARIADIC, _variadic),
    **dict.fromkeys(_REDUCE, _reduce),
    **dict.fromkeys(VIEWS, _view),
    **dict.fromkeys(("ArgMax", "ArgMin"), _arg_reduce),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), _along_axis(-1, since=13)),
    "Concat": _along_axis(0, all_inputs=True),
    "Split": _along_axis(0),
    "Pad": _pad,
    "Slice": _slice,
}
