"""Lower reductions over axes, global pools, ArgMax, ArgMin, CumSum, CumProd and TopK."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open
from . import lowers
from ._axes import join_axes, lines_of, named_lines
from ._dtypes import BOOL, DOUBLE, FLOAT, INT8, NUMBERS, UINT8
from ._elementwise import binary, emit_any_power, emit_binary, float_bits, unary
from ._extents import emit_measure
from ._means import emit_mean
from ._move import emit_move
from ._windows import Windows

_SUM, _MEAN, _MAX, _PROD, _LOG_SUM_EXP, _NORM = 0, 1, 2, 4, 6, 8
FLOAT_MAX = float(np.finfo(np.float32).max)
# Operation and power of the kernel for each operator.
_OPS = {
    "ReduceSum": (0, 0),
    "ReduceMean": (_MEAN, 0),
    "ReduceMax": (2, 0),
    "ReduceMin": (3, 0),
    "ReduceProd": (_PROD, 0),
    "ReduceLogSum": (5, 0),
    "ReduceLogSumExp": (_LOG_SUM_EXP, 0),
    "ReduceSumSquare": (7, 0),
    "ReduceL1": (_NORM, 1),
    "ReduceL2": (_NORM, 2),
}


MEAN, SUM = _OPS["ReduceMean"], _OPS["ReduceSum"]


@lowers(*_OPS, fixes_shape=(1,))
def lower_reduce(node):
    """Lower reductions. axes is an input for ReduceSum since opset 13, for others since 18."""
    x = node.inputs[0]
    op = _OPS[node.op]
    allowed = (FLOAT, DOUBLE) if node.op in ("ReduceLogSum", "ReduceLogSumExp") else NUMBERS
    if node.op in ("ReduceMax", "ReduceMin"):
        allowed = (*NUMBERS, BOOL)
    node.require_dtype(*allowed)
    axes = node.const(1, "axes").tolist() if node.input(1) is not None else node.attr("axes")
    if not axes:
        axes = [] if node.attr("noop_with_empty_axes", 0) else range(len(x.shape))
    emit_reduce(node, *op, x, node.outputs[0], axes)


def emit_reduce(node, op: int, power: int, x: Tensor, out: Tensor, axes) -> None:
    """Emit out = x reduced over axes.

    Args:
        node: the node to lower.
        op: operation of kernel reduce.
        power: exponent of a norm, else 0.
        x: the input.
        out: the output.
        axes: axes of x.
    """
    x, (outer, n, inner) = join_axes(node, x, axes) if x.shape else (x, (1, 1, 1))
    if op == _MEAN and emit_mean(node, x, out, outer, n, inner):
        return
    lines = outer, n, inner
    is_known = not any_open(lines) and 0 not in lines
    by_steps = x.dtype == FLOAT and node.is_exact and is_known
    if op == _MAX and x.dtype in (INT8, UINT8) and is_known:
        _emit_max_of_bytes(node, x, out, lines)
    elif by_steps and op == _LOG_SUM_EXP:
        _emit_log_sum_exp(node, x, out, lines)
    elif by_steps and op == _PROD:
        _emit_product(node, x, out, lines)
    elif by_steps and op == _NORM and power > 2:
        _emit_norm(node, x, out, lines, power)
    else:
        node.emit("reduce", [x], [out], op=op, power=power, **named_lines(lines))


def _emit_product(node, x, out, lines):
    """Emit the products of lines (outer, n, inner): the last ones of the running products."""
    outer, n, inner = lines
    products = node.temp(FLOAT, x.shape)
    node.emit("cumulate", [x], [products], product=1, exclusive=0, reverse=0, **named_lines(lines))
    strides, first = (n * inner, 1), (n - 1) * inner
    emit_move(node.emit, products, out, (outer, inner), strides, (inner, 1), first)


def _emit_norm(node, x, out, lines, power):
    """Emit (sum of |x| ** power) ** (1 / power) along n of lines (outer, n, inner)."""
    powers, total = node.temp(FLOAT, x.shape), node.temp(FLOAT, out.shape)
    emit_any_power(node, unary(node, "abs", x), power, powers)
    node.emit("reduce", [powers], [total], op=_SUM, power=0, **named_lines(lines))
    emit_any_power(node, total, 1 / power, out)


def _emit_max_of_bytes(node, x, out, lines):
    """Emit max_pool, which has a loop for bytes, with lines (outer, n, inner) as windows."""
    outer, n, inner = lines
    ones, zeros = [1, 1, 1], [0, 0, 0]
    column = Windows([1, n, inner], [1, n, 1], [1, 1, inner], ones, ones, zeros, zeros)
    node.emit("max_pool", [x], [out], planes=outer, **column.named, index_strides=zeros)


def _emit_log_sum_exp(node, x, out, lines):
    """Emit m + log(sum of exp(x - m)) along n of lines, with a line's maximum m.

    All steps run without boxed floats. An infinite m is clipped to the largest float: its
    difference from itself would be NaN.
    """
    outer, _, inner = lines
    x, y = node.reshaped(x, lines), node.reshaped(out, (outer, 1, inner))
    largest, most, total = (node.temp(FLOAT, y.shape) for _ in range(3))
    node.emit("reduce", [x], [largest], op=_MAX, power=0, **named_lines(lines))
    limits = [float_bits(-FLOAT_MAX), float_bits(FLOAT_MAX)]
    node.emit("clip", [largest], [most], limits=limits)
    powers = unary(node, "exp", binary(node, "sub", x, most))
    node.emit("reduce", [powers], [total], op=_SUM, power=0, **named_lines(lines))
    emit_binary(node, "add", most, unary(node, "log", total), y)


@lowers("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def lower_global_pool(node):
    node.require_dtype(FLOAT, DOUBLE)
    x = node.inputs[0]
    ops = {"GlobalAveragePool": (_MEAN, 0), "GlobalMaxPool": (2, 0)}
    op = ops.get(node.op) or (_NORM, node.attr("p", 2))
    emit_reduce(node, *op, x, node.outputs[0], range(2, len(x.shape)))


@lowers("ArgMax", "ArgMin")
def lower_arg_reduce(node):
    node.require_dtype(*NUMBERS)
    x = node.inputs[0]
    lines = named_lines(lines_of(x.shape, node.attr("axis", 0)))
    if lines["n"] == 0:
        raise Problem("an axis without elements")
    flags = {"smallest": int(node.op == "ArgMin"), "last": node.attr("select_last_index", 0)}
    node.emit("arg_reduce", [x], node.outputs, **flags, **lines)


@lowers("CumSum", "CumProd", fixes_shape=(1,))
def lower_cumulate(node):
    node.require_dtype(*NUMBERS)
    x = node.inputs[0]
    lines = lines_of(x.shape, int(node.const(1, "axis").reshape(-1)[0]))
    params = {"product": node.op == "CumProd", "exclusive": node.attr("exclusive", 0)}
    params |= named_lines(lines)
    reverse = node.attr("reverse", 0)
    out = node.outputs[0]
    if not reverse or x.dtype != FLOAT or any_open(lines):
        node.emit("cumulate", [x], [out], reverse=reverse, **params)
        return
    reversed_x, sums = node.temp(FLOAT, x.shape), node.temp(FLOAT, x.shape)
    _reverse(node, x, reversed_x, lines)
    node.emit("cumulate", [reversed_x], [sums], reverse=0, **params)
    _reverse(node, sums, out, lines)


def _reverse(node, x, out, lines):
    """Emit out = x, reversed along n of lines (outer, n, inner)."""
    _, n, inner = lines
    strides = n * inner, inner, 1
    emit_move(node.emit, x, out, lines, (n * inner, -inner, 1), strides, (n - 1) * inner)


@lowers("TopK", fixes_shape=(1,), at_run_time=(1,))
def lower_top_k(node):
    """Lower TopK, always sorted. k is an attribute before opset 10; opset 11 added largest."""
    node.require_dtype(*NUMBERS)
    x, (values, indices) = node.inputs[0], (*node.outputs, None)[:2]
    axis = node.attr("axis", -1)
    lines = lines_of(x.shape, axis)
    values = values or node.temp(x.dtype, indices.shape)
    indices = indices or node.temp(7, values.shape)
    k = values.shape[axis]
    if node.input(1) is not None:
        emit_measure(node, 1, [k])
    smallest = int(not node.attr("largest", 1))
    node.emit("top_k", [x], [values, indices], smallest=smallest, k=k, **named_lines(lines))
