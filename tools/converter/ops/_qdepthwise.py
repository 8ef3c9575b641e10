"""Emission of kernel qdepthwise: convolutions of bytes in which each channel is by itself."""

from __future__ import annotations

import math

import numpy as np

from mpconnxr.ops.qdepthwise import covered, scratch_nbytes

from ..shapes.extent import any_open
from ..steps.rows import Rows
from . import _qoverlap
from ._qweights import AS_IT_IS, Geometry, Weights, outer, table

_MAX_SHARED = 2
_SCRATCH_NBYTES = 2048  # with more, the loops would be called less often
_ROWS = Rows(
    c=None,
    m=None,
    x=[None, *(f"x_strides.{axis}" for axis in "gyx")],
    out=[None, "out_strides.m", None, "out_strides.i"],
)


def is_depthwise(geometry: Geometry) -> bool:
    """Return True if qdepthwise is the best kernel: groups have one input channel.

    With more than two output channels for each group, qconv is faster: it shares what it gathers.
    """
    _, _, c, _, _, m, *_ = geometry.counts
    return c == 1 and m <= _MAX_SHARED and not any_open(geometry.counts)


def emit_depthwise(node, x, weights: Weights, constants, words, geometry, x_zero, ends, out):
    """Emit one step of qdepthwise.

    Args:
        node: the node to lower.
        x: the input.
        weights: its Weights.
        constants: first word of each channel in its table.
        words: second word of each channel in its table.
        geometry: its Geometry.
        x_zero: as for emit_qconv.
        ends: as for emit_qconv.
        out: the output.
    """
    _, g, _, _, _, m, kh, kw, _, ow = geometry.counts
    channels = table(constants, words, g * m)
    packed = node.constant(np.concatenate([channels, weights.rows.reshape(-1)]))
    row = covered(ow, geometry.strides[1], kw, geometry.dilations[1])
    planes, rows = _pieces(geometry, row, _SCRATCH_NBYTES)
    batch, group, _, *within = outer(geometry, geometry.x_strides)
    out_batch, _, *channel = outer(geometry, geometry.out_strides)
    params = {
        **geometry.named,
        "x_strides": [batch, group, *within],
        "out_strides": [out_batch, *channel],
        "planes": planes,
        "out_rows": rows,
        "zx": x_zero,
        "zw": weights.zero,
        **ends,
        "table": AS_IT_IS,
    }
    del params["c"]
    nbytes = scratch_nbytes(kh * kw, planes, _covered(geometry, rows), row)
    scratch = node.temp(2, (nbytes,))
    behind = _qoverlap.depthwise_behind(geometry, planes, rows, x)
    node.emit(
        "qdepthwise",
        [x, packed],
        [out],
        scratch=[scratch],
        macs=geometry.macs,
        behind=behind,
        rows=_ROWS,
        **params,
    )


def _covered(geometry, rows):
    """Return the rows of a padded plane that so many output rows read."""
    return covered(rows, geometry.strides[0], geometry.counts[6], geometry.dilations[0])


def _pieces(geometry, row, nbytes):
    """Return (planes, output rows) that a call computes: some whole planes, or rows of one plane.

    Args:
        geometry: the Geometry.
        row: bytes of an input row with its padding.
        nbytes: size of the scratch.
    """
    groups, oh = geometry.counts[1], geometry.counts[8]
    plane = _covered(geometry, oh) * row
    if plane <= nbytes:
        most = min(nbytes // plane, groups)
        return math.ceil(groups / math.ceil(groups / most)), oh
    rows = 1
    while rows < oh and _covered(geometry, rows + 1) * row <= nbytes:
        rows += 1
    return 1, math.ceil(oh / math.ceil(oh / rows))
