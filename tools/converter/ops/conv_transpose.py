"""Lower ConvTranspose to kernel block_conv (or conv), one step for each phase.

Along one dimension, output o reads input i through tap k if o + pad = i * stride + k * dilation.
For the outputs o = r + stride * t of a phase r, the matching taps are k0, k0 + step, ... with
step = stride / gcd(stride, dilation), and each further tap reads the input dilation / gcd earlier.
That is a convolution of stride 1 with these taps, last one first.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from . import lowers
from ._dot import pack_rows
from ._dtypes import FLOAT
from ._move import emit_move, strides_of
from ._select import selected
from ._windows import Windows, auto_pad
from .conv import Convolution, emit_conv


@dataclass
class Dim:
    """One spatial dimension of a ConvTranspose."""

    d_in: int
    d_out: int
    kernel: int
    stride: int
    dilation: int
    pad: int


@dataclass
class Phase:
    """The outputs with one remainder by the stride.

    Attributes:
        first: index of the first output; further ones follow at distances of the stride.
        count: number of outputs.
        taps: the taps that they use, last one first.
        pad: padding of the convolution that computes them.
        dilation: dilation of that convolution.
    """

    first: int
    count: int
    taps: list[int]
    pad: int
    dilation: int


@lowers("ConvTranspose")
def lower_conv_transpose(node):
    """Lower ConvTranspose of all opsets with one to three spatial dimensions, any group."""
    node.require_dtype(FLOAT)
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    groups = node.attr("group", 1)
    if x.shape[1] % groups:
        raise Problem("channels are not a multiple of group")
    dims = dims_of(node, x, w, out)
    x = node.reshaped(x, (*x.shape[:2], *(d.d_in for d in dims)))
    w = node.reshaped(w, (*w.shape[:2], *(d.kernel for d in dims)))
    for phases in itertools.product(*[phases_of(d) for d in dims]):
        _emit_phase(node, x, w, groups, dims, phases)


def dims_of(node, x: Tensor, w: Tensor, out: Tensor) -> list[Dim]:
    """Return the three spatial dimensions of a node. Added dimensions of 1 come first."""
    rank = len(x.shape) - 2
    if not 1 <= rank <= 3:
        raise Problem(f"{rank} spatial dimensions", "1 to 3 are supported")
    strides, dilations = node.attr("strides", [1] * rank), node.attr("dilations", [1] * rank)
    extra, pads = node.attr("output_padding", [0] * rank), node.attr("pads", [0] * rank)
    auto = auto_pad(node)
    dims = [Dim(1, 1, 1, 1, 1, 0)] * (3 - rank)
    for i in range(rank):
        d_in, d_out, kernel = x.shape[2 + i], out.shape[2 + i], w.shape[2 + i]
        pad = pads[i]
        if auto.startswith("SAME") or node.attr("output_shape") is not None:
            reach = strides[i] * (d_in - 1) + extra[i] + (kernel - 1) * dilations[i] + 1
            total = max(reach - d_out, 0)
            pad = total // 2 if auto == "SAME_UPPER" else total - total // 2
        elif auto == "VALID":
            pad = 0
        dims.append(Dim(d_in, d_out, kernel, strides[i], dilations[i], pad))
    return dims


def phases_of(dim: Dim) -> list[Phase]:
    """Return a phase for each remainder of the outputs by the stride."""
    common = math.gcd(dim.stride, dim.dilation)
    phases = []
    for r in range(min(dim.stride, dim.d_out)):
        offset = r + dim.pad
        taps = [k for k in range(dim.kernel) if (offset - k * dim.dilation) % dim.stride == 0][
            ::-1
        ]
        pad = -((offset - taps[0] * dim.dilation) // dim.stride) if taps else 0
        count = -(-(dim.d_out - r) // dim.stride)
        phases.append(Phase(r, count, taps, pad, dim.dilation // common))
    return phases


def _emit_phase(node, x, w, groups, dims, phases):
    """Emit the convolution for one phase: output elements at the same offset within the strides.

    Args:
        node: the node to lower.
        x: the input.
        w: the weights.
        groups: number of groups.
        dims: the three spatial Dims.
        phases: the Phase of each of them.
    """
    n, m = x.shape[0], w.shape[1]
    whole = strides_of((n, groups * m, *(d.d_out for d in dims)))
    first = sum(p.first * s for p, s in zip(phases, whole[2:], strict=True))
    strides = whole[:2] + [d.stride * s for d, s in zip(dims, whole[2:], strict=True)]
    shape = (n, groups * m, *(p.count for p in phases))
    bias = node.input(2)
    if any(not p.taps for p in phases):
        fill = bias or node.constant(np.zeros(1, np.float32))
        emit_move(
            node.emit,
            fill,
            node.outputs[0],
            shape,
            [0, int(bias is not None), 0, 0, 0],
            strides,
            0,
            first,
        )
        return
    taps = [p.taps for p in phases]
    picked = selected(node, w, [range(w.shape[0]), range(w.shape[1]), *taps])
    grouped = node.reshaped(picked, (groups, w.shape[0] // groups, *picked.shape[1:]))
    packed = pack_rows(node, grouped, [0, 2], [1, 3, 4, 5], bias)
    windows = Windows(
        [d.d_in for d in dims],
        [len(t) for t in taps],
        [p.count for p in phases],
        [1, 1, 1],
        [p.dilation for p in phases],
        [p.pad for p in phases],
        [0, 0, 0],
    )
    conv = Convolution(windows, groups, bias is not None, shape, strides, first)
    emit_conv(node, x, packed, conv, node.outputs[0])
