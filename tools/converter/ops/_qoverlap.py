"""Leads of kernels qconv and qdepthwise: where their output may overwrite their input."""

from __future__ import annotations

import numpy as np

from ..ir import Tensor
from ..steps.overlap import MAX_TRACKED, lag


def behind(geometry, piece: int, x: Tensor, out: Tensor) -> dict[int, int]:
    """Return the lead of input 0 of qconv, whose calls read the windows of a piece, then write.

    Args:
        geometry: the Geometry.
        piece: positions of a call.
        x: the input.
        out: the output.
    """
    n, g, _, _, _, m, _, _, oh, ow = geometry.counts
    if n * g * oh * ow > MAX_TRACKED:
        return {}
    (xb, xg, _, xh, xw), (on, og, om, op) = geometry.x_strides, geometry.out_strides
    first = np.arange(0, oh * ow, piece)
    last = np.minimum(first + piece, oh * ow) - 1
    y = np.maximum(first // ow * geometry.strides[0] - geometry.pads[0], 0)
    column = np.where(first // ow == last // ow, first % ow, 0)
    read = y * xh + np.maximum(column * geometry.strides[1] - geometry.pads[1], 0) * xw
    written = last * op + (m - 1) * om + 1
    batch, group = np.arange(n).reshape(-1, 1, 1), np.arange(g).reshape(-1, 1)
    read = (read + batch * xb + group * xg).reshape(-1)
    written = (written + batch * on + group * og).reshape(-1)
    return {0: lag(read * x.itemsize, written * out.itemsize)}


def behind_rows(geometry, x: Tensor, out: Tensor) -> dict[int, int]:
    """Return the lead of input 0 of a qconv whose windows are not copied first.

    The elements of a position are read until all of its channels are written.
    """
    n, g, _, _, _, m, _, _, _, ow = geometry.counts
    if n * g * ow > MAX_TRACKED:
        return {}
    (xb, xg, _, _, xw), (on, og, om, op) = geometry.x_strides, geometry.out_strides
    position, group = np.arange(ow), np.arange(g).reshape(-1, 1)
    batch = np.arange(n).reshape(-1, 1, 1)
    read = (batch * xb + group * xg + position * geometry.strides[1] * xw).reshape(-1)
    written = (batch * on + group * og + position * op + (m - 1) * om + 1).reshape(-1)
    lead = lag(np.append(read[:1], read), np.append(written, written[-1:]) * out.itemsize)
    return {0: lead} if lead < out.nbytes else {}


def depthwise_behind(geometry, planes: int, rows: int, x: Tensor) -> dict[int, int]:
    """Return the lead of input 0 of qdepthwise, whose calls copy all that they read, then write.

    Args:
        geometry: the Geometry.
        planes: planes of a call.
        rows: output rows of a call.
        x: the input.
    """
    n, g, _, _, _, m, _, _, oh, ow = geometry.counts
    if n * g * oh > MAX_TRACKED:
        return {}
    (xb, xg, _, xh, _), (on, _, om, op) = geometry.x_strides, geometry.out_strides
    first = np.arange(0, oh, rows)
    read = np.maximum(first * geometry.strides[0] - geometry.pads[0], 0) * xh
    written = (np.minimum(first + rows, oh) * ow - 1) * op + 1
    batch, group = np.arange(n).reshape(-1, 1, 1), np.arange(0, g, planes).reshape(-1, 1)
    last_channel = np.minimum(group + planes, g) * m - 1
    read = (read + batch * xb + group * xg).reshape(-1)
    written = (written + batch * on + last_channel * om).reshape(-1)
    return {0: lag(read * x.itemsize, written)}


def is_same_place(geometry, x: Tensor, out: Tensor) -> bool:
    """Return True if each call writes exactly the elements that it has read before."""
    n, g, _, _, width, _, kh, kw, oh, ow = geometry.counts
    (xb, xg, xc, xh, xw), (on, og, om, op) = geometry.x_strides, geometry.out_strides
    pointwise = kh * kw == 1 and {*geometry.strides} == {1} and not any(geometry.pads)
    rows = oh == 1 or (xh == ow * xw and width == ow)
    apart = (n == 1 or xb == on) and (g == 1 or xg == og)
    return pointwise and rows and apart and (xc, xw) == (om, op) and x.itemsize == out.itemsize
