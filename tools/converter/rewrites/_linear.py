"""Multiply or shift the input or output of a node by changing its constant weights."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from . import _graph as g

OPERATORS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
_MOST_COPIED_NBYTES = 1024  # of weights that others read, too: a step that is saved is worth these
_MOST_FLOAT = float(np.finfo(np.float32).max)


def weights_of(node: ir.Node) -> np.ndarray | None:
    """Return the constant weights, if no other node reads them or they are few; else None."""
    w = g.input_of(node, 1)
    if not g.is_op(node, *OPERATORS) or not g.is_float(w):
        return None
    data = g.const(w)
    if data is not None and g.sole_reader(w) is None and data.nbytes > _MOST_COPIED_NBYTES:
        return None
    return None if data is None or node.op_type == "MatMul" and data.ndim != 2 else data


def out_axis(node: ir.Node) -> int | None:
    """Return the axis of the output's channels; None if it has none, or that is not known."""
    return _channels(node, node.outputs[0])


def in_axis(node: ir.Node) -> int | None:
    """Return the axis of the input's channels; None where a factor along it cannot be moved."""
    if node.op_type == "Gemm" and g.attr(node, "transA", 0):
        return None
    return _channels(node, node.inputs[0])


def _channels(node, value):
    if node.op_type not in ("Gemm", "MatMul"):
        return 1
    rank = g.rank_of(value)
    return rank - 1 if rank else None


def channel_values(data: np.ndarray, shape: tuple[int, ...], axis: int) -> np.ndarray | None:
    """Return a constant that is broadcast against this shape as a number a channel, in doubles.

    Return None if it varies along another axis, or makes the result larger.
    """
    if data.ndim > len(shape):
        return None
    own = (1,) * (len(shape) - data.ndim) + data.shape
    if any(d != 1 for i, d in enumerate(own) if i != axis) or own[axis] not in (1, shape[axis]):
        return None
    return np.broadcast_to(data.astype(np.float64).reshape(-1), (shape[axis],))


def with_output(node: ir.Node, reader: ir.Node, factor, summand) -> ir.Value | None:
    """Return factor * node + summand as the output of a new node; None if that is not possible.

    Args:
        node: the node.
        reader: the node that computes the product or sum; the new one is added before it.
        factor: one number for each output channel.
        summand: one number for each output channel.
    """
    w, bias = weights_of(node), _bias(node)
    if w is None or bias is None:
        return None
    rows = _rows(node, w) * factor.reshape(_groups(node), -1, 1, 1)
    return _rebuilt(node, reader, node.inputs[0], rows, bias * factor + summand)


def with_input(node: ir.Node, x: ir.Value, factor, summand) -> ir.Value | None:
    """Return node(factor * x + summand) as the output of a new node; None if it is not possible.

    Args:
        node: the node; the new one is added before it.
        x: the input of the new node.
        factor: one number for each channel of x.
        summand: one number for each channel of x.
    """
    w, bias = weights_of(node), _bias(node)
    if w is None or bias is None or np.any(summand) and not _sees_all(node):
        return None
    rows, shape = _rows(node, w), (_groups(node), 1, -1, 1)
    added = (rows * summand.reshape(shape)).sum((2, 3)).reshape(-1)
    return _rebuilt(node, node, x, rows * factor.reshape(shape), bias + added)


def _sees_all(node):
    """Return True if every output is a sum over all of the weights: no padding, no overlap."""
    if node.op_type != "Conv":
        return node.op_type != "ConvTranspose"
    is_valid = g.attr(node, "auto_pad", "NOTSET") in ("NOTSET", "VALID")
    return is_valid and not any(g.attr(node, "pads", [0]))


def _groups(node):
    return g.attr(node, "group", 1)


def _is_turned(node):
    """Return True if the weights have the input's channels first."""
    return not (node.op_type == "Conv" or node.op_type == "Gemm" and g.attr(node, "transB", 0))


def _rows(node, w):
    """Return the weights in doubles, without alpha, as (group, output, input, place)."""
    w = w.astype(np.float64) * g.attr(node, "alpha", 1.0)
    w = w.reshape(_groups(node), -1, w.shape[1], int(np.prod(w.shape[2:])))
    return w.transpose(0, 2, 1, 3) if _is_turned(node) else w


def _bias(node):
    """Return the bias times beta in doubles; 0 without a bias, None if it is not constant."""
    if node.op_type == "MatMul" or g.input_of(node, 2) is None:
        return np.zeros(())
    data = g.const(node.inputs[2])
    return None if data is None else data.astype(np.float64) * g.attr(node, "beta", 1.0)


def _rebuilt(node, before, x, rows, bias):
    """Return a copy of a node with other weights; None if these would not be finite floats.

    Args:
        node: the node.
        before: the copy is added in front of this node.
        x: the input.
        rows: the weights, in doubles.
        bias: the bias, in doubles.
    """
    w = rows.transpose(0, 2, 1, 3) if _is_turned(node) else rows
    values = np.concatenate([w.ravel(), bias.ravel()])
    if not (np.abs(values) <= _MOST_FLOAT).all():
        return None
    w = w.reshape(node.inputs[1].const_value.shape.numpy()).astype(np.float32)
    inputs, op = [x, g.constant(node.inputs[1], w)], node.op_type
    if op != "MatMul" and bias.ndim or np.any(bias):
        if op == "MatMul" and g.rank_of(node.outputs[0]) != 2:
            return None
        op = "Gemm" if op == "MatMul" else op
        name = g.input_of(node, 2) or node.inputs[1]
        inputs.append(g.constant(name, bias.astype(np.float32)))
    attributes = {k: v for k, v in node.attributes.items() if k not in ("alpha", "beta")}
    return g.add(before, op, inputs, attributes, like=node.outputs[0], named=node)
