"""Products as calls of benchmarks/c/same.h: what mpconnxr's loops do, in C.

Weights are packed here, as the converter packs them; buffers lie beside the tensors.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tools.converter.ops._block import HALF, mantissas
from tools.converter.ops._qweights import Weights, pack, padded, unsigned
from tools.converter.ops._requantize import Sums, channel_multipliers

_PATCH_NBYTES = 1024  # as of qconv


def conv_f32(code, x, out, w, bias, args):
    """args: from N on, of conv_f32."""
    image, patch = code.buffer("int32", math.prod(x.shape[1:])), code.buffer("int32", w[0].size)
    code.call("same_conv_f32", x.c, *_floats(code, w, bias), out.c, image, patch, *args)


def gemm_f32(code, a, out, w, bias, rows):
    """w: (N, K)"""
    row = code.buffer("int32", a.shape[-1])
    shape = [rows, a.shape[-1], len(w)]
    code.call("same_gemm_f32", a.c, *_floats(code, w, bias), out.c, row, *shape)


def _floats(code, w, bias):
    """Names of the mantissas, the exponents and the biases of rows."""
    held, exponents = mantissas(w.reshape(len(w), -1))
    biases = "NULL" if bias is None else code.constant(bias, "float32")
    names = code.constant(held - HALF, "int32"), code.constant(exponents, "int32")
    return [*names, biases]


def qconv(code, x, out, product, args):
    """product: w (G * M, ...), bias, ratio, zeros of x, w and out; args: from N on, of qconv."""
    n, groups, c, h, width, m, kh, kw, oh, ow, sh, sw, *_, dh, dw = args
    if c == 1 and m <= 2:
        table, rows, zeros = _packed(code, product, 0)
        size = ((oh - 1) * sh + (kh - 1) * dh + 1) * ((ow - 1) * sw + (kw - 1) * dw + 1)
        plane = code.buffer("uint8", size)
        sizes = [n, groups, *args[3:]]
        code.call("same_qdepthwise", _bytes(x), rows, table, _bytes(out), plane, *sizes, *zeros)
        return
    table, rows, zeros = _packed(code, product, groups)
    k = padded(c * kh * kw)
    piece = min(max(_PATCH_NBYTES // (4 + k), 1), oh * ow)
    room = code.buffer("uint8", piece * k), code.buffer("int32", piece)
    tensors = _bytes(x), rows, table, _bytes(out)
    code.call("same_qconv", *tensors, *room, piece, *args, *zeros)


def qgemm(code, a, out, product, rows):
    """Rows of a times those of product's w (N, K)."""
    table, packed, zeros = _packed(code, product, 1)
    k = a.shape[-1]
    room = code.buffer("uint8", rows * padded(k)), code.buffer("int32", rows)
    shape = [rows, k, len(product[0])]
    flip, _, *zeros = zeros
    code.call("same_qgemm", _bytes(a), packed, table, _bytes(out), *room, *shape, flip, *zeros)


def _packed(code, product, groups):
    """Names of table and rows; flip, zeros of x, w and out, limits. groups 0: rows as they are."""
    w, bias, ratio, (x_zero, w_zero, y_zero), of_x, of_y = product
    flip = 128 if of_x == np.int8 else 0
    w_zero += 128 if w.dtype == np.int8 else 0
    rows = unsigned(w).reshape(len(w), -1)
    bias = np.zeros(len(w), np.int64) if bias is None else np.asarray(bias, np.int64).ravel()
    weights, limits = Weights(rows, w_zero, bias), np.iinfo(of_y)
    sums = Sums(weights.constants(x_zero + flip), *weights.range(x_zero + flip))
    scales = [Fraction(float(v)) for v in np.broadcast_to(np.ravel(ratio), len(w))]
    found = channel_multipliers(scales, sums, limits.min - y_zero, limits.max - y_zero)
    blob = pack(rows, groups or 1, found.first_words, found.mantissas)
    body = blob[8 * len(w) :] if groups else rows
    table = code.constant(blob[: 8 * len(w)].view("<i4"), "int32")
    zeros = [flip, x_zero + flip, w_zero, y_zero, limits.min, limits.max]
    return table, code.constant(body, "uint8"), zeros


def _bytes(value):
    return f"(uint8_t *){value.c}"
