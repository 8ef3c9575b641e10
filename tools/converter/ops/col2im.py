"""Col2Im -> kernels move and scatter."""

from __future__ import annotations

import math

import numpy as np

from ..ir import Tensor
from . import lowers
from ._move import emit_fill, emit_move, strides_of

_ADD = 1  # of kernel scatter


@lowers("Col2Im", fixes_shape=(1, 2))
def lower_col2im(node):
    """Every column is added to the places its block was taken from, in an image with its padding.

    The images of all batches and channels lie side by side, so that one index serves all.
    """
    node.require_dtype(1, 11, 2, 3, 4, 5, 6, 7, 12, 13)
    x, out = node.inputs[0], node.outputs[0]
    image = node.const(1, "image_shape").tolist()
    block = node.const(2, "block_shape").tolist()
    rank = len(image)
    pads = node.attr("pads", [0] * 2 * rank)
    padded = [d + pads[i] + pads[rank + i] for i, d in enumerate(image)]
    index = _places(node, padded, block)
    planes, n = math.prod(out.shape[:2]), math.prod(padded)
    columns = node.temp(x.dtype, (len(index), planes))
    dims = [planes, len(index)]
    emit_move(node.emit, x, columns, dims, [len(index), 1], [1, planes])
    total = node.temp(x.dtype, (n, planes))
    emit_fill(node, node.constant(np.zeros(1, x.np_dtype)), total)
    node.emit("scatter", [columns, node.constant(index)], [total], op=_ADD, n=n, inner=planes)
    _emit_inner(node, total, out, image, padded, pads)


def _places(node, padded, block) -> np.ndarray:
    """Position in the padded image for every item of a block, then every position of the block."""
    rank = len(padded)
    strides = node.attr("strides", [1] * rank)
    dilations = node.attr("dilations", [1] * rank)
    place = np.zeros((1, 1), np.int64)
    for d, b, s, e in zip(padded, block, strides, dilations, strict=True):
        count = (d - (b - 1) * e - 1) // s + 1
        grid = np.arange(b)[:, None] * e + np.arange(count) * s
        joined = place[:, None, :, None] * d + grid[None, :, None, :]
        place = joined.reshape(place.shape[0] * b, place.shape[1] * count)
    return place.reshape(-1).astype(np.int32)


def _emit_inner(node, total: Tensor, out: Tensor, image, padded, pads):
    """The image without its padding, each channel for itself again."""
    planes = total.shape[1]
    steps = strides_of(padded)
    first = sum(p * s for p, s in zip(pads, steps, strict=False)) * planes
    dims = [planes, *image]
    strides = [1, *(s * planes for s in steps)]
    emit_move(node.emit, total, out, dims, strides, strides_of(dims), first)
