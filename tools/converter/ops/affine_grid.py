"""AffineGrid -> kernel gemm."""

from __future__ import annotations

import math

import numpy as np

from . import lowers
from .gemm import emit_gemm

FLOAT = 1


@lowers("AffineGrid", fixes_shape=(1,))
def lower_affine_grid(node):
    """Each batch's matrix times the homogeneous coordinates (x, y, z, 1) of every position."""
    node.require_dtype(FLOAT)
    theta, out = node.inputs[0], node.outputs[0]
    dims = out.shape[1:-1]
    align = node.attr("align_corners", 0)
    axes = [_positions(d, align) for d in dims]
    grids = np.meshgrid(*axes, indexing="ij")[::-1]  # x, the last dim, comes first
    points = np.stack([*grids, np.ones(dims)], axis=-1).reshape(-1, len(dims) + 1)
    m, n, k = math.prod(dims), len(dims), len(dims) + 1
    a = node.constant(points.astype(np.float32))
    emit_gemm(node, a, theta, out, (1, out.shape[0], m, n, k), False, (0, 0, 0, 1))


def _positions(d, align):
    """-1 .. 1: the ends are the outer items' centres (align) or the outer edges."""
    if align:
        return np.linspace(-1, 1, d) if d > 1 else np.zeros(1)
    return (2 * np.arange(d) + 1) / d - 1
