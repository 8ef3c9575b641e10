"""Operands of integer operators: find bytes, weights and biases, and reshape values."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import onnx_ir as ir
from onnx import helper

from ...ir import dtype_name
from ...shapes.extent import is_open
from .. import _graph as g
from ._edit import Edit
from ._values import (
    BYTES,
    INT8,
    INT64,
    UINT8,
    Scaled,
    StaysFloat,
    array_of,
    dequantized,
    floats_of,
    quantized,
    quantizer,
    shape_of,
    sole_reader,
)

_WIDER = {21: UINT8, 22: INT8, 25: UINT8, 26: INT8}  # of 4 and 2 bits
# The part of a step of the result by which rounding a bias to integers may move it.
_BIAS_ERROR = 2**-10


def bytes_of(value: ir.Value, what: str) -> Scaled:
    """Return the 8-bit integers from which a value was dequantized with one scale.

    Args:
        value: an input of a node.
        what: its name in a message.

    Raises:
        StaysFloat: if there are no such integers.
    """
    q = dequantized(value)
    if q is None:
        raise StaysFloat(f"{what} is not dequantized by a constant scale")
    if q.dtype not in BYTES:
        raise StaysFloat(f"{what} has integers of {dtype_name(q.dtype)}")
    if q.scale.size > 1:
        raise StaysFloat(f"{what} has a scale for each channel")
    return q


def result_of(node: ir.Node, dtypes: Collection[int] = BYTES) -> tuple[ir.Node, Scaled]:
    """Return the QuantizeLinear that reads a node's result, and the integers that it makes.

    Args:
        node: the node.
        dtypes: dtypes that the integers may have.

    Raises:
        StaysFloat: if no such QuantizeLinear reads the result.
    """
    quantize = quantizer(node.outputs[0])
    y = quantized(quantize) if quantize else None
    if quantize is None or y is None or y.dtype not in dtypes:
        bits = 8 if dtypes == BYTES else 16
        raise StaysFloat(f"nothing quantizes its result to {bits} bits")
    return quantize, y


def weights_of(edit: Edit, value: ir.Value, axis: int, rank: int) -> Scaled:
    """Return weights as 8 bits with one scale, or one for each index of an axis.

    Weights of fewer bits are widened to 8.

    Args:
        edit: the round.
        value: an input of a node.
        axis: axis of the output channels.
        rank: number of dims of the weights.

    Raises:
        StaysFloat: if the weights are of another kind.
    """
    q = dequantized(value)
    if q is None:
        raise StaysFloat("its weights are not dequantized by a constant scale for each channel")
    if q.dtype not in (*BYTES, *_WIDER):
        raise StaysFloat(f"its weights are {dtype_name(q.dtype)}")
    if q.scale.size > 1 and q.axis % rank != axis:
        raise StaysFloat("its weights have a scale for each input channel")
    zero = q.zero
    if zero.size > 1 and (zero == zero.ravel()[0]).all():
        zero = zero.ravel()[:1]
    if q.scale.size > 1:
        zero = np.broadcast_to(zero, q.scale.shape)
    if q.dtype in BYTES:
        return Scaled(q.values, q.dtype, q.scale, zero, axis)
    return _widened(edit, q, zero, axis)


def _widened(edit, q, zero, axis):
    """Return weights of fewer than 8 bits as bytes. Raises StaysFloat if they are not constant.

    Args:
        edit: the round.
        q: the dequantized weights.
        zero: their zero points, an array.
        axis: axis of scales and zero points.
    """
    dtype = _WIDER[q.dtype]
    wide = helper.tensor_dtype_to_np_dtype(dtype)
    values = array_of(q.values)
    if values is None:
        raise StaysFloat("its weights have fewer than 8 bits and are not constant")
    values = edit.constant(values.astype(wide), q.values.name)
    return Scaled(values, dtype, q.scale, zero.astype(wide), axis)


def integer_bias(edit: Edit, bias: ir.Value, scale: np.ndarray, step: float) -> ir.Value:
    """Return the bias as int32 in units of the products' scale.

    A bias of one number is repeated for each scale.

    Args:
        edit: the round.
        bias: float constants.
        scale: scale of the products: one, or one for each channel.
        step: the scale of the result.

    Raises:
        StaysFloat: if rounding would move the result.
    """
    values = floats_of(bias)
    if values is None:
        raise StaysFloat("its bias is not constant")
    exact = values.reshape(-1).astype(np.float64) / scale.reshape(-1)
    rounded = np.rint(exact)
    moved = np.abs(exact - rounded) * scale.reshape(-1) / step
    if moved.max(initial=0) > _BIAS_ERROR or np.abs(rounded).max(initial=0) >= 2**31:
        raise StaysFloat("its bias is not an integer on the scale of the products")
    return edit.constant(rounded.astype(np.int32), bias.name)


def added(edit: Edit, node: ir.Node, n: int, axis: int) -> tuple[ir.Node, ir.Value | None]:
    """Find the Add of constants that alone reads a node's result.

    Args:
        edit: the round.
        node: the node.
        n: number of the constants.
        axis: their axis, counted from the end.

    Returns:
        The Add and the constants, or the node itself and None.
    """
    out = node.outputs[0]
    add, shape = sole_reader(out), shape_of(out)
    if not g.is_op(add, "Add") or shape is None or shape_of(add.outputs[0]) != shape:
        return node, None
    other = add.inputs[1] if add.inputs[0] is out else add.inputs[0]
    values = floats_of(other)
    if values is None or values.size != n or values.shape[axis : values.ndim + axis + 1] != (n,):
        return node, None
    return add, edit.constant(values.reshape(-1), other.name)


def bias_of(edit: Edit, node: ir.Node, n: int, axis: int) -> tuple[ir.Node, ir.Value | None]:
    """Return (last node, bias) of a node: its third input, or the constants of an Add behind it.

    Args:
        edit: as for `added`.
        node: as for `added`.
        n: as for `added`.
        axis: as for `added`.
    """
    bias = g.input_of(node, 2)
    return (node, bias) if bias is not None else added(edit, node, n, axis)


def reshape(
    edit: Edit, x: ir.Value, hint: str, shape: Sequence[int], out: ir.Value | None = None
) -> ir.Node:
    """Return a Reshape of x to a shape of which a run may decide one dim.

    Args:
        edit: the round.
        x: the value.
        hint: beginning of new names.
        shape: the new dims.
        out: the node's output; None for a node whose output will replace another node's.

    Raises:
        StaysFloat: if a run decides more than one of the dims.
    """
    if sum(map(is_open, shape)) > 1:
        raise StaysFloat("a run decides more than one dim of its shape")
    dims = edit.constant(np.array([-1 if is_open(d) else d for d in shape], np.int64), hint)
    return edit.node("Reshape", [x, dims], edit.new_name(hint), out)


def reshape_like(
    edit: Edit, x: ir.Value, hint: str, like: ir.Value, axes: Sequence[int], last: int
) -> list[ir.Node]:
    """Return the nodes that reshape x to some dims of another value, and a last dim.

    Args:
        edit: the round.
        x: the value.
        hint: beginning of new names.
        like: the other value.
        axes: axes of the dims that x gets from it.
        last: the last dim.
    """
    shape, some, dims = (edit.new_value(hint, INT64, like=None) for _ in range(3))
    at, end = (edit.constant(np.array(v, np.int64), hint) for v in (axes, [last]))
    return [
        edit.node("Shape", [like], edit.new_name(hint), shape),
        edit.node("Gather", [shape, at], edit.new_name(hint), some, axis=0),
        edit.node("Concat", [some, end], edit.new_name(hint), dims, axis=0),
        edit.node("Reshape", [x, dims], edit.new_name(hint)),
    ]


def product_scale(x: Scaled, w: Scaled) -> np.ndarray:
    """Return the scale of the products, as float64."""
    return x.scale.reshape(()).astype(np.float64) * w.scale.reshape(-1).astype(np.float64)
