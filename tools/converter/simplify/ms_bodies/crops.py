"""Expand CropAndResize, and transposed convolutions whose pads are an input."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands


@expands("CropAndResize", inputs="X rois batch_indices crop_size", fixes="crop_size", oldest=13)
def crop(b: Body):
    """Compute crops (R, C, height, width) of images (N, C, H, W) from gathered pixels.

    X is reshaped to a matrix with one row per pixel. rois has rows y1, x1, y2, x2, where 0 and 1
    are the first and the last pixel; crop_size is height, width. Pixels outside the image are
    extrapolation_value. Mode bilinear blends four pixels.
    """
    size = b.known("crop_size")
    if size is None or size.size != 2 or min(size) < 1:
        raise Problem("crop_size is not a constant of two positive elements")
    mode = b.attr("mode", "bilinear")
    if mode not in ("bilinear", "nearest"):
        raise Problem(f"mode {mode}")
    _, channels, *extents = b.shape("X")
    pixels = b.reshape(b.transpose("X", 0, 2, 3, 1), -1, channels)
    y, x = (_Positions(b, i, int(size[i]), extents[i]) for i in range(2))
    images = b.cast(b.unsqueeze("batch_indices", 1), TensorProto.INT64)

    def row(near):
        """Return the number of an image's row in all images."""
        first = b.add("Mul", images, b.const(extents[0], np.int64))
        return b.unsqueeze(b.add("Add", first, near), 2)

    def pixel(near_y, near_x):
        start = b.add("Mul", row(near_y), b.const(extents[1], np.int64))
        return b.add("Gather", pixels, b.add("Add", start, b.unsqueeze(near_x, 1)), axis=0)

    if mode == "nearest":
        result = pixel(y.nearest(), x.nearest())
    else:
        part = b.unsqueeze(x.part, 1, 3)
        upper, lower = (
            _between(b, pixel(at, x.low), pixel(at, x.high), part) for at in (y.low, y.high)
        )
        result = _between(b, upper, lower, b.unsqueeze(y.part, 2, 3))
    is_in = b.add("And", b.unsqueeze(y.is_in, 2, 3), b.unsqueeze(x.is_in, 1, 3))
    result = b.add("Where", is_in, result, b.const(b.attr("extrapolation_value", 0.0)))
    return b.transpose(result, 0, 3, 1, 2)


def _between(b, first, second, part):
    return b.add("Add", first, b.add("Mul", b.add("Sub", second, first), part))


class _Positions:
    """Positions of a crop's elements along one axis of the images; values have shape (R, count).

    Attributes:
        low: int64, the pixel at or before the position.
        high: int64, the pixel at or after it.
        part: distance from low, 0 to 1.
        is_in: True within the image.
    """

    def __init__(self, b: Body, axis: int, count: int, extent: int):
        self.b = b
        start, end = (b.slice("rois", k, k + 1, 1) for k in (axis, axis + 2))
        last = b.const(extent - 1)
        if count > 1:
            step = b.add("Div", b.add("Mul", b.add("Sub", end, start), last), b.const(count - 1))
            steps = b.add("Mul", step, b.const(np.arange(count), np.float32))
            at = b.add("Add", b.add("Mul", start, last), steps)
        else:
            at = b.add("Mul", b.add("Mul", b.const(0.5), b.add("Add", start, end)), last)
        below, above = b.add("Less", at, b.const(0)), b.add("Greater", at, last)
        self.is_in = b.add("Not", b.add("Or", below, above))
        inside = b.add("Where", self.is_in, at, b.const(0))
        low = b.add("Floor", inside)
        self.part = b.add("Sub", inside, low)
        self.low, self.high = (b.cast(v, TensorProto.INT64) for v in (low, b.add("Ceil", inside)))

    def nearest(self):
        """Return the nearest pixel, the higher one of two that are equally near."""
        b = self.b
        return b.add("Where", b.add("Less", self.part, b.const(0.5)), self.low, self.high)


@expands("ConvTransposeWithDynamicPads", inputs="X W Pads B", fixes="Pads", oldest=11)
def transposed_convolution(b: Body):
    """Expand to ONNX's ConvTranspose, whose pads are an attribute."""
    pads = b.known("Pads")
    if pads is None:
        raise Problem("Pads is not a constant")
    bias = ["B"] if b.has("B") else []
    attributes = dict(b.attributes, pads=[int(v) for v in pads])
    return b.add("ConvTranspose", "X", "W", *bias, **attributes)
