"""What Resize and Upsample ask for, axis by axis: scales, coordinates, weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import Problem
from ..shapes.extent import is_open


@dataclass
class Axis:
    """scale: as ONNX computes with it, which need not be n_out / n_in; roi: start, end."""

    n_in: int
    n_out: int
    scale: float
    roi: tuple[float, float] = (0.0, 1.0)


def axes_of(node) -> list[Axis]:
    """One entry an axis of the input, from attributes (Upsample 7) or inputs."""
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
        wanted = [size / x.shape[a] for a, size in zip(chosen, sizes, strict=True)]
        pick = min if node.attr("keep_aspect_ratio_policy") == "not_larger" else max
        for a in chosen:
            axes[a].scale = pick(wanted)
    if node.attr("coordinate_transformation_mode") == "tf_crop_and_resize":
        roi = node.const(1, "roi").astype(np.float64).reshape(2, -1)
        for a, start, end in zip(chosen, *roi, strict=True):
            axes[a].roi = (start, end)
    return axes


def _check(node, axis, scale):
    """onnxruntime multiplies in float32, which may be a whole number where the product is less."""
    if is_open(axis.n_in) or is_open(axis.n_out):
        return
    made = int(np.float32(axis.n_in) * np.float32(scale))
    if made != axis.n_out and node.attr("coordinate_transformation_mode") != "tf_crop_and_resize":
        raise Problem(
            f"scale {scale:g} makes {axis.n_out} of {axis.n_in} by ONNX's rules, "
            f"but {made} in onnxruntime",
            "export it with sizes instead of scales",
        )


def _scales(node):
    if node.op == "Upsample" and node.opset < 9:
        return node.attr("scales")
    i = 1 if node.op == "Upsample" or node.opset < 11 else 2
    return node.const(i, "scales").reshape(-1) if node.input(i) is not None else []


def coordinates(node, axis: Axis) -> np.ndarray:
    """Where each output lies in the input. Before opset 11: asymmetric."""
    mode = node.attr("coordinate_transformation_mode", "half_pixel")
    if node.op == "Upsample" or node.opset < 11:
        mode = "asymmetric"
    y, n_in, scale = np.arange(axis.n_out), axis.n_in, axis.scale
    exact = scale * n_in  # the output's extent before it was cut to a whole number
    if mode == "asymmetric":
        return y / scale
    if mode == "align_corners":
        return y * ((n_in - 1) / (exact - 1)) if exact != 1 else y * 0.0
    if mode == "tf_crop_and_resize":
        start, end = axis.roi
        if exact == 1:
            return y * 0.0 + (start + end) * (n_in - 1) / 2
        return start * (n_in - 1) + y * ((end - start) * (n_in - 1) / (exact - 1))
    centred = (y + 0.5) / scale - 0.5
    if mode == "half_pixel":
        return centred
    if mode == "pytorch_half_pixel":
        return centred if axis.n_out > 1 else y * 0.0
    if mode == "half_pixel_symmetric":
        return centred + n_in / 2 * (1 - axis.n_out / exact)
    if mode == "tf_half_pixel_for_nn":  # opset 11 only
        return (y + 0.5) / scale
    raise Problem(f"coordinate_transformation_mode {mode}")


def nearest(node, axis: Axis) -> np.ndarray:
    """Index of the input for each output."""
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
    """(n_out, n_in): what each output takes of each input, by linear or cubic interpolation."""
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
    """Keys' kernel; a = -0.75 by default."""
    d = np.abs(distance)
    inner = ((a + 2) * d - (a + 3)) * d * d + 1
    outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, inner, np.where(d < 2, outer, 0))
