"""Conv -> kernel conv."""

from __future__ import annotations

import math

from ..errors import Problem
from ..ir import Tensor
from . import lowers
from ._dot import pack_rows
from ._move import strides_of
from ._windows import windows_of

FLOAT = 1


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
    emit_conv(node, x, packed, windows, group, bias is not None, shape, out=out)


def emit_conv(
    node, x, packed, windows, groups, has_bias, out_shape, first=0, strides=None, out=None
):
    """One call of the kernel. out_shape: (N, channels, z, y, x); first, strides: in elements."""
    n, channels = x.shape[:2]
    c, m = channels // groups, out_shape[1] // groups
    k = c * math.prod(windows.kernel)
    params = [n, groups, c, *windows.in_dims, m, *windows.kernel, *windows.out_dims, int(has_bias)]
    params += [*windows.strides, *windows.dilations, first, *(strides or strides_of(out_shape))]
    params += windows.pads
    macs = math.prod(out_shape) * k
    patch = node.temp(x.dtype, (k,))
    node.emit("conv", [x, packed], [out or node.outputs[0]], params, scratch=[patch], macs=macs)
