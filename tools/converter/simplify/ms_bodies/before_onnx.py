"""Operators of ONNX's first days, which onnxruntime still has up to opset 9.

They stand in ONNX's own domain; see load/ort_domain.py.
"""

from __future__ import annotations

import numpy as np

from ...errors import Problem
from .building import Body, expands


@expands("Affine", inputs="X", oldest=7)
def affine(b: Body):
    """alpha * X + beta."""
    scaled = b.add("Mul", "X", b.const(b.attr("alpha", 1.0)))
    return b.add("Add", scaled, b.const(b.attr("beta", 0.0)))


@expands("Scale", inputs="input", outputs="output", oldest=7)
def scale(b: Body):
    """scale * input."""
    return b.add("Mul", "input", b.const(b.attr("scale", 1.0)))


@expands("ImageScaler", inputs="input", outputs="output", oldest=7)
def image_scaler(b: Body):
    """scale * input + bias, a bias for each channel of (N, C, H, W)."""
    bias = np.array(b.attr("bias"), np.float32).reshape(-1, 1, 1)
    return b.add("Add", b.add("Mul", "input", b.const(b.attr("scale", 1.0))), b.const(bias))


@expands("ParametricSoftplus", "ScaledTanh", inputs="X", oldest=7)
def scaled_function(b: Body):
    """alpha * f(beta * X)."""
    function = "Tanh" if b.node.op_type == "ScaledTanh" else "Softplus"
    alpha, beta = (b.const(b.attributes[name]) for name in ("alpha", "beta"))
    return b.add("Mul", alpha, b.add(function, b.add("Mul", beta, "X")))


@expands("Crop", inputs="input", outputs="output", oldest=7)
def crop(b: Body):
    """What is left of (N, C, H, W) without borders, or a part of this size behind the first two.

    border: left, top, right, bottom; scale: height, width.
    """
    left, top, right, bottom = b.attr("border")
    height, width = b.shape("input")[2:]
    ends = [height - bottom, width - right]
    if b.attr("scale"):
        ends = [n + d for n, d in zip((top, left), b.attr("scale"), strict=True)]
    if not (0 <= top < ends[0] <= height and 0 <= left < ends[1] <= width):
        raise Problem(f"nothing is left of {height} x {width}, or more than that is wanted")
    return _slice(b, "input", [top, left], ends, [2, 3])


@expands(
    "DynamicSlice",
    inputs="data starts ends axes",
    outputs="output",
    fixes="starts ends axes",
    oldest=7,
)
def dynamic_slice(b: Body):
    """Slice as it is since opset 10, without steps."""
    found = [b.known(name) for name in ("starts", "ends")]
    axes = b.known("axes") if b.has("axes") else np.arange(found[0] is not None and found[0].size)
    if any(v is None for v in (*found, axes)):
        raise Problem("starts, ends or axes are not constants")
    return _slice(b, "data", *([int(v) for v in values] for values in (*found, axes)))


def _slice(b, x, starts, ends, axes):
    if b.version < 10:  # onnx infers its shape only where the axes are in order
        starts, ends, axes = zip(
            *sorted(zip(starts, ends, axes, strict=True), key=_axis), strict=True
        )
        return b.add("Slice", x, starts=starts, ends=ends, axes=axes)
    return b.add("Slice", x, b.ints(*starts), b.ints(*ends), b.ints(*axes))


def _axis(part):
    return part[-1]
