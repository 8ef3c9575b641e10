"""MatMulInteger and QLinearMatMul -> kernel matmul_integer where B is known, else gemm."""

from __future__ import annotations

import numpy as np

from ..ir import Tensor
from . import lowers
from ._elementwise import emit_binary
from ._integer import FLOAT, INT8, INT32, as_dtype, as_unsigned, centred, combined
from .gemm import emit_gemm, matmul_operands
from .quantize import QUANTIZE, emit_quantize

_MAX_K = 33000  # the kernel's


@lowers("MatMulInteger")
def lower_matmul_integer(node):
    a, b = node.inputs[:2]
    emit_product(node, a, b, node.input(2), node.input(3), node.outputs[0])


@lowers("QLinearMatMul")
def lower_qlinear_matmul(node):
    """The product's integers, times a_scale * b_scale, quantized by y_scale."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = node.inputs
    out = node.outputs[0]
    product = node.temp(INT32, out.shape)
    emit_product(node, a, b, a_zero, b_zero, product)
    rows = (a.shape[-2], 1) if a_scale.nelem > 1 and len(a_scale.shape) == 1 else a_scale.shape
    scale = combined(node, "mul", node.reshaped(a_scale, rows), b_scale)
    emit_requantize(node, product, scale, y_scale, y_zero)


def emit_requantize(node, product: Tensor, scale: Tensor, y_scale: Tensor, y_zero: Tensor) -> None:
    """The node's output = quantized(product * scale)."""
    out = node.outputs[0]
    real = node.temp(FLOAT, out.shape)
    emit_binary(node, "mul", as_dtype(node, product, FLOAT), scale, real)
    one = [node.reshaped(t, (1,)) if t.nelem == 1 else t for t in (y_scale, y_zero)]
    emit_quantize(node, QUANTIZE, real, *one, out)


def emit_product(node, a, b, a_zero, b_zero, out):
    """out int32 = (a - a_zero) * (b - b_zero), zero points as scalars, rows or columns."""
    known = b.data is not None and (b_zero is None or b_zero.data is not None)
    one_a, one_b = (t is None or t.nelem == 1 for t in (a_zero, b_zero))
    by_column = one_b or (b_zero.nelem == b.shape[-1] and len(b.shape) == 2)
    if known and one_a and by_column and a.shape[-1] <= _MAX_K:
        _emit_bytes(node, a, b, a_zero, b_zero, out)
        return
    rows = (a.shape[-2], 1) if not one_a and len(a_zero.shape) == 1 else None
    a, b = centred(node, a, a_zero, rows), centred(node, b, b_zero)
    a, w, shape, steps = matmul_operands(node, a, b)
    emit_gemm(node, a, w, out, shape, False, steps)


def _emit_bytes(node, a, b, a_zero, b_zero, out):
    """The fast way. What depends on B alone is made here; c = za * (K * z[n] - sum_k(w))."""
    a_shift, b_shift = (128 if t.dtype == INT8 else 0 for t in (a, b))
    n = b.shape[-1] if len(b.shape) > 1 else 1
    z = np.full(n, b_shift, np.int32)
    if b_zero is not None:
        z += b_zero.data.reshape(-1).astype(np.int32)
    a, w, (n0, n1, m, _, k), steps = matmul_operands(
        node, as_unsigned(node, a), as_unsigned(node, b)
    )
    per_zero = k * z - w.data.reshape(-1, n, k).sum(axis=2, dtype=np.int32)
    zero = node.constant(np.int32(0)) if a_zero is None else as_dtype(node, a_zero, INT32)
    if a_shift:
        zero = combined(node, "add", zero, node.constant(np.int32(a_shift)))
    c = combined(node, "mul", node.constant(per_zero.astype(np.int32)), node.reshaped(zero, (1,)))
    params = [n0, n1, m, n, k, *steps]
    row_sum = node.temp(INT32, (1,))
    inputs = [a, w, c, node.constant(z)]
    node.emit("matmul_integer", inputs, [out], params, [row_sum], macs=n0 * n1 * m * n * k)
