"""Conv -> kernel block_conv; where floats are wanted or needed, conv."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import Problem
from ..extent import is_open
from ..ir import Tensor
from ..rows import Rows
from . import lowers
from ._block import INITS, NO_CLIP, bits_of, block_constants, is_block
from ._dot import pack_rows
from ._move import strides_of
from ._windows import Windows, windows_of

FLOAT, INT32 = 1, 6

_SIZES = {"n_in": 4, "n_out": 11, "taps": 8, "single": (0, 3, 7, 10)}
_ROWS = Rows(**_SIZES, stride=15, dilation=18, pad=27, out=(None, 22, 24, 25))
_BLOCK_ROWS = Rows(**_SIZES, stride=14, dilation=17, pad=28, out=(None, 23, 25, 26))
MOST_WORDS = 1536  # of scratch that a call may fill; a single position may need more
_PIECE = 64  # rows or positions of a call, at most, where a run decides how many there are


@lowers("Conv")
def lower_conv(node):
    """Any group, one to three spatial dims; the output in C order."""
    node.require_dtype(FLOAT)
    emit_conv_of(node, node.inputs[0], node.inputs[1], node.input(2), node.outputs[0])


def emit_conv_of(node, x: Tensor, w: Tensor, bias: Tensor | None, out: Tensor) -> None:
    """The convolution that the node's attributes describe, of these tensors."""
    group = node.attr("group", 1)
    if x.shape[1] % group:
        raise Problem("channels are not a multiple of group")
    windows = windows_of(node, w.shape[2:], out.shape)
    packed = pack_rows(node, w, [0], list(range(1, len(w.shape))), bias)
    shape = (out.shape[0], out.shape[1], *windows.out_dims)
    conv = Convolution(windows, group, bias is not None, shape, strides_of(shape))
    emit_conv(node, x, packed, conv, out)


@dataclass
class Convolution:
    """Sizes of a call of a kernel. out_shape: (N, channels, z, y, x).

    first, strides: where it writes, in elements; clip: limits of the result.
    """

    windows: Windows
    groups: int
    has_bias: bool
    out_shape: Sequence[int]
    strides: Sequence[int]
    first: int = 0
    clip: tuple[float, float] = NO_CLIP

    def k(self, x: Tensor) -> int:
        """Products that make a sum."""
        return x.shape[1] // self.groups * math.prod(self.windows.kernel)


def emit_conv(node, x: Tensor, packed: Tensor, conv: Convolution, out: Tensor) -> None:
    """One call of a kernel. packed: rows of (C, kd, kh, kw), the bias behind each."""
    n, channels = x.shape[:2]
    windows, k = conv.windows, conv.k(x)
    m = conv.out_shape[1] // conv.groups
    macs = math.prod(conv.out_shape) * k
    params = [n, conv.groups, channels // conv.groups, *windows.in_dims, m]
    params += [*windows.kernel, *windows.out_dims]
    steps = [*windows.strides, *windows.dilations]
    place = [conv.first, *conv.strides, *windows.pads]
    if packed.data is None or not is_block(node, x, packed, k):
        patch = node.temp(x.dtype, (k,))
        params += [int(conv.has_bias), *steps, *place]
        node.emit("conv", [x, packed], [out], params, [patch], macs, rows=_ROWS)
        return
    rows, positions, words = _block(windows, conv, channels // conv.groups)
    params += [*steps, rows, positions, *place, *map(bits_of, conv.clip), positions, m]
    weights = conv_constants(node, packed, conv, k)
    scratch = node.temp(INT32, (words,))
    node.emit("block_conv", [x, *weights], [out], params, [scratch], macs, rows=_BLOCK_ROWS)


def conv_constants(node, packed, conv, k):
    """Rows with their items as (kw, C, kd, kh): a column of the image lies in one piece."""
    rows = packed.data.reshape(-1, k + conv.has_bias)
    items = rows[:, :k].reshape(len(rows), -1, *conv.windows.kernel).transpose(0, 4, 1, 2, 3)
    columns = node.constant(np.concatenate([items.reshape(len(rows), k), rows[:, k:]], axis=1))
    return block_constants(node, columns, k, conv.has_bias)


def _block(windows, conv, c):
    """Output rows and positions of one call of block_conv's loops, and its words of scratch."""
    oh, ow = (_PIECE if is_open(d) else d for d in windows.out_dims[1:])
    oh = 1 if is_open(windows.out_dims[2]) else oh  # whole rows alone go together
    rows, positions = 1, max(ow, 1)
    while positions > 1 and scratch_words(windows, conv, c, 1, positions) > MOST_WORDS:
        positions -= 1
    while (
        positions >= ow
        and rows < oh
        and scratch_words(windows, conv, c, rows + 1, ow) <= MOST_WORDS
    ):
        rows += 1
    return rows, positions, scratch_words(windows, conv, c, rows, positions)


def scratch_words(windows, conv, c, rows, n, sums=None):
    """Words that such a call needs, as mpconnxr/ops/block_pieces.py counts them.

    sums: positions and channels of what is summed up at a time; None: all.
    """
    kd, kh, kw = windows.kernel
    stride, m = windows.strides[2], conv.out_shape[1] // conv.groups
    some, channels = sums or (n, m)
    columns, idle = n * kw, 0
    if windows.dilations[2] == 1 and stride < kw and rows * n > 1:
        columns = -(-((n - 1) * stride + kw) // stride) * stride
        idle = columns // stride - n if rows > 1 else 0
    words = 3 * (channels + 1) * ((some + idle) * rows - idle)
    return INITS + 4 * channels + words + rows * columns * c * kd * kh
