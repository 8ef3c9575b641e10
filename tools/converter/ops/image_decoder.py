"""Lower ImageDecoder to kernel image_decoder, for the formats that it knows."""

from __future__ import annotations

from ..errors import Problem
from ..shapes import extent
from . import lowers
from ._extents import store

_RED_INDEX = {"RGB": 0, "BGR": 2, "Grayscale": 3}


@lowers("ImageDecoder")
def lower_image_decoder(node):
    x, out = node.inputs[0], node.outputs[0]
    pixel_format = node.attr("pixel_format", "RGB")
    if pixel_format not in _RED_INDEX:
        raise Problem(f"pixel_format {pixel_format!r}", f"use one of {', '.join(_RED_INDEX)}")
    height, width, _ = out.shape
    if not (extent.is_open(height) and extent.is_open(width)):
        return  # a bound is 0
    dims = {"height": extent.number_of(height), "width": extent.number_of(width)}
    node.emit("image_decoder", [x], [store(node, out)], **dims, red=_RED_INDEX[pixel_format])
