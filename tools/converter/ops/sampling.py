"""Lower AffineGrid to kernel gemm; GridSample, RoiAlign and MaxRoiPool to their own."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from . import lowers
from ._dtypes import FLOAT, FLOATS, INT64
from ._elementwise import float_bits
from .gemm import emit_gemm


@lowers("AffineGrid", fixes_shape=(1,))
def lower_affine_grid(node):
    """Lower AffineGrid: a matrix for each batch times homogeneous coordinates (x, y, z, 1)."""
    node.require_dtype(FLOAT)
    theta, out = node.inputs[0], node.outputs[0]
    dims = out.shape[1:-1]
    align = node.attr("align_corners", 0)
    axes = [_positions(d, align) for d in dims]
    grids = np.meshgrid(*axes, indexing="ij")[::-1]  # x, the last dimension, comes first
    points = np.stack([*grids, np.ones(dims)], axis=-1).reshape(-1, len(dims) + 1)
    m, n, k = math.prod(dims), len(dims), len(dims) + 1
    a = node.constant(points.astype(np.float32))
    emit_gemm(node, a, theta, out, (1, out.shape[0], m, n, k), False, (0, 0, 0, 1))


def _positions(d, align):
    """Return coordinates from -1 to 1: the centres (align) or outer edges of the end elements."""
    if align:
        return np.linspace(-1, 1, d) if d > 1 else np.zeros(1)
    return (2 * np.arange(d) + 1) / d - 1


_MODES = {"nearest": 0, "linear": 1, "bilinear": 1, "cubic": 2, "bicubic": 2}
_PADDING = {"zeros": 0, "border": 1, "reflection": 2}


@lowers("GridSample")
def lower_grid_sample(node):
    """Lower GridSample. Opset 16 calls its modes bilinear and bicubic."""
    node.require_dtype(*FLOATS)
    x, grid, out = node.inputs[0], node.inputs[1], node.outputs[0]
    rank = len(x.shape) - 2
    mode = node.attr("mode", "linear")
    padding = node.attr("padding_mode", "zeros")
    if rank not in (2, 3):
        raise Problem(f"{rank} spatial dimensions", "2 and 3 are supported")
    if mode not in _MODES or padding not in _PADDING:
        raise Problem(f"mode {mode}, padding_mode {padding}")
    sizes = [*x.shape[:2], *[1] * (3 - rank), *x.shape[2:]]
    node.emit(
        "grid_sample",
        [x, grid],
        [out],
        **dict(zip(("n", "c", "d", "h", "w"), sizes, strict=True)),
        places=math.prod(out.shape[2:]),
        dims=rank,
        mode=_MODES[mode],
        padding=_PADDING[padding],
        align_corners=int(bool(node.attr("align_corners", 0))),
    )


@lowers("RoiAlign")
def lower_roi_align(node):
    """Lower RoiAlign. Half pixels came with opset 11, and are the default since 16."""
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
    """Return the parameters, by name, of a kernel that samples regions of images.

    Args:
        x: images (N, C, H, W).
        regions: a region in each row.
        out: (regions, C, height, width).
    """
    named = dict(zip(("n", "c", "h", "w"), x.shape, strict=True))
    return {**named, "regions": regions.shape[0], "oh": out.shape[2], "ow": out.shape[3]}


@lowers("MaxRoiPool")
def lower_max_roi_pool(node):
    node.require_dtype(FLOAT)
    x, regions, out = node.inputs[0], node.inputs[1], node.outputs[0]
    scale = float_bits(node.attr("spatial_scale", 1.0))
    node.emit("max_roi_pool", [x, regions], [out], **region_sizes(x, regions, out), scale=scale)
