"""Lower this project's operators on 16-bit integers (rewrites/qdq/wide.py) to wide_ kernels.

Most become wide_conv: products with weights of 8 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open, is_open
from ..steps.overlap import element_leads
from . import OWN, lowers, pool
from ._dtypes import FLOAT, INT16, UINT16
from ._microsoft import as_onnx, like, lower_with
from ._qmeans import PLANES, emit_wide_means, order_of
from ._qweights import Geometry, scalar
from ._requantize import range_of
from ._windows import require_nonempty, windows_of
from .conv_integer import geometry_of
from .ms_qlinear import dequantized, quantize
from .reduce import MEAN, emit_reduce

_SUM_POINT, _FACTOR = 13, 15  # fractional bits of a sum of two, and further ones of a factor
_PATCH_NBYTES = 1024  # of scratch; with more the loops would be called less often
_BITS = 24  # of a multiplier, as of a float32
_POINT = 13  # fractional bits of a value that is rounded
_MAX_RIGHT = 31
_MAX_SCALE = math.ldexp((1 << _BITS) - 1, 17 - _BITS)  # saturates every sum except 0
_MAX_K = 16384  # the kernel's limit
_MAX_SUM = 1 << 46  # the device has 15 bits and a word for a sum


def _infer(op: str, weights: int | None = None) -> Callable:
    """Return the inference rule of ONNX's `op` between DQ and Q, with or without weights."""

    def infer(node):
        inputs = [node.inputs[0]] + ([] if weights is None else [node.inputs[weights]])
        tensors = [Tensor(t.name, FLOAT, t.shape) for t in inputs]
        [(_, shape)] = as_onnx(node, op, tensors)
        return [(node.inputs[-1].dtype if len(node.inputs) > 1 else node.inputs[0].dtype, shape)]

    return infer


def _numbers(node, *indices: int) -> list:
    """Return the values of inputs with one element."""
    values = [scalar(node.inputs[i]) for i in indices]
    if any(v is None for v in values):
        raise Problem("scales and zero points that are not constant")
    return values


def _emit_product(node, geometry: Geometry) -> None:
    x, w, w_scale, b = (node.inputs[i] for i in (0, 3, 4, 5))
    x_scale, x_zero, y_scale, y_zero = _numbers(node, 1, 2, 6, 7)
    if any(t.data is None for t in (w, w_scale, b)):
        raise Problem("weights that are not constant")
    of_sums = np.float64(x_scale) * w_scale.data.astype(np.float64)
    bias = np.rint(b.data.astype(np.float64) / of_sums).astype(np.int64)
    scales = np.float32(x_scale) * w_scale.data / np.float32(y_scale)
    rows = w.data.reshape(w.shape[0], -1)
    emit_wide(node, x, rows, geometry, x_zero, scales, node.outputs[0], y_zero, bias)


@lowers("WideConv", domain=OWN, infer=_infer("Conv", 3))
def lower_conv(node):
    _emit_product(node, geometry_of(node))


def _infer_gemm(node):
    return [(node.inputs[-1].dtype, [node.inputs[0].shape[0], node.inputs[3].shape[0]])]


@lowers("WideGemm", domain=OWN, infer=_infer_gemm)
def lower_gemm(node):
    x, w = node.inputs[0], node.inputs[3]
    _emit_product(node, geometry_of_rows(x.shape[0], x.shape[1], w.shape[0]))


@lowers("WideClip", domain=OWN, infer=like(0, dtype_of=-1))
def lower_clip(node):
    """Lower WideClip. Limits are rounded as values are: rounding keeps their order."""
    x, out = node.inputs[0], node.outputs[0]
    x_scale, x_zero, *ends, y_scale, y_zero = _numbers(node, *range(1, 7))
    low, high = range_of(out.dtype)
    with np.errstate(over="ignore"):
        levels = [np.rint(np.float32(v) / np.float32(y_scale)) + y_zero for v in ends]
    limits = [int(np.clip(v, low, high)) for v in levels]
    scales = np.float32(x_scale) / np.float32(y_scale)
    one, no_bias = np.ones((1, 1), np.int8), np.zeros(1, np.int64)
    geometry = geometry_of_rows(x.nelem, 1, 1)
    emit_wide(node, x, one, geometry, x_zero, [scales], out, y_zero, no_bias, limits)


