"""Parts of images, and transposed convolutions whose pads are an input."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands


@expands("CropAndResize", inputs="X rois batch_indices crop_size", fixes="crop_size", oldest=13)
def crop(b: Body):
    """Crops (R, C, height, width) of images (N, C, H, W): gathers pixels, and blends four of them.

    X as a matrix has a row for each pixel. rois: rows of y1, x1, y2, x2, of which 0 and 1 are the
    first and the last pixel; crop_size: height, width. Pixels outside are extrapolation_value.
    """
    size = b.known("crop_size")
    if size is None or size.size != 2 or min(size) < 1:
        raise Problem("crop_size is not a constant of two positive items")
    mode = b.attr("mode", "bilinear")
    if mode not in ("bilinear", "nearest"):
        raise Problem(f"mode {mode}")
    _, channels, *extents = b.shape("X")
    pixels = b.reshape(b.transpose("X", 0, 2, 3, 1), -1, channels)
    y, x = (_Positions(b, i, int(size[i]), extents[i]) for i in range(2))
    images = b.cast(b.unsqueeze("batch_indices", 1), TensorProto.INT64)

    def row(near):
        """The number of an image's row."""
        first = b.add("Mul", images, b.const(extents[0], np.int64))
        return b.unsqueeze(b.add("Add", first, near), 2)

    def pixel(near_y, near_x):
        start = b.add("Mul", row(near_y), b.const(extents[1], np.int64))
        return b.add("Gather", pixels, b.add("Add", start, b.unsqueeze(near_x, 1)), axis=0)

    if mode == "nearest":
        found = pixel(y.nearest(), x.nearest())
    else:
        part = b.unsqueeze(x.part, 1, 3)
        upper, lower = (
            _between(b, pixel(at, x.low), pixel(at, x.high), part) for at in (y.low, y.high)
        )
        found = _between(b, upper, lower, b.unsqueeze(y.part, 2, 3))
    is_in = b.add("And", b.unsqueeze(y.is_in, 2, 3), b.unsqueeze(x.is_in, 1, 3))
    found = b.add("Where", is_in, found, b.const(b.attr("extrapolation_value", 0.0)))
    return b.transpose(found, 0, 3, 1, 2)


def _between(b, first, second, part):
    return b.add("Add", first, b.add("Mul", b.add("Sub", second, first), part))


class _Positions:
    """Where the items of crops lie along one axis of the images: values of shape (R, count).

    i: 0 along y, 1 along x; extent: of the images. low, high: int64, the pixels on both sides;
    part: how far behind low; is_in: whether within the image.
    """

    def __init__(self, b: Body, i: int, count: int, extent: int):
        self.b = b
        start, end = (b.slice("rois", k, k + 1, 1) for k in (i, i + 2))
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
        """The nearest pixel; in the middle of two, the higher one."""
        b = self.b
        return b.add("Where", b.add("Less", self.part, b.const(0.5)), self.low, self.high)


@expands("ConvTransposeWithDynamicPads", inputs="X W Pads B", fixes="Pads", oldest=11)
def transposed_convolution(b: Body):
    """ONNX's ConvTranspose, whose pads are an attribute."""
    pads = b.known("Pads")
    if pads is None:
        raise Problem("Pads is not a constant")
    bias = ["B"] if b.has("B") else []
    attributes = dict(b.attributes, pads=[int(v) for v in pads])
    return b.add("ConvTranspose", "X", "W", *bias, **attributes)
