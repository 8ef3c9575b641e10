"""MaxRoiPool -> kernel max_roi_pool."""

from __future__ import annotations

from . import lowers
from ._elementwise import float_bits
from .roi_align import region_sizes

FLOAT = 1


@lowers("MaxRoiPool")
def lower_max_roi_pool(node):
    node.require_dtype(FLOAT)
    x, regions, out = node.inputs[0], node.inputs[1], node.outputs[0]
    scale = float_bits(node.attr("spatial_scale", 1.0))
    node.emit("max_roi_pool", [x, regions], [out], **region_sizes(x, regions, out), scale=scale)