@lowers("WideAveragePool", domain=OWN, infer=_infer("AveragePool"))
def lower_average_pool(node):
    w = windows_of(node, node.attr("kernel_shape"), node.outputs[0].shape)
    windows = w.kernel[1:], w.strides[1:], w.pads[1:]
    _emit_means(node, w.in_dims[1:], w.out_dims[1:], windows, order_of(node, w))


@lowers("WideGlobalAveragePool", domain=OWN, infer=_infer("GlobalAveragePool"))
def lower_global_pool(node):
    plane = [1, math.prod(node.inputs[0].shape[2:])]
    _emit_means(node, plane, [1, 1], (plane, [1, 1], [0, 0]), PLANES)


def _emit_means(node, dims, out_dims, windows, order):
    x, out = node.inputs[0], node.outputs[0]
    of_x = [node.reshaped(x, (*x.shape[:2], *dims)), *node.inputs[1:3]]
    of_y = [node.reshaped(out, (*out.shape[:2], *out_dims)), *node.inputs[3:5]]
    if emit_wide_means(node, of_x, of_y, windows, order):
        return
    if any_open((*x.shape[:2], *dims)):  # products need weights for each plane
        _emit_float_means(node)
    else:
        _emit_products(node, dims, out_dims, *windows)


def _emit_float_means(node):
    x, y = dequantized(node, 0), node.temp(FLOAT, node.outputs[0].shape)
    if node.op == "WideAveragePool":
        lower_with(node, pool.lower_average_pool, [y], [x])
    else:
        emit_reduce(node, *MEAN, x, y, range(2, len(x.shape)))
    quantize(node, y, 3)


def _emit_products(node, dims, out_dims, kernel, strides, pads):
    """Emit means as a convolution of each plane with equal weights.

    Args:
        node: the node to lower.
        dims: (rows, columns) of a plane of x.
        out_dims: (rows, columns) of a plane of the output.
        kernel: size of a window.
        strides: strides of the windows.
        pads: padding.
    """
    x, out = node.inputs[0], node.outputs[0]
    x_scale, x_zero, y_scale, y_zero = _numbers(node, 1, 2, 3, 4)
    planes, (h, width), n = math.prod(x.shape[:2]), dims, math.prod(kernel)
    positions = math.prod(out_dims)
    geometry = Geometry(
        [1, planes, 1, h, width, 1, *kernel, *out_dims],
        [0, h * width, 0, width, 1],
        [0, positions, 0, 1],
        strides,
        pads=pads,
    )
    rows, no_bias = np.ones((planes, n), np.int8), np.zeros(planes, np.int64)
    scales = np.full(planes, np.float32(x_scale) / np.float32(y_scale) / np.float32(n))
    emit_wide(node, x, rows, geometry, x_zero, scales, out, y_zero, no_bias)


@lowers("WideAdd", "WideSub", domain=OWN, infer=like(0, dtype_of=-1))
def lower_add(node):
    a, b, out = node.inputs[0], node.inputs[3], node.outputs[0]
    a_scale, a_zero, b_scale, b_zero, y_scale, y_zero = _numbers(node, 1, 2, 4, 5, 6, 7)
    ratios = np.array([a_scale, b_scale], np.float64) / y_scale
    point = min(_SUM_POINT, _SUM_POINT - math.ceil(math.log2(ratios.sum())) + 1)
    if not 0 < point:
        raise Problem("scales that are far apart")
    factors = np.rint(np.ldexp(ratios, point + _FACTOR)).astype(int).tolist()
    if node.op == "WideSub":
        factors[1] = -factors[1]
    flip = 32768 if out.dtype == INT16 else 0
    low, high = range_of(out.dtype)
    params = {"point": point, "za": a_zero + flip, "zb": b_zero + flip, "factors": factors}
    params |= {"zy": y_zero, "low": low, "high": high}
    node.emit("wide_add", [a, b], [out], over=element_leads(out, [a, b]), **params)


