"""Lower Gemm and MatMul to kernel block_gemm, or to gemm for integers and plain floats."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open
from . import lowers
from ._block import NO_CLIP, block_constants, gemm_words, is_block
from ._dot import pack_rows
from ._dtypes import FLOATS, INT32, UINT32
from ._elementwise import binary, emit_binary, float_bits
from ._extents import emit_same
from ._move import collapse, emit_move, strides_of

INTS = (6, 7, 12, 13)
_FEW_SUMS, _FEW_FEATURES = 16, 64
_UNLIKE = 6  # features are scaled if columns of weights differ by these bits in size
_MAX_SCALE = 60  # log2 of a factor, at most


@lowers("Gemm")
def lower_gemm(node):
    """Lower Gemm: alpha * A' * B' + beta * C.

    Known weights are multiplied by alpha, and take C if it is one value for each column. The rest
    becomes elementwise steps after the product.
    """
    dtype = node.require_dtype(*FLOATS, *INTS)
    a, b, c = node.inputs[0], node.inputs[1], node.input(2)
    out = node.outputs[0]
    alpha, beta = node.attr("alpha", 1.0), node.attr("beta", 1.0)
    if dtype in INTS and (alpha, beta) != (1.0, 1.0):
        raise Problem("alpha or beta for integers")
    (m, n), k = out.shape, a.shape[0 if node.attr("transA", 0) else 1]
    _match(node, a, b, (k, b.shape[1 if node.attr("transB", 0) else 0]))
    if node.attr("transA", 0):
        a = _transposed(node, a)
    rows, cols = ([0], [1]) if node.attr("transB", 0) else ([1], [0])
    scale = alpha if b.data is not None else 1.0
    late_alpha = alpha if scale != alpha else 1.0
    bias = _column_bias(node, c, n, beta) if late_alpha == 1.0 else None
    late_c = None if bias is not None else c
    w = pack_rows(node, b, rows, cols, bias, scale)
    is_complete = late_alpha == 1.0 and late_c is None
    product = out if is_complete else node.temp(dtype, (m, n))
    emit_gemm(node, a, w, product, (1, 1, m, n, k), bias is not None, (0, 0, 0, 0))
    if not is_complete:
        _emit_scaled_sum(node, product, late_c, late_alpha, beta)


def require_fit(a: Tensor, b: Tensor, lengths: tuple[int, int]) -> None:
    """Raise Problem if the lengths of a row of A and of a column of B differ."""
    if lengths[0] != lengths[1] and not any_open(lengths):
        raise Problem(f"{a} and {b} do not fit: {lengths[0]} is not {lengths[1]}")


def _match(node, a, b, lengths):
    """Require equal lengths of two operands: now, or in the run if only a run knows them."""
    require_fit(a, b, lengths)
    emit_same(node, [lengths])


def _emit_scaled_sum(node, product, c, alpha, beta):
    """Emit the node's output = alpha * product + beta * c, by elementwise steps."""
    out = node.outputs[0]
    if alpha != 1.0:
        target = node.temp(out.dtype, out.shape) if c is not None else out
        emit_binary(node, "mul", product, alpha, target)
        product = target
    if c is None:
        return
    if beta != 1.0:
        c = binary(node, "mul", c, beta)
    emit_binary(node, "add", product, c, out)


def _column_bias(node, c: Tensor | None, n: int, beta: float):
    """Return beta * C as one value for each of n columns; None if it must be added afterwards."""
    if c is None or math.prod(c.shape[:-1]) != 1:
        return None
    if c.data is None:
        return c if beta == 1.0 and c.nelem == n else None
    values = c.data.reshape(-1) * np.asarray(beta, c.np_dtype)
    return node.constant(np.broadcast_to(values, (n,)))


def _transposed(node, a):
    out = node.temp(a.dtype, a.shape[::-1])
    if a.data is not None:
        return node.constant(a.data.T)
    strides = strides_of(a.shape)
    emit_move(node.emit, a, out, out.shape, strides[::-1], strides_of(out.shape))
    return out


@lowers("MatMul")
def lower_matmul(node):
    """Lower MatMul as numpy's: batch dimensions broadcast, vectors are rows or columns."""
    node.require_dtype(*FLOATS, *INTS)
    a, w, shape, steps = matmul_operands(node, node.inputs[0], node.inputs[1])
    emit_gemm(node, a, w, node.outputs[0], shape, False, steps)


def matmul_operands(node, a: Tensor, b: Tensor):
    """Return A, W, shape and steps for emit_gemm, with B's matrices transposed to rows of k."""
    a_shape = a.shape if len(a.shape) > 1 else (1, *a.shape)
    b_shape = b.shape if len(b.shape) > 1 else (*b.shape, 1)
    m, k, n = a_shape[-2], a_shape[-1], b_shape[-1]
    _match(node, a, b, (k, b_shape[-2]))
    w, w_batch = _pack_batches(node, b, b_shape)
    if math.prod(w_batch) == 1:
        return a, w, (1, 1, math.prod(a_shape[:-1]), n, k), (0, 0, 0, 0)
    _match_batches(node, a_shape[:-2], w_batch)
    dims, (a_steps, w_steps) = _batches(a_shape[:-2], w_batch)
    if len(dims) > 2:
        a = _expanded(node, a, a_shape, w_batch)
        dims, (a_steps, w_steps) = _batches(a.shape[:-2], w_batch)
    if len(dims) > 2:
        w = _expanded(node, w, (*w_batch, n, k), a.shape[:-2])
        dims, (a_steps, w_steps) = _batches(a.shape[:-2], w.shape[:-2])
    steps = [0] * (2 - len(a_steps)) + a_steps + [0] * (2 - len(w_steps)) + w_steps
    return a, w, (*[1] * (2 - len(dims)), *dims, m, n, k), steps


