"""Lower Resize and Upsample to kernels resample, move and gather, and QLinearResize to qblend."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..shapes.extent import is_open
from ..shapes.window_rules import scaled_dims
from ..steps.overlap import element_leads
from . import OWN, lowers
from ._axes import lines_of
from ._dtypes import DOUBLE, FLOAT, INT8, UINT8
from ._integer import as_dtype
from ._microsoft import as_onnx
from ._move import emit_fill
from ._qblend import Taps, emit_blend
from ._resize import Axis, axes_of, coordinates, nearest, weights
from ._select import Whole, alias_or_select
from .ms_qlinear import as_float_input, dequantized, lower_by_floats, scale_and_zero


@lowers("Resize", "Upsample", fixes_shape=(1, 2, 3))
def lower_resize(node):
    """Lower Resize of all opsets and modes, with at most one step for each axis."""
    x, out = node.inputs[0], node.outputs[0]
    if x.nelem == 0 and out.nelem:
        raise Problem("an input without elements")
    axes = axes_of(node)
    for axis in axes:
        if is_open(axis.n_in) and axis.n_out != axis.n_in:
            raise Problem("a run-time extent along a resized axis")
    mode = node.attr("mode", "nearest")
    if mode == "linear" and x.dtype in (UINT8, INT8):
        _by_floats(node, x, out, axes)
        return
    if mode != "nearest":
        node.require_dtype(FLOAT, DOUBLE)
    _emit(node, x, out, axes)


def _by_floats(node, x, out, axes):
    """Emit a Resize of bytes as one of floats, whose results are truncated as in onnxruntime.

    Args:
        node: the node to lower.
        x: input, bytes.
        out: output, bytes.
        axes: axes that are resized.
    """
    if node.attr("antialias", 0):
        raise Problem("antialias for bytes")
    real = node.temp(FLOAT, out.shape)
    _emit(node, as_dtype(node, x, FLOAT), real, axes)
    node.emit("cast", [real], [out], over=element_leads(out, [real]))


def _emit(node, x, out, axes):
    inside = [_inside(node, axis) for axis in axes]
    if not all(mask.all() for mask in inside):
        value = np.array(node.attr("extrapolation_value", 0.0), x.np_dtype)
        emit_fill(node, node.constant(value), out)
    if node.attr("mode", "nearest") == "nearest":
        maps = [np.where(mask, nearest(node, a), -1) for a, mask in zip(axes, inside, strict=True)]
        alias_or_select(node, x, out, _whole_where_open(axes, maps))
    else:
        tables = [weights(node, a)[mask] for a, mask in zip(axes, inside, strict=True)]
        maps = [np.where(mask, np.cumsum(mask) - 1, -1) for mask in inside]
        _interpolate(node, x, out, tables, _whole_where_open(axes, maps))


def _whole_where_open(axes, maps):
    return [Whole() if is_open(a.n_in) else m for a, m in zip(axes, maps, strict=True)]


def _inside(node, axis):
    """Return a mask of the outputs that come from the input rather than extrapolation_value."""
    if node.attr("coordinate_transformation_mode") != "tf_crop_and_resize":
        return np.ones(axis.n_out, bool)
    coordinate = coordinates(node, axis)
    return (coordinate >= 0) & (coordinate <= axis.n_in - 1)


def _interpolate(node, x, out, tables, maps):
    """Interpolate axis by axis, axes that shrink first, then insert extrapolated values.

    Args:
        node: the node to lower.
        x: the input.
        out: the output.
        tables: for each axis the weights (outputs, inputs).
        maps: for each axis the index of each output, -1 for an extrapolated one.
    """
    if any(len(table) == 0 for table in tables):
        return
    resized = [a for a, t in enumerate(tables) if not is_open(x.shape[a]) and not _is_identity(t)]
    resized.sort(key=lambda a: tables[a].shape[0] / tables[a].shape[1])
    has_extrapolated = any(not isinstance(m, Whole) and m.min() < 0 for m in maps)
    for a in resized:
        shape = (*x.shape[:a], len(tables[a]), *x.shape[a + 1 :])
        target = out if a == resized[-1] and not has_extrapolated else node.temp(x.dtype, shape)
        _emit_resample(node, x, target, a, tables[a])
        x = target
    if x is not out:
        alias_or_select(node, x, out, maps)


def _is_identity(table):
    return table.shape[0] == table.shape[1] and np.array_equal(table, np.eye(len(table)))


def _emit_resample(node, x, out, axis, table):
    """Emit resample, which computes each output from a band of adjacent inputs.

    Args:
        node: the node to lower.
        x: input.
        out: output.
        axis: axis that is resized.
        table: weights (outputs, inputs) along the axis. All bands are as long as the longest.
    """
    n_out, n_in = table.shape
    used = table != 0
    first, last = used.argmax(axis=1), n_in - 1 - used[:, ::-1].argmax(axis=1)
    taps = int((last - first).max()) + 1 if used.any(axis=1).all() else n_in
    first = np.minimum(first, n_in - taps)
    band = np.take_along_axis(table, first[:, None] + np.arange(taps), axis=1)
    outer, _, inner = lines_of(x.shape, axis)
    weight = node.constant(band.astype(x.np_dtype))
    params = {"outer": outer, "n_in": n_in, "inner": inner, "n_out": n_out}
    params |= {"taps": taps, "firsts": first}
    node.emit("resample", [x, weight], [out], macs=out.nelem * taps, **params)


_OPSET = 13  # of a Resize with these inputs; later versions have more attributes


def _infer(node):
    roi, scales, sizes = [*node.inputs[5:], None, None, None][:3]
    if sizes is not None and sizes.data is not None:
        return [(node.inputs[4].dtype, sizes.data.tolist())]
    if scales is not None and scales.shape == (0,):  # beside sizes, as opset 11 requires
        scales = None
    dims = node.inputs[0].shape
    if scales is not None and scales.data is not None:
        return [(node.inputs[4].dtype, scaled_dims(dims, scales.data.tolist()))]
    inputs = [as_float_input(node.inputs[0]), roi, scales, sizes]
    [(_, shape)] = as_onnx(node, "Resize", inputs, _OPSET)
    return [(node.inputs[4].dtype, shape)]


@lowers("QLinearResize", domain=OWN, infer=_infer)
def lower_qlinear_resize(node):
    """Lower QLinearResize, linear in the last two of four dimensions.

    Floats serve it if scales are extreme.
    """
    x, out = node.inputs[0], node.outputs[0]
    own, node.opset = node.inputs, _OPSET
    node.inputs = [x, *own[5:]]
    taps = [_taps(node, axis) for axis in axes_of(node)[2:]]
    node.inputs = own
    if emit_blend(
        node, [x, *scale_and_zero(node, 1)], [out, *scale_and_zero(node, 3)], x.shape[2:], *taps
    ):
        return
    lower_by_floats(node, lower_resize, [dequantized(node, 0), *own[5:]], 3)


def _taps(node, axis: Axis) -> Taps:
    """Return the two elements and weights of each output along an axis, as in onnxruntime.

    At the last element both are that element, with weights of a half.
    """
    last = np.float32(axis.n_in - 1)
    coordinate = np.clip(coordinates(node, axis), 0, last)
    first = coordinate.astype(np.int64)
    second = np.minimum(first + 1, axis.n_in - 1)
    of_first, of_second = np.abs(coordinate - second), np.abs(coordinate - first)
    is_last = first == second
    of_first[is_last] = of_second[is_last] = 0.5
    return Taps(first, second, of_first, of_second)
