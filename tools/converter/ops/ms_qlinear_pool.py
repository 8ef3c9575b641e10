"""Lower QLinearAveragePool and QLinearGlobalAveragePool to kernels qaverage_pool and qmeans.

mpconnxr's operators, which rewrites of quantized models make, stand for a pool between
DequantizeLinear and QuantizeLinear: a mean halfway between two integers is rounded to even. In
com.microsoft's operators its sum with the zero point is rounded to even. If many means lie
halfway, kernel qmeans computes them. If a scale or zero point is unknown, floats do.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes import extent
from . import MS, OWN, lowers
from ._dtypes import FLOAT
from ._microsoft import as_onnx
from ._qmeans import PLANES, ROWS, are_often_halfway, emit_float_means, emit_means, order_of
from ._qweights import scalar
from ._windows import Windows, windows_of
from .ms_qlinear import as_float_input, dequantized, lower_by_floats, quantize, scale_and_zero
from .pool import lower_average_pool
from .reduce import emit_reduce

_MEAN = 1  # operation of kernel reduce


def _infer_pool(op: str) -> Callable:
    def infer(node):
        x, is_last = as_float_input(node.inputs[0]), node.attr("channels_last", 0)
        if is_last:  # the function body puts them first
            x = Tensor(x.name, x.dtype, (x.shape[0], x.shape[-1], *x.shape[1:-1]))
        [(_, shape)] = as_onnx(node, op, [x], 22)
        if is_last:
            shape = (shape[0], *shape[2:], shape[1])
        return [(node.inputs[0].dtype, shape)]

    return infer


def _require_channels_first(node):
    if node.attr("channels_last", 0):
        raise Problem("channels_last", "export the model with opset 13 or newer")


@lowers("QLinearAveragePool", domain=MS, infer=_infer_pool("AveragePool"))
def lower_pool(node):
    """Lower com.microsoft's operator. onnxruntime adds row after row."""
    _require_channels_first(node)
    scale, zero = (scalar(t) for t in scale_and_zero(node, 3))
    level = None
    if scale is not None and zero is not None:
        level = _level_with_zero(np.float32(scale), np.float32(zero))
    if not _means_by_integers(node, lambda w: ROWS, level):
        lower_by_floats(node, lower_average_pool, [dequantized(node, 0)], 3)


def _level_with_zero(scale, zero):
    return lambda x: np.rint(x / scale + zero)


@lowers("QLinearAveragePool", domain=OWN, infer=_infer_pool("AveragePool"))
def lower_own_pool(node):
    """Lower mpconnxr's operator, with the order of sums of onnxruntime's AveragePool."""
    if not _means_by_integers(node, lambda w: order_of(node, w)):
        lower_by_floats(node, lower_average_pool, [dequantized(node, 0)], 3)


def _means_by_integers(node, order: Callable, level: Callable | None = None) -> bool:
    """Emit means by integers; return False if no kernel serves the windows."""
    x, out = node.inputs[0], node.outputs[0]
    w = windows_of(node, node.attr("kernel_shape"), out.shape)
    counted = bool(node.attr("count_include_pad", 0))
    reaches_beyond = counted and node.attr("ceil_mode", 0)
    planar = _planar(w)
    padded = any((*w.pads, *w.end_pads)) or node.attr("ceil_mode", 0)
    if extent.any_open(w.in_dims) and padded:
        return False
    if planar is None or w.dilations != [1, 1, 1] or reaches_beyond:
        return False
    dims, out_dims, kernel, strides, pads = planar
    reach = [
        0 if extent.is_open(d) else max((o - 1) * s + k - p - d, 0)
        for d, o, k, s, p in zip(dims, out_dims, kernel, strides, pads, strict=True)
    ]
    pads = [*pads, *reach]
    if any(p >= k for p, k in zip(pads, kernel * 2, strict=True)):
        return False
    n = x.shape[0]
    planes = extent.exact_quotient(math.prod(x.shape), max(n * math.prod(dims), 1))
    of_x = [node.reshaped(x, (n, planes, *dims)), *scale_and_zero(node, 1)]
    of_y = [node.reshaped(out, (n, planes, *out_dims)), *scale_and_zero(node, 3)]
    shape = (kernel, strides, pads, counted)
    whole = math.prod(w.kernel)
    counts = [whole] if counted or not any(pads) else range(1, whole + 1)
    if not are_often_halfway(of_x[1], of_y[1], counts):
        return emit_means(node, of_x, of_y, *shape)
    return emit_float_means(node, of_x, of_y, shape, order(w), level)


def _planar(w: Windows) -> tuple[list[int], ...] | None:
    """Reduce windows to two dimensions.

    A dimension whose windows have one element and no stride is merged with the planes, or with the
    last dimension.

    Returns:
        Sizes, output's sizes, kernel, strides and pads; None if three dimensions are needed.
    """
    sizes = w.in_dims, w.out_dims, w.kernel, w.strides, w.pads
    of_dims = list(zip(*sizes, strict=True))
    alone = [d == o and (k, s, p) == (1, 1, 0) for d, o, k, s, p in of_dims]
    if alone[0]:
        return tuple(list(v[1:]) for v in sizes)
    if not (alone[1] and alone[2]):
        return None
    dims, out_dims = ([v[0], v[1] * v[2]] for v in sizes[:2])
    return dims, out_dims, *(list(v[:2]) for v in sizes[2:])


@lowers("QLinearGlobalAveragePool", domain=MS, infer=_infer_pool("GlobalAveragePool"))
def lower_global_pool(node):
    """Lower com.microsoft's operator, with each plane as a row that one window covers."""
    _require_channels_first(node)
    if not emit_means(node, *_rows(node)):
        _global_by_floats(node)


@lowers("QLinearGlobalAveragePool", domain=OWN, infer=_infer_pool("GlobalAveragePool"))
def lower_own_global_pool(node):
    """Lower mpconnxr's operator. onnxruntime adds a plane in four sums."""
    of_x, of_y, row, *steps = _rows(node)
    emitted = False
    if 0 not in node.outputs[0].shape and are_often_halfway(of_x[1], of_y[1], [row[1]]):
        emitted = emit_float_means(node, of_x, of_y, (row, *steps, False), PLANES)
    if not emitted and not emit_means(node, of_x, of_y, row, *steps):
        _global_by_floats(node)


def _rows(node):
    """Return x, y, kernel, strides and pads of one window over each plane, seen as a row."""
    x, out = node.inputs[0], node.outputs[0]
    row = node.reshaped(x, (*x.shape[:2], 1, math.prod(x.shape[2:])))
    y = node.reshaped(out, (*out.shape[:2], 1, 1))
    return (
        [row, *scale_and_zero(node, 1)],
        [y, *scale_and_zero(node, 3)],
        row.shape[2:],
        [1, 1],
        [0] * 4,
    )


def _global_by_floats(node):
    x, y = dequantized(node, 0), node.temp(FLOAT, node.outputs[0].shape)
    emit_reduce(node, _MEAN, 0, x, y, range(2, len(x.shape)))
    quantize(node, y, 3)
