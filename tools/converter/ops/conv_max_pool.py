"""Lower mpconnxr:ConvMaxPool, which a rewrite for boards makes, to kernel conv_max_pool.

It is MaxPool(activation(Conv(X, W, B))) with windows that do not overlap. If the kernel does not
serve it, the three are lowered one by one.
"""

from __future__ import annotations

import math

from ..ir import Tensor
from . import OWN, lowers
from ._block import is_block
from ._dot import pack_rows
from ._dtypes import FLOAT, INT32, UINT32
from ._elementwise import float_bits
from ._microsoft import as_onnx
from ._move import strides_of
from ._pieces import grow, set_cut, words_for
from ._windows import Windows, windows_of
from .conv import Convolution, conv_constants, emit_conv, groups_of
from .ms_fused import emit_fused_activation, limits_of


def _infer(node):
    [(dtype, shape)] = as_onnx(node, "Conv", node.inputs[:3], 11)
    pool = node.attr("pool")
    return [(dtype, [*shape[:2], *(d // k for d, k in zip(shape[2:], pool, strict=True))])]


@lowers("ConvMaxPool", domain=OWN, infer=_infer)
def lower_conv_max_pool(node):
    """Lower ConvMaxPool.

    Attribute pool has the extents of the windows, which are their strides. The activation is that
    of FusedConv.
    """
    node.require_dtype(FLOAT)
    x, w, bias, out = node.inputs[0], node.inputs[1], node.input(2), node.outputs[0]
    [(_, shape)] = as_onnx(node, "Conv", node.inputs[:3], 11)
    windows, group = windows_of(node, w.shape[2:], shape), groups_of(node, x, w)
    packed = pack_rows(node, w, [0], list(range(1, len(w.shape))), bias)
    full = (*shape[:2], *windows.out_dims)
    conv = Convolution(windows, group, bias is not None, full, strides_of(full))
    pool = [1] * (5 - len(shape)) + node.attr("pool")
    activation = node.attr("activation", "")
    constants = node.attr("activation_params", [])
    limits = limits_of(activation, constants) if activation else conv.clip
    one_call = packed.data is not None and is_block(node, x, packed, conv.k(x)) and limits
    if one_call and _is_about_as_large(windows):
        conv.clip = limits
        _emit(node, x, packed, conv, pool, out)
        return
    plane = node.temp(FLOAT, shape)
    emit_conv(node, x, packed, conv, plane)
    if activation:
        between = node.temp(FLOAT, shape)
        emit_fused_activation(node, activation, constants, plane, between)
        plane = between
    _emit_pool(node, plane, windows.out_dims, pool, out)


def _is_about_as_large(windows):
    """Return True if the output planes of a convolution are not much larger than the input's."""
    dims = zip(windows.in_dims, windows.kernel, windows.out_dims, strict=True)
    return all(out <= d + 2 * k for d, k, out in dims)


def _emit(node, x: Tensor, packed: Tensor, conv: Convolution, pool, out: Tensor):
    """Emit one step of conv_max_pool.

    Args:
        node: the node to lower.
        x: the input.
        packed: rows of weights, as for emit_conv.
        conv: the Convolution.
        pool: (1, rows, columns) of the pool's window.
        out: the output.
    """
    windows, k = conv.windows, conv.k(x)
    n, groups, m = x.shape[0], conv.groups, conv.out_shape[1] // conv.groups
    c, (_, ph, pw) = x.shape[1] // groups, pool
    oh, ow = (d // p for d, p in zip(windows.out_dims[1:], pool[1:], strict=True))
    params = {"n": n, "g": groups, "c": c, "m": m, **windows.named_2d}
    params |= {"oh": oh, "ow": ow, "pool": [ph, pw], "limits": list(map(float_bits, conv.clip))}
    weights = conv_constants(node, packed, conv, k)
    short = weights[0].dtype == UINT32
    words = set_cut("conv_max_pool", params, words_for(x.nbytes, out.nbytes), short)
    scratch = [node.temp(INT32, (words,))]
    macs = math.prod(conv.out_shape) * k
    node.emit(
        "conv_max_pool", [x, *weights], [out], scratch=scratch, macs=macs, grow=grow, **params
    )


def _emit_pool(node, plane, in_dims, pool, out):
    """Emit max_pool over the output planes of a convolution.

    Args:
        node: the node to lower.
        plane: the output of the convolution.
        in_dims: three spatial dims of it.
        pool: three sizes of the window, also its strides.
        out: the output.
    """
    out_dims = [d // p for d, p in zip(in_dims, pool, strict=True)]
    _, h, w = in_dims
    windows = Windows(in_dims, pool, out_dims, pool, [1, 1, 1], [0, 0, 0], [0, 0, 0])
    params = {"planes": math.prod(out.shape[:2]), "index_strides": [h * w, w, 1]}
    node.emit("max_pool", [plane], [out], **params, **windows.named)
