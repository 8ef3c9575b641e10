"""Scales, coordinates and weights of Resize and Upsample, axis by axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import Problem
from ..shapes.extent import is_open

_HALF = np.float32(0.5)


@dataclass
class Axis:
    """Resizing along one axis.

    Attributes:
        scale: the scale that ONNX computes with, which may differ from n_out / n_in.
        roi: (start, end) of tf_crop_and_resize.
    """

    n_in: int
    n_out: int
    scale: float
    roi: tuple[float, float] = (0.0, 1.0)


def axes_of(node) -> list[Axis]:
    """Return one Axis for each axis of the input, from attributes (Upsample 7) or inputs."""
    x, out = node.inputs[0], node.outputs[0]
    rank = len(x.shape)
    axes = [Axis(i, o, o / max(i, 1)) for i, o in zip(x.shape, out.shape, strict=True)]
    chosen = [a % rank for a in node.attr("axes", range(rank))]
    scales = _scales(node)
    if len(scales):
        for a, scale in zip(chosen, scales, strict=True):
            axes[a].scale = float(scale)
            _check(node, axes[a], scale)
    elif node.attr("keep_aspect_ratio_policy", "stretch") != "stretch":
        sizes = node.const(3, "sizes").tolist()
        requested = [size / x.shape[a] for a, size in zip(chosen, sizes, strict=True)]
        pick = min if node.attr("keep_aspect_ratio_policy") == "not_larger" else max
        for a in chosen:
            axes[a].scale = pick(requested)
    _keep_unchanged(node, axes)
    if node.attr("coordinate_transformation_mode") == "tf_crop_and_resize":
        for a, start, end in zip(chosen, *node.const(1, "roi").reshape(2, -1), strict=True):
            axes[a].roi = (start, end)
            _check_crop(axes[a])
    return axes


def _keep_unchanged(node, axes):
    """Set scale 1 on axes that onnxruntime leaves unchanged in spite of their scale."""
    kept = [axis for axis in axes if axis.n_in == axis.n_out]
    if len(kept) == len(axes) or node.attr("antialias", 0):
        for axis in kept:
            axis.scale = 1.0


def _check_crop(axis):
    if axis.scale == 1 and tuple(axis.roi) != (0, 1):
        raise Problem(
            "a roi along an axis of scale 1: ONNX crops there, onnxruntime does not",
            "crop with Slice before the Resize",
        )


def _check(node, axis, scale):
    """Raise Problem if onnxruntime's length differs from ONNX's.

    It multiplies in float32, which may give a whole number where the exact product is less.
    """
    if is_open(axis.n_in) or is_open(axis.n_out):
        return
    resized = int(np.float32(axis.n_in) * np.float32(scale))
    if (
        resized != axis.n_out
        and node.attr("coordinate_transformation_mode") != "tf_crop_and_resize"
    ):
        raise Problem(
            f"scale {scale:g} makes {axis.n_out} of {axis.n_in} by ONNX's rules, "
            f"but {resized} in onnxruntime",
            "export it with sizes instead of scales",
        )


def _scales(node):
    if node.op == "Upsample" and node.opset < 9:
        return node.attr("scales")
    i = 1 if node.op == "Upsample" or node.opset < 11 else 2
    return node.const(i, "scales").reshape(-1) if node.input(i) is not None else []


def coordinates(node, axis: Axis) -> np.ndarray:
    """Return the float32 coordinate in the input of each output, computed in onnxruntime's order.

    An axis of scale 1 stays as it is. ONNX's length_resized is the whole length of the output,
    although ONNX's reference evaluator takes scale * length_original. Before opset 11: asymmetric.
    """
    mode = node.attr("coordinate_transformation_mode", "half_pixel")
    if node.op == "Upsample" or node.opset < 11:
        mode = "asymmetric"
    y, scale = np.arange(axis.n_out, dtype=np.float32), np.float32(axis.scale)
    if scale == 1:  # only a run may know its length, and roi is the whole axis
        return y
    last, most = np.float32(axis.n_in - 1), np.float32(max(axis.n_out - 1, 1))
    if mode == "asymmetric":
        return y / scale
    if mode == "align_corners":
        return y * last / most
    if mode == "tf_crop_and_resize":
        return _cropped(axis, y, last, most)
    if mode == "pytorch_half_pixel" and axis.n_out == 1:
        return y
    if mode == "tf_half_pixel_for_nn":  # opset 11 only
        return (y + _HALF) / scale
    centred = (y + _HALF) / scale - _HALF
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return centred
    if mode == "half_pixel_symmetric":
        n_in = np.float32(axis.n_in)
        return n_in * _HALF * (1 - np.float32(axis.n_out) / (scale * n_in)) + centred
    raise Problem(f"coordinate_transformation_mode {mode}")


def _cropped(axis, y, last, most):
    start, end = np.float32(axis.roi)
    if axis.n_out == 1:
        return y + _HALF * (start + end) * last
    return start * last + y * (end - start) * last / most


def nearest(node, axis: Axis) -> np.ndarray:
    """Return the index of the input for each output."""
    at = coordinates(node, axis)
    mode = node.attr("nearest_mode", "round_prefer_floor")
    if node.op == "Upsample" or node.opset < 11:
        mode = "floor" if axis.scale >= 1 else "ceil"
    if mode == "round_prefer_floor":
        at = np.ceil(at - 0.5)
    elif mode == "round_prefer_ceil":
        at = np.floor(at + 0.5)
    elif mode in ("floor", "ceil"):
        at = np.floor(at) if mode == "floor" else np.ceil(at)
    else:
        raise Problem(f"nearest_mode {mode}")
    return np.clip(at, 0, axis.n_in - 1).astype(np.int64)


def weights(node, axis: Axis) -> np.ndarray:
    """Return the weight of each input in each output, (n_out, n_in), for linear or cubic modes."""
    kernel, support = _linear, 1
    if node.attr("mode") == "cubic":
        a = node.attr("cubic_coeff_a", -0.75)
        kernel, support = (lambda d: _cubic(d, a)), 2
    antialias = node.attr("antialias", 0)
    squeeze = min(axis.scale, 1.0) if antialias else 1.0
    exclude = node.attr("exclude_outside", 0)
    result = np.zeros((axis.n_out, axis.n_in))
    for row, at in zip(result, coordinates(node, axis), strict=True):
        reach = support / squeeze
        taps = np.arange(np.floor(at - reach), np.ceil(at + reach) + 1)
        share = kernel((taps - at) * squeeze)
        if exclude:
            share[(taps < 0) | (taps >= axis.n_in)] = 0
        if exclude or antialias:
            share /= share.sum() or 1.0
        np.add.at(row, np.clip(taps, 0, axis.n_in - 1).astype(np.int64), share)
    return result


def _linear(distance):
    return np.clip(1 - np.abs(distance), 0, None)


def _cubic(distance, a):
    """Return Keys' kernel, a = -0.75 by default."""
    d = np.abs(distance)
    inner = ((a + 2) * d - (a + 3)) * d * d + 1
    outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, inner, np.where(d < 2, outer, 0))
