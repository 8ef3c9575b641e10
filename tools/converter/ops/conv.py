"""Lower Conv to kernels block_conv and conv (in floats), and DeformConv to deform_conv."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes.extent import any_open
from ..steps.rows import Rows
from . import lowers
from ._block import NO_CLIP, block_constants, is_block
from ._dot import pack_rows
from ._dtypes import FLOAT, INT32, UINT32
from ._elementwise import float_bits
from ._move import strides_of
from ._pieces import grow, lacks, set_cut, words_for
from ._windows import Windows, windows_of

_ROWS = Rows(single=("n", "d", "kd", "od"), out=[None, *(f"out_strides.{axis}" for axis in "myx")])
_BLOCK_ROWS = replace(_ROWS, reads_all=True)  # the largest value of x gives the exponent


@lowers("Conv")
def lower_conv(node):
    """Lower Conv with any group and one to three spatial dimensions."""
    node.require_dtype(FLOAT)
    emit_conv_of(node, node.inputs[0], node.inputs[1], node.input(2), node.outputs[0])


def emit_conv_of(node, x: Tensor, w: Tensor, bias: Tensor | None, out: Tensor) -> None:
    """Emit the convolution that the node's attributes describe, of these tensors.

    Args:
        node: the node to lower.
        x: the input.
        w: the weights, as for Conv.
        bias: one value for each output channel, or None.
        out: the output.
    """
    group = groups_of(node, x, w)
    windows = windows_of(node, w.shape[2:], out.shape)
    packed = pack_rows(node, w, [0], list(range(1, len(w.shape))), bias)
    shape = (out.shape[0], out.shape[1], *windows.out_dims)
    conv = Convolution(windows, group, bias is not None, shape, strides_of(shape))
    emit_conv(node, x, packed, conv, out)


def groups_of(node, x: Tensor, w: Tensor) -> int:
    """Return the node's number of groups."""
    group = node.attr("group", 1)
    channels, expected = x.shape[1], group * w.shape[1]
    if channels != expected and not any_open([channels]):
        raise Problem(f"{x} and {w} do not fit: {channels} channels, weights for {expected}")
    return group


@dataclass
class Convolution:
    """Sizes of a convolution.

    Attributes:
        out_shape: (N, channels, z, y, x).
        strides: strides of the output [elements].
        first: index of the first element of the output.
        clip: limits of the result.
    """

    windows: Windows
    groups: int
    has_bias: bool
    out_shape: Sequence[int]
    strides: Sequence[int]
    first: int = 0
    clip: tuple[float, float] = NO_CLIP

    def k(self, x: Tensor) -> int:
        """Return the number of products in a sum."""
        return x.shape[1] // self.groups * math.prod(self.windows.kernel)


def emit_conv(node, x: Tensor, packed: Tensor, conv: Convolution, out: Tensor) -> None:
    """Emit block_conv, or conv if a sum cannot use block floats.

    Args:
        node: the node to lower.
        x: the input, (N, C, D, H, W) or without leading spatial dims.
        packed: rows of weights (C, kd, kh, kw), each followed by its bias if there is one.
        conv: its Convolution.
        out: the output.
    """
    n, channels = x.shape[:2]
    windows, k = conv.windows, conv.k(x)
    m = conv.out_shape[1] // conv.groups
    macs = math.prod(conv.out_shape) * k
    params = {"n": n, "g": conv.groups, "c": channels // conv.groups, "m": m, **windows.named}
    params |= {"out_first": conv.first, "out_strides": conv.strides}
    if packed.data is None or not is_block(node, x, packed, k):
        patch = node.temp(x.dtype, (k,))
        options = {"scratch": [patch], "macs": macs, "rows": _ROWS}
        node.emit("conv", [x, packed], [out], **options, **params, has_bias=int(conv.has_bias))
        return
    out_nbytes = math.prod(conv.out_shape) * out.itemsize
    weights = conv_constants(node, packed, conv, k)
    short = weights[0].dtype == UINT32
    words = set_cut("block_conv", params, words_for(x.nbytes, out_nbytes), short)
    params["limits"] = list(map(float_bits, conv.clip))
    options = {"scratch": [node.temp(INT32, (words,))], "macs": macs, "rows": _BLOCK_ROWS}
    options |= {"grow": grow, "lacks": lacks(params, words, short)}
    node.emit("block_conv", [x, *weights], [out], **options, **params)


def conv_constants(node, packed, conv, k):
    """Return the constants of a block convolution: rows reordered to (kw, C, kd, kh).

    In this order each column of the window is contiguous in the image's columns.

    Args:
        node: the node to lower.
        packed: rows of weights (C, kd, kh, kw), each followed by its bias if there is one.
        conv: the Convolution.
        k: weights of a row.
    """
    rows = packed.data.reshape(-1, k + conv.has_bias)
    weights = rows[:, :k].reshape(len(rows), -1, *conv.windows.kernel).transpose(0, 4, 1, 2, 3)
    columns = node.constant(np.concatenate([weights.reshape(len(rows), k), rows[:, k:]], axis=1))
    return block_constants(node, columns, k, conv.has_bias)


@lowers("DeformConv")
def lower_deform_conv(node):
    node.require_dtype(FLOAT)
    x, w, offset = node.inputs[:3]
    bias, mask, out = node.input(3), node.input(4), node.outputs[0]
    if len(x.shape) != 4:
        raise Problem(f"{len(x.shape) - 2} spatial dimensions", "2 are supported")
    group = node.attr("group", 1)
    c, kernel = w.shape[1], w.shape[2:]
    packed = pack_rows(node, w, [0], [1, 2, 3], bias)
    h, width = x.shape[2:]
    oh, ow = out.shape[2:]
    params = {"n": x.shape[0], "g": group, "c": c, "h": h, "w": width, "m": w.shape[0] // group}
    params |= {"kh": kernel[0], "kw": kernel[1], "oh": oh, "ow": ow}
    params |= {"offset_groups": node.attr("offset_group", 1), "has_bias": int(bias is not None)}
    params |= {name: node.attr(name, [1, 1]) for name in ("strides", "dilations")}
    params["pads"] = node.attr("pads", [0] * 4)[:2]
    k = c * math.prod(kernel)
    inputs = [x, packed, offset] if mask is None else [x, packed, offset, mask]
    patch = node.temp(FLOAT, (k,))
    node.emit("deform_conv", inputs, [out], scratch=[patch], macs=out.nelem * k, **params)
