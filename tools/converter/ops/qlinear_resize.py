"""mpconnxr:QLinearResize, which rewrites of quantized models make -> kernel qblend."""

from __future__ import annotations

import numpy as np

from . import lowers
from ._microsoft import FLOAT, as_onnx, with_outputs
from ._qblend import Taps, emit_blend
from ._resize import Axis, axes_of
from .ms_qlinear import dequantized, quantize, rest, stand_in
from .resize import lower_resize

OWN = "mpconnxr"
_OPSET = 13  # of a Resize with these inputs; later ones have more attributes


def _infer(node):
    inputs = [stand_in(node.inputs[0]), *node.inputs[5:]]
    [(_, shape)] = as_onnx(node, "Resize", inputs, _OPSET)
    return [(node.inputs[4].dtype, shape)]


@lowers("QLinearResize", domain=OWN, infer=_infer)
def lower_qlinear_resize(node):
    """Linear, of the last two dims of four. By floats where scales are extreme."""
    x, out = node.inputs[0], node.outputs[0]
    own, node.opset = node.inputs, _OPSET
    node.inputs = [x, *own[5:]]
    taps = [_taps(node, axis) for axis in axes_of(node)[2:]]
    node.inputs = own
    if emit_blend(node, [x, *rest(node, 1)], [out, *rest(node, 3)], x.shape[2:], *taps):
        return
    y = node.temp(FLOAT, out.shape)
    node.inputs = [dequantized(node, 0), *own[5:]]
    with_outputs(node, [y], lower_resize)
    node.inputs = own
    quantize(node, y, 3)


def _taps(node, axis: Axis) -> Taps:
    """As onnxruntime has them: at the last item both are that item, by halves."""
    last = np.float32(axis.n_in - 1)
    at = np.clip(_coordinates(node, axis, last), 0, last)
    first = at.astype(np.int64)
    second = np.minimum(first + 1, axis.n_in - 1)
    of_first, of_second = np.abs(at - second), np.abs(at - first)
    is_last = first == second
    of_first[is_last] = of_second[is_last] = 0.5
    return Taps(first, second, of_first, of_second)


def _coordinates(node, axis, last):
    """Where outputs lie in x, computed in float32."""
    y, scale = np.arange(axis.n_out, dtype=np.float32), np.float32(axis.scale)
    mode = node.attr("coordinate_transformation_mode", "half_pixel")
    if scale == 1 or mode == "asymmetric":
        return y / scale
    if mode == "align_corners":
        return y * last / np.float32(max(axis.n_out - 1, 1))
    if mode == "pytorch_half_pixel" and axis.n_out == 1:
        return y
    return (y + np.float32(0.5)) / scale - np.float32(0.5)