def _match_batches(node, a_batch, w_batch):
    """Check in the run that open batch dimensions are equal."""
    n = min(len(a_batch), len(w_batch))
    tails = list(a_batch)[len(a_batch) - n :], list(w_batch)[len(w_batch) - n :]
    pairs = [(x, y) for x, y in zip(*tails, strict=True) if any_open((x, y)) and x != y]
    pairs = [pair for pair in pairs if 1 not in pair]
    for x, y in pairs:
        if not any_open((x,)) or not any_open((y,)):
            raise Problem(f"a run-time extent of {x} where {y} is needed")
    emit_same(node, pairs)


def _pack_batches(node, b, b_shape):
    """Return B with each matrix transposed to rows of k, and its batch shape."""
    *batch, k, n = b_shape
    b = node.reshaped(b, b_shape)
    axes = list(range(len(batch)))
    w = pack_rows(node, b, [*axes, len(batch) + 1], [len(batch)], None)
    return w, batch


def _batches(a_batch, w_batch):
    """Return the collapsed batch dimensions of a product, and steps of A and W in matrices."""
    rank = max(len(a_batch), len(w_batch))
    a_batch = [1] * (rank - len(a_batch)) + list(a_batch)
    w_batch = [1] * (rank - len(w_batch)) + list(w_batch)
    dims = [x if y == 1 else y for x, y in zip(a_batch, w_batch, strict=True)]
    strides = [
        [s if d != 1 else 0 for s, d in zip(strides_of(shape), shape, strict=True)]
        for shape in (a_batch, w_batch)
    ]
    return collapse(dims, *strides)


def _expanded(node, a, a_shape, w_batch):
    """Return a copy of a MatMul operand whose batch dims are broadcast with the other operand's.

    Args:
        node: the node to lower.
        a: the operand.
        a_shape: its shape.
        w_batch: batch dims of the other operand.
    """
    if any_open((*a_shape, *w_batch)):
        raise Problem("MatMul batches that broadcast, of run-time extents")
    batch = np.broadcast_shapes(tuple(a_shape[:-2]), tuple(w_batch))
    out = node.temp(a.dtype, (*batch, *a_shape[-2:]))
    ones = (1,) * (len(out.shape) - len(a_shape)) + tuple(a_shape)
    strides = [s if d > 1 else 0 for s, d in zip(strides_of(ones), ones, strict=True)]
    emit_move(node.emit, a, out, out.shape, strides, strides_of(out.shape))
    return out


def emit_gemm(node, a, w, out, shape, has_bias, steps):
    """Emit one step of block_gemm or gemm.

    Args:
        node: the node to lower.
        a: the matrices A.
        w: rows of k weights, each followed by its bias if there is one.
        out: the product.
        shape: (n0, n1, M, N, K).
        has_bias: the rows of w have biases.
        steps: two steps of A and two of W from batch to batch [matrices].
    """
    n0, n1, m, n, k = shape
    macs = n0 * n1 * m * n * k
    if w.data is not None and n0 * n1 == 1 and _are_features(node, a, w, n, k):
        rows = w.data.reshape(n, -1)
        a, columns = scaled_columns(node, node.reshaped(a, (m, k)), rows[:, :k], _UNLIKE)
        w = node.constant(np.concatenate([columns, rows[:, k:]], 1).astype(np.float32))
    sizes = {
        "batches": [n0, n1],
        "m": m,
        "n": n,
        "k": k,
        "a_steps": steps[:2],
        "w_steps": steps[2:],
    }
    if not is_block(node, a, w, k):
        node.emit("gemm", [a, w], [out], macs=macs, **sizes, has_bias=int(has_bias))
        return
    if w.data is None:
        words, weights = gemm_words(n, k) + n * (k + 1), [w]
    else:
        weights = block_constants(node, w, k, has_bias)
        words = gemm_words(n, k, weights[0].dtype == UINT32)
        has_bias = False  # block_constants has put it apart
    sizes |= {"limits": list(map(float_bits, NO_CLIP)), "has_bias": int(has_bias)}
    scratch = [node.temp(INT32, (words,))]
    node.emit("block_gemm", [a, *weights], [out], scratch=scratch, macs=macs, **sizes)


def _are_features(node, a, w, n, k):
    """Return True if a product has few sums, of features that may have different units.

    Such inputs come from outside the model unscaled (see Node.is_raw).

    Args:
        node: the node to lower.
        a: the first operand, rows of k features.
        w: the weights.
        n: number of sums for each row.
        k: number of features.
    """
    small = not any_open([n, k]) and n <= _FEW_SUMS and k <= _FEW_FEATURES
    return small and is_block(node, a, w, k) and node.is_raw(a)


def scaled_columns(node, x: Tensor, w: np.ndarray, alike: int) -> tuple[Tensor, np.ndarray]:
    """Scale the columns of x by powers of two so that each matters equally; return (x, w).

    The columns of w are divided by the same powers: then the largest weight of each column is
    between 0.5 and 1. The elements of a row of x share an exponent, so each should be as large as
    its largest contribution to a sum.

    Args:
        node: the node to lower.
        x: (rows, K).
        w: array (N, K).
        alike: number of bits; columns whose sizes differ by less stay unchanged.
    """
    exponents = np.frexp(np.abs(w).max(0))[1]
    exponents[~w.any(0)] = exponents.max(initial=0)
    if not exponents.size or np.ptp(exponents) < alike:
        return x, w
    exponents = np.clip(exponents, -_MAX_SCALE, _MAX_SCALE)
    factors = node.constant(np.ldexp(1.0, exponents).astype(np.float32))
    return binary(node, "mul", x, factors), np.ldexp(w, -exponents)
