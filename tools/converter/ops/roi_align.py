"""RoiAlign -> kernel roi_align."""

from __future__ import annotations

from ..errors import Problem
from ..ir import Tensor
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
    node.emit(
        "roi_align",
        [x, regions, batch],
        [out],
        **region_sizes(x, regions, out),
        sampling_ratio=max(node.attr("sampling_ratio", 0), 0),
        max=int(mode == "max"),
        half_pixel=int(transform == "half_pixel"),
        scale=float_bits(node.attr("spatial_scale", 1.0)),
    )


def region_sizes(x: Tensor, regions: Tensor, out: Tensor) -> dict[str, int]:
    """By the names of kernels' parameters."""
    named = dict(zip(("n", "c", "h", "w"), x.shape, strict=True))
    return {**named, "regions": regions.shape[0], "oh": out.shape[2], "ow": out.shape[3]}