@lowers("WideMul", domain=OWN, infer=like(0, dtype_of=-1))
def lower_mul(node):
    a, b, out = node.inputs[0], node.inputs[3], node.outputs[0]
    a_scale, b_scale, y_scale, y_zero = _numbers(node, 1, 4, 6, 7)
    word, half = wide_multiplier(a_scale * b_scale / y_scale)
    low, high = range_of(out.dtype)
    params = {"shift": word & 63, "half": half, "mantissa": [word >> 20, word >> 8 & 4095]}
    params |= {"zy": y_zero, "low": low, "high": high}
    node.emit("wide_mul", [a, b], [out], over=element_leads(out, [a, b]), **params)


@lowers("WideMaxPoolInt16", "WideMaxPoolUint16", domain=OWN, infer=_infer("MaxPool"))
def lower_max_pool(node):
    x, out = node.inputs[0], node.outputs[0]
    w = windows_of(node, node.attr("kernel_shape"), out.shape)
    require_nonempty(w)
    node.emit("wide_max_pool", [x], [out], planes=math.prod(x.shape[:2]), **w.named_2d)


def emit_wide(node, x, rows, geometry: Geometry, x_zero, scales, out, y_zero, bias, limits=None):
    """Emit out = (sums of x * rows + bias) * scales + y_zero.

    Args:
        node: the node to lower.
        x: 16-bit integers.
        rows: int8 (channels, K).
        geometry: sizes and strides.
        x_zero: zero point of x.
        scales: float32, one for each channel.
        out: the output, 16-bit integers.
        y_zero: zero point of the output.
        bias: integers, one for each channel.
        limits: (low, high) of the output; None for the limits of its dtype.
    """
    x_unsigned = x_zero + (32768 if x.dtype == INT16 else 0)
    k = rows.shape[1]
    if k > _MAX_K:
        raise Problem(f"{k} products a sum", f"up to {_MAX_K} are supported")
    words, halves = zip(*(wide_multiplier(float(s)) for s in scales), strict=True)
    wide = rows.astype(np.int64)
    constants = bias - x_unsigned * wide.sum(1) + np.array(halves, np.int64)
    if np.abs(constants).max() + 65535 * np.abs(wide).sum(1).max() >= _MAX_SUM:
        raise Problem("sums beyond 46 bits")
    low, high = limits or range_of(out.dtype)
    data = np.concatenate([_table(constants, words), (wide + 128).astype(np.uint8).reshape(-1)])
    positions = geometry.counts[8] * geometry.counts[9]
    piece = max(_PATCH_NBYTES // (2 * (2 + k)), 1)
    if not is_open(positions):
        piece = math.ceil(positions / math.ceil(positions / piece)) if positions else 1
    params = {**geometry.named, "piece": piece, "zx": x_unsigned}
    params |= {"zy": y_zero, "low": low, "high": high}
    scratch = [node.temp(UINT16, (piece * (2 + k),))]
    inputs = [x, node.constant(data)]
    node.emit("wide_conv", inputs, [out], scratch=scratch, macs=geometry.macs, **params)


def wide_multiplier(scale: float) -> tuple[int, int]:
    """Return the word of a scale, and a half to add to sums (see mpconnxr/loops/wide_dots.py)."""
    if not (math.isfinite(scale) and scale > 0):
        raise Problem(f"a scale of {scale}")
    fraction, exponent = math.frexp(min(scale, _MAX_SCALE))
    left = exponent + _POINT
    mantissa = int(fraction * (1 << _BITS))
    if left < -_MAX_RIGHT:
        return 63, 0  # every sum becomes 0
    return (mantissa << 8 | left, 0) if left >= 0 else (mantissa << 8 | 32 - left, 1 << -left - 1)


def _table(constants, words):
    """Return 12 bytes for each channel."""
    parts = [constants >> 15, constants & 32767, np.array(words, np.int64)]
    return (np.stack(parts, 1) & 0xFFFFFFFF).astype("<u4").reshape(-1).view(np.uint8)


def geometry_of_rows(n: int, k: int, m: int) -> Geometry:
    """Return the geometry of n rows of k elements times m channels, all in C order."""
    return Geometry([1, 1, k, 1, n, m, 1, 1, 1, n], [0, 0, 1, 0, k], [0, 0, 1, m])
