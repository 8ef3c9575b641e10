"""RoiAlign -> kernel roi_align."""

from __future__ import annotations

from ..errors import Problem
from . import lowers
from ._elementwise import float_bits

FLOAT, INT64 = 1, 7


@lowers("RoiAlign")
def lower_roi_align(node):
    """Up to opset 10 there was no half pixel; since opset 16 it is the default."""
    node.require_dtype(FLOAT)
    x, regions, batch = node.inputs
    out = node.outputs[0]
    if batch.dtype != INT64:
        raise Problem("batch_indices are not int64")
    transform = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    transform = node.attr("coordinate_transformation_mode", transform)
    mode = node.attr("mode", "avg")
    if mode not in ("avg", "max") or transform not in ("half_pixel", "output_half_pixel"):
        raise Problem(f"mode {mode}, coordinate_transformation_mode {transform}")
    flags = [
        max(node.attr("sampling_ratio", 0), 0),
        int(mode == "max"),
        int(transform == "half_pixel"),
    ]
    scale = float_bits(node.attr("spatial_scale", 1.0))
    params = [*x.shape, regions.shape[0], *out.shape[2:], *flags, scale]
    node.emit("roi_align", [x, regions, batch], [out], params)
