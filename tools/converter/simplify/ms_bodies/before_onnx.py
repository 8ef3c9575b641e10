"""Expand operators that ONNX had before opset 7, and onnxruntime still has up to opset 9.

They stand in ONNX's own domain in files; see load/ort_domain.py.
"""

from __future__ import annotations

import numpy as np

from ...errors import Problem
from .building import Body, expands


@expands("Affine", inputs="X", oldest=7)
def affine(b: Body):
    """Compute alpha * X + beta."""
    scaled = b.add("Mul", "X", b.const(b.attr("alpha", 1.0)))
    return b.add("Add", scaled, b.const(b.attr("beta", 0.0)))


@expands("Scale", inputs="input", outputs="output", oldest=7)
def scale(b: Body):
    """Compute scale * input."""
    return b.add("Mul", "input", b.const(b.attr("scale", 1.0)))


@expands("ImageScaler", inputs="input", outputs="output", oldest=7)
def image_scaler(b: Body):
    """Compute scale * input + bias, with one bias per channel of (N, C, H, W)."""
    bias = np.array(b.attr("bias"), np.float32).reshape(-1, 1, 1)
    return b.add("Add", b.add("Mul", "input", b.const(b.attr("scale", 1.0))), b.const(bias))


@expands("ParametricSoftplus", "ScaledTanh", inputs="X", oldest=7)
def scaled_function(b: Body):
    """Compute alpha * f(beta * X), with f = tanh or softplus."""
    function = "Tanh" if b.node.op_type == "ScaledTanh" else "Softplus"
    alpha, beta = (b.const(b.attributes[name]) for name in ("alpha", "beta"))
    return b.add("Mul", alpha, b.add(function, b.add("Mul", beta, "X")))


@expands("Crop", inputs="input", outputs="output", oldest=7)
def crop(b: Body):
    """Crop images (N, C, H, W).

    Attribute border has the widths to remove: left, top, right, bottom. With attribute scale, the
    result has this height and width, from the left and top borders on.
    """
    left, top, right, bottom = b.attr("border")
    height, width = b.shape("input")[2:]
    ends = [height - bottom, width - right]
    if b.attr("scale"):
        ends = [n + d for n, d in zip((top, left), b.attr("scale"), strict=True)]
    if not (0 <= top < ends[0] <= height and 0 <= left < ends[1] <= width):
        raise Problem(f"nothing remains of {height} x {width}, or it is larger than that")
    return _slice(b, "input", [top, left], ends, [2, 3])


@expands(
    "DynamicSlice",
    inputs="data starts ends axes",
    outputs="output",
    fixes="starts ends axes",
    oldest=7,
)
def dynamic_slice(b: Body):
    """Expand to the Slice of opset 10, without steps."""
    bounds = [b.known(name) for name in ("starts", "ends")]
    axes = (
        b.known("axes") if b.has("axes") else np.arange(bounds[0] is not None and bounds[0].size)
    )
    if any(v is None for v in (*bounds, axes)):
        raise Problem("starts, ends or axes are not constants")
    return _slice(b, "data", *([int(v) for v in values] for values in (*bounds, axes)))


def _slice(b, x, starts, ends, axes):
    if b.version < 10:  # onnx infers its shape only if the axes ascend
        starts, ends, axes = zip(
            *sorted(zip(starts, ends, axes, strict=True), key=_axis), strict=True
        )
        return b.add("Slice", x, starts=starts, ends=ends, axes=axes)
    return b.add("Slice", x, b.ints(*starts), b.ints(*ends), b.ints(*axes))


def _axis(part):
    return part[-1]
