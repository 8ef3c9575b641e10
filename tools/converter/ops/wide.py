"""Operators of this project on 16-bit integers (rewrites/qdq/wide.py) -> wide_ kernels."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open
from ..steps.overlap import item_by_item
from . import OWN, lowers, pool
from ._dtypes import FLOAT, INT16
from ._microsoft import as_onnx, lower_with
from ._qmeans import PLANES, emit_wide_means, order_of
from ._qweights import Geometry, scalar
from ._requantize import range_of
from ._wide import emit_wide, of_rows, wide_multiplier
from ._windows import require_items, windows_of
from .conv_integer import geometry_of
from .ms_qlinear import dequantized, quantize
from .reduce import MEAN, emit_reduce

_POINT, _FACTOR = 13, 15  # bits behind the point of a sum of two, and of a factor besides


def _infer(op: str, weights: int | None = None) -> Callable:
    """The rule of a node that is ONNX's `op` between DQ and Q."""

    def infer(node):
        inputs = [node.inputs[0]] + ([] if weights is None else [node.inputs[weights]])
        stand_ins = [Tensor(t.name, FLOAT, t.shape) for t in inputs]
        [(_, shape)] = as_onnx(node, op, stand_ins)
        return [(node.inputs[-1].dtype if len(node.inputs) > 1 else node.inputs[0].dtype, shape)]

    return infer


def _infer_elementwise(node):
    return [(node.inputs[-1].dtype, node.inputs[0].shape)]


def _numbers(node, *which: int) -> list:
    """Contents of inputs of one item. Raises Problem."""
    found = [scalar(node.inputs[i]) for i in which]
    if any(v is None for v in found):
        raise Problem("scales and zero points that are not constant")
    return found


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
    _emit_product(node, of_rows(x.shape[0], x.shape[1], w.shape[0]))


@lowers("WideClip", domain=OWN, infer=_infer_elementwise)
def lower_clip(node):
    """Limits are rounded as all else: rounding keeps the order of numbers."""
    x, out = node.inputs[0], node.outputs[0]
    x_scale, x_zero, *ends, y_scale, y_zero = _numbers(node, *range(1, 7))
    low, high = range_of(out.dtype)
    with np.errstate(over="ignore"):
        levels = [np.rint(np.float32(v) / np.float32(y_scale)) + y_zero for v in ends]
    limits = [int(np.clip(v, low, high)) for v in levels]
    scales = np.float32(x_scale) / np.float32(y_scale)
    one, no_bias = np.ones((1, 1), np.int8), np.zeros(1, np.int64)
    geometry = of_rows(x.nelem, 1, 1)
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
    if any_open((*x.shape[:2], *dims)):  # it has weights for each plane
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
    """A convolution of each plane with equal weights."""
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


@lowers("WideAdd", "WideSub", domain=OWN, infer=_infer_elementwise)
def lower_add(node):
    a, b, out = node.inputs[0], node.inputs[3], node.outputs[0]
    a_scale, a_zero, b_scale, b_zero, y_scale, y_zero = _numbers(node, 1, 2, 4, 5, 6, 7)
    ratios = np.array([a_scale, b_scale], np.float64) / y_scale
    point = min(_POINT, _POINT - math.ceil(math.log2(ratios.sum())) + 1)
    if not 0 < point:
        raise Problem("scales that are far apart")
    factors = np.rint(np.ldexp(ratios, point + _FACTOR)).astype(int).tolist()
    if node.op == "WideSub":
        factors[1] = -factors[1]
    flip = 32768 if out.dtype == INT16 else 0
    low, high = range_of(out.dtype)
    params = {"point": point, "za": a_zero + flip, "zb": b_zero + flip, "factors": factors}
    params |= {"zy": y_zero, "low": low, "high": high}
    node.emit("wide_add", [a, b], [out], over=item_by_item(out, [a, b]), **params)


@lowers("WideMul", domain=OWN, infer=_infer_elementwise)
def lower_mul(node):
    a, b, out = node.inputs[0], node.inputs[3], node.outputs[0]
    a_scale, b_scale, y_scale, y_zero = _numbers(node, 1, 4, 6, 7)
    word, half = wide_multiplier(a_scale * b_scale / y_scale)
    low, high = range_of(out.dtype)
    params = {"shift": word & 63, "half": half, "mantissa": [word >> 20, word >> 8 & 4095]}
    params |= {"zy": y_zero, "low": low, "high": high}
    node.emit("wide_mul", [a, b], [out], over=item_by_item(out, [a, b]), **params)


@lowers("WideMaxPoolInt16", "WideMaxPoolUint16", domain=OWN, infer=_infer("MaxPool"))
def lower_max_pool(node):
    x, out = node.inputs[0], node.outputs[0]
    w = windows_of(node, node.attr("kernel_shape"), out.shape)
    require_items(w)
    node.emit("wide_max_pool", [x], [out], planes=math.prod(x.shape[:2]), **w.named_2d)
