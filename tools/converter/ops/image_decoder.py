"""ImageDecoder, of the formats that kernel image_decoder knows."""

from __future__ import annotations

from ..errors import Problem
from ..shapes import extent
from . import lowers
from ._extents import store

_PLACES_OF_RED = {"RGB": 0, "BGR": 2, "Grayscale": 3}


@lowers("ImageDecoder")
def lower_image_decoder(node):
    x, out = node.inputs[0], node.outputs[0]
    wanted = node.attr("pixel_format", "RGB")
    if wanted not in _PLACES_OF_RED:
        raise Problem(f"pixel_format {wanted!r}", f"use one of {', '.join(_PLACES_OF_RED)}")
    height, width, _ = out.shape
    if not (extent.is_open(height) and extent.is_open(width)):
        return  # a bound is 0
    dims = {"height": extent.number_of(height), "width": extent.number_of(width)}
    node.emit("image_decoder", [x], [store(node, out)], **dims, red=_PLACES_OF_RED[wanted])
