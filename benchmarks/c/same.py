"""Translate products to calls of benchmarks/c/same.h, which does in C what mpconnxr's loops do.

Weights are packed here, as the converter packs them; scratch buffers lie beside the tensors.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from tools.converter.ops._block import HALF, mantissas
from tools.converter.ops._qweights import Weights, pack, padded, unsigned
from tools.converter.ops._requantize import Sums, channel_multipliers

_PATCH_NBYTES = 1024  # scratch bytes, as in the kernel qconv


def conv_f32(code, x, out, w, bias, args):
    """Emit a convolution of floats, computed as by mpconnxr's loops.

    Args:
        code: the C that is written.
        x: input.
        out: output.
        w: array of the weights.
        bias: array of the biases, or None.
        args: further arguments of conv_f32, from N on.
    """
    image, patch = code.buffer("int32", math.prod(x.shape[1:])), code.buffer("int32", w[0].size)
    code.call("same_conv_f32", x.c, *_floats(code, w, bias), out.c, image, patch, *args)


def gemm_f32(code, a, out, w, bias, rows):
    """Emit a product of floats: of each row of `a` with each row of `w`.

    Args:
        code: the C that is written.
        a: input, its rows of K elements.
        out: output.
        w: array (N, K) of the weights.
        bias: array of the biases, or None.
        rows: number of rows of `a`.
    """
    row = code.buffer("int32", a.shape[-1])
    shape = [rows, a.shape[-1], len(w)]
    code.call("same_gemm_f32", a.c, *_floats(code, w, bias), out.c, row, *shape)


def _floats(code, w, bias):
    """Declare the constants of a float layer, and return their names in C.

    Args:
        code: the C that is written.
        w: array of the weights, one row per output channel.
        bias: array of the biases, or None.

    Returns:
        Names of the mantissas, of the exponents (one per row), and of the biases or NULL.
    """
    held, exponents = mantissas(w.reshape(len(w), -1))
    biases = "NULL" if bias is None else code.constant(bias, "float32")
    names = code.constant(held - HALF, "int32"), code.constant(exponents, "int32")
    return [*names, biases]


def qconv(code, x, out, product, args):
    """Emit a quantized convolution.

    Args:
        code: the C to append to.
        x: input.
        out: output.
        product: w (G * M, ...), bias, ratio, zero points of x, w and out, dtypes of x and out.
        args: arguments of qconv, from N on.
    """
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
    n_patches = min(max(_PATCH_NBYTES // (4 + k), 1), oh * ow)
    scratch = code.buffer("uint8", n_patches * k), code.buffer("int32", n_patches)
    tensors = _bytes(x), rows, table, _bytes(out)
    code.call("same_qconv", *tensors, *scratch, n_patches, *args, *zeros)


def qgemm(code, a, out, product, rows):
    """Emit a quantized product of rows of `a` with rows of w (N, K), in `product` as in qconv."""
    table, packed, zeros = _packed(code, product, 1)
    k = a.shape[-1]
    scratch = code.buffer("uint8", rows * padded(k)), code.buffer("int32", rows)
    shape = [rows, k, len(product[0])]
    flip, _, *zeros = zeros
    code.call("same_qgemm", _bytes(a), packed, table, _bytes(out), *scratch, *shape, flip, *zeros)


def _packed(code, product, groups):
    """Declare the table of requantization and the weights of a product.

    Args:
        code: the C to append to.
        product: as in qconv.
        groups: number of groups; 0: keep the rows as they are.

    Returns:
        Names of the table and the weights, [flip, zero points of x, w and out, lower and upper
            limit].
    """
    w, bias, ratio, (x_zero, w_zero, y_zero), x_dtype, y_dtype = product
    flip = 128 if x_dtype == np.int8 else 0
    w_zero += 128 if w.dtype == np.int8 else 0
    rows = unsigned(w).reshape(len(w), -1)
    bias = np.zeros(len(w), np.int64) if bias is None else np.asarray(bias, np.int64).ravel()
    weights, limits = Weights(rows, w_zero, bias), np.iinfo(y_dtype)
    sums = Sums(weights.constants(x_zero + flip), *weights.range(x_zero + flip))
    scales = [Fraction(float(v)) for v in np.broadcast_to(np.ravel(ratio), len(w))]
    multipliers = channel_multipliers(scales, sums, limits.min - y_zero, limits.max - y_zero)
    blob = pack(rows, groups or 1, multipliers.first_words, multipliers.mantissas)
    body = blob[8 * len(w) :] if groups else rows
    table = code.constant(blob[: 8 * len(w)].view("<i4"), "int32")
    zeros = [flip, x_zero + flip, w_zero, y_zero, limits.min, limits.max]
    return table, code.constant(body, "uint8"), zeros


def _bytes(value):
    return f"(uint8_t *){value.c}"
