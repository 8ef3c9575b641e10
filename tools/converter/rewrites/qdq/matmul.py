"""Replace Gemm and MatMul between DQ and Q by QGemm and QLinearMatMul.

1. DQ -> MatMul -> Q of two tensors that the run computes becomes QLinearMatMul.
2. DQ -> Gemm -> Q with constant B and C becomes QGemm with C as int32 in units of
   a_scale * b_scale. So does MatMul by a constant matrix; an Add of a constant row behind it is C,
   and an A of more than two dims is reshaped to two, and the result back.
3. If no Q reads the result, or C is no integer to within 1/1000 of a step of the result, the
   product becomes MatMulInteger and ToFloat (see dynamic).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from ...shapes.extent import is_open
from .. import _graph as g
from ._edit import Edit
from ._operands import (
    added,
    bytes_of,
    integer_bias,
    product_scale,
    reshape,
    reshape_like,
    result_of,
    weights_of,
)
from ._values import (
    INT32,
    Scaled,
    StaysFloat,
    array_of,
    dequantized,
    dtype_of,
    floats_of,
    shape_of,
)
from .dynamic import to_float


@dataclass
class _Product:
    """A product of matrices.

    Attributes:
        last: the node that makes the float result.
        a: the first operand.
        b: the second operand.
        bias: the summand, or None.
        trans_a: 1 if a is transposed.
        trans_b: 1 if b is transposed.
        beta: the factor of the bias.
    """

    last: ir.Node
    a: Scaled
    b: Scaled
    bias: ir.Value | None
    trans_a: int = 0
    trans_b: int = 0
    beta: float = 1.0


def fuse_gemm(edit: Edit, node: ir.Node) -> None:
    """Apply rules 2 and 3 to a Gemm, or raise StaysFloat."""
    trans_b = g.attr(node, "transB", 0)
    a = bytes_of(node.inputs[0], "its first input")
    b = weights_of(edit, node.inputs[1], 1 - trans_b, 2)
    alpha = np.float32(g.attr(node, "alpha", 1.0))
    b = replace(b, scale=b.scale * alpha)
    trans_a, beta = g.attr(node, "transA", 0), g.attr(node, "beta", 1.0)
    _fuse(edit, _Product(node, a, b, g.input_of(node, 2), trans_a, trans_b, beta), node)


def fuse_matmul(edit: Edit, node: ir.Node) -> None:
    """Apply the rules to a MatMul, or raise StaysFloat."""
    a = bytes_of(node.inputs[0], "its first input")
    q = dequantized(node.inputs[1])
    shape = shape_of(node.inputs[1])
    if q is None or array_of(q.values) is None or shape is None or len(shape) != 2:
        _of_two(edit, node, a, bytes_of(node.inputs[1], "its second input"))
        return
    b = weights_of(edit, node.inputs[1], 1, 2)
    last, bias = added(edit, node, shape[1], -1)
    _fuse(edit, _Product(last, a, b, bias), node)


def _of_two(edit, node, a, b):
    quantize, y = result_of(node)
    out = quantize.outputs[0].name
    inputs = [value for q in (a, b) for value in edit.operand(q, out)]
    inputs += edit.parameters(y, out)
    edit.fuse(node, quantize, [edit.node("QLinearMatMul", inputs, node.name)])


def _fuse(edit, product, node):
    try:
        quantize, y = result_of(product.last)
        c = _integer_c(edit, product, y)
    except StaysFloat:
        _to_float(edit, product, node)
        return
    parameters = edit.parameters(y, quantize.outputs[0].name)
    _put(edit, product, node, quantize, [c, *parameters])
    edit.remove(product.last)


def _integer_c(edit, product, y):
    if product.bias is None:
        return None
    if product.beta != 1.0:
        raise StaysFloat("beta")
    shape = shape_of(product.bias)
    if shape is None or math.prod(shape) != math.prod(shape[-1:]):
        raise StaysFloat("its C is not a row")
    scale = product_scale(product.a, product.b)
    return integer_bias(edit, product.bias, scale, float(y.scale.reshape(())))


def _to_float(edit, product, node):
    """Put MatMulInteger and ToFloat in the place of the product and of the constants added."""
    a, b, result = product.a, product.b, product.last.outputs[0]
    out, shape, weights = result.name, shape_of(node.inputs[0]), array_of(b.values)
    if product.trans_a or weights is None or not shape:
        raise StaysFloat("its first input is transposed, its second no constant")
    weights = weights.T if product.trans_b else weights
    offset = np.zeros(1, np.float32) if product.bias is None else floats_of(product.bias)
    if offset is None or offset.size > 1 and offset.shape[-1] != offset.size:
        raise StaysFloat("its C is not a constant row")
    sums = edit.new_value(out, INT32, like=result)
    inputs = [a.values, edit.constant(weights, b.values.name)]
    inputs += [edit.parameters(q, out)[1] for q in (a, b)]
    multiply = edit.node("MatMulInteger", inputs, node.name, sums)
    scale = product_scale(a, b).astype(np.float32)
    offset = offset.reshape(-1) * np.float32(product.beta)
    constants = [edit.constant(v, out) for v in (scale, offset)]
    scaled = to_float(edit, sums, *constants, out, len(shape) - 1)
    edit.replace(product.last, [multiply, scaled])


def _put(edit, product, node, old, rest):
    """Replace a product and the Q behind it by QGemm; Reshapes make a matrix of A.

    Args:
        edit: the round.
        product: the _Product.
        node: its first node.
        old: the Q.
        rest: the further inputs of QGemm.
    """
    result = old.outputs[0]
    out, a, b = result.name, product.a, product.b
    shape = shape_of(node.inputs[0])
    if shape is None or is_open(shape[-1]):
        raise StaysFloat("the shape of its input is not known")
    values, rows, nodes = a.values, None, []
    if len(shape) != 2:
        values = edit.new_value(a.values.name, a.dtype, like=None)
        rows = edit.new_value(out, dtype_of(result), like=None)
        nodes.append(reshape(edit, a.values, values.name, [-1, shape[-1]], values))
    inputs = [values, *edit.parameters(a, out), *edit.operand(b, out), *rest]
    transposed = {"transA": product.trans_a, "transB": product.trans_b}
    nodes.append(edit.node("QGemm", inputs, node.name, rows, g.MS, **transposed))
    if len(shape) != 2:
        nodes += _unfolded(edit, rows, result, a.values, shape)
    edit.replace(old, nodes)


def _unfolded(edit, rows, result, x, shape):
    """Return the nodes that reshape a product of rows to the dims of x, with a new last one.

    Args:
        edit: the round.
        rows: the product, a matrix.
        result: the value that has the final shape.
        x: the input before it became a matrix.
        shape: shape of x.
    """
    whole = shape_of(result)
    if sum(map(is_open, whole)) > 1:
        axes = range(len(shape) - 1)
        return reshape_like(edit, rows, result.name, x, axes, whole[-1])
    return [reshape(edit, rows, result.name, whole)]
