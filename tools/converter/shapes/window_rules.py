"""Rules for shapes of convolutions, pools and similar operators (see extent_rules)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx

from ..errors import ConvertError
from ..protos import attributes_of, name_of
from . import extent

INT32, INT64 = onnx.TensorProto.INT32, onnx.TensorProto.INT64


def conv(p, node, x, w, *_):
    """Infer the output of Conv."""
    return [(x[0], [x[1][0], w[1][0], *_spatial(node, x[1][2:], w[1][2:])])]


def qlinear_conv(p, node, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, *_):
    """Infer the output of QLinearConv."""
    return [(y_zero[0], conv(p, node, x, w)[0][1])]


def conv_integer(p, node, x, w, *_):
    """Infer the output of ConvInteger."""
    return [(INT32, conv(p, node, x, w)[0][1])]


def conv_transpose(p, node, x, w, *_):
    """Infer the output of ConvTranspose."""
    a, kernel, n = attributes_of(node), w[1][2:], len(w[1]) - 2
    strides, dilations = a.get("strides", [1] * n), a.get("dilations", [1] * n)
    pads, more = a.get("pads", [0] * 2 * n), a.get("output_padding", [0] * n)
    auto = a.get("auto_pad", b"NOTSET")
    if "output_shape" in a:
        return None
    dims = []
    for i, d in enumerate(x[1][2:]):
        reach = (d - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 + more[i]
        if auto.startswith(b"SAME"):
            dims.append(extent.smaller(reach, d * strides[i]))
        else:
            dims.append(reach - (0 if auto == b"VALID" else pads[i] + pads[n + i]))
    return [(x[0], [x[1][0], w[1][1] * a.get("group", 1), *dims])]


def same_shape(p, node, x, *_):
    """Infer an output of the input's dtype and shape."""
    return [x]


def pool(p, node, x, *_):
    """Infer the outputs of MaxPool, AveragePool and LpPool."""
    dtype, dims = x
    rank = len(attributes_of(node)["kernel_shape"])
    if len(dims) != rank + 2:
        text = f"kernel_shape of {node.op_type} {name_of(node)} has {rank} dims, its input"
        raise ConvertError(f"the model is inconsistent: {text} {len(dims)}")
    shape = [*dims[:2], *_spatial(node, dims[2:], None)]
    return [(dtype, shape), (INT64, shape)][: len(node.output)]


def max_unpool(p, node, x, *_):
    """Infer the output of MaxUnpool with output_shape."""
    shape = p.input_contents(node, 2)
    return None if shape is None else [(x[0], shape.tolist())]


def stft(p, node, signal, *_):
    """Infer the output of STFT: frames within the signal; one-sided, half of the bins plus one."""
    dtype, (batch, samples, *parts) = signal
    step, length = p.input_contents(node, 1), p.input_contents(node, 3)
    window = p.known.get(node.input[2]) if len(node.input) > 2 else None
    n = window[1][0] if window else None if length is None else length.item()
    if step is None or n is None:
        return None
    if attributes_of(node).get("onesided", 1):
        if parts == [2]:
            text = f"STFT {name_of(node)}: onesided, 1 by default, is for real samples"
            raise ConvertError(f"the model is inconsistent: {text}")
        bins = n // 2 + 1
    else:
        bins = n
    return [(dtype, [batch, (samples - n) // step.item() + 1, bins, 2])]


def global_pool(p, node, x):
    """Infer the output of a global pool."""
    return [(x[0], [*x[1][:2], *[1] * (len(x[1]) - 2)])]


def depth_to_space(p, node, x):
    """Infer the output of DepthToSpace."""
    (dtype, (n, c, h, w)), size = x, attributes_of(node)["blocksize"]
    return [(dtype, [n, c // size**2, h * size, w * size])]


def space_to_depth(p, node, x):
    """Infer the output of SpaceToDepth."""
    (dtype, (n, c, h, w)), size = x, attributes_of(node)["blocksize"]
    return [(dtype, [n, c * size**2, h // size, w // size])]


def pad(p, node, x, *_):
    """Infer the output of Pad."""
    dtype, dims = x
    pads = attributes_of(node).get("pads") or p.input_contents(node, 1)
    axes = p.input_contents(node, 3)
    if pads is None or len(node.input) > 3 and node.input[3] and axes is None:
        return None
    result = list(dims)
    axes = range(len(dims)) if axes is None else axes.tolist()
    for i, axis in enumerate(axes):
        result[axis] = result[axis] + int(pads[i]) + int(pads[i + len(axes)])
    return [(dtype, result)]


def split(p, node, x, *_):
    """Infer the outputs of Split; without sizes, only the last part may be smaller."""
    dtype, dims = x
    axis = attributes_of(node).get("axis", 0) % len(dims)
    sizes = attributes_of(node).get("split", p.input_contents(node, 1))
    if extent.any_open([dims[axis]] if sizes is None else sizes):
        return None
    if sizes is None:
        n = len(node.output)
        part = -(-dims[axis] // n)
        sizes = [part] * (n - 1) + [dims[axis] - part * (n - 1)]
    return [(dtype, [*dims[:axis], int(n), *dims[axis + 1 :]]) for n in sizes]


def resize(p, node, x, *_):
    """Infer the output of Resize with constant scales; dims that a run decides have scale 1."""
    dtype, dims = x
    a = attributes_of(node)
    scales = p.constant_input(node, 2 if len(node.input) > 2 else 1)
    if scales is None or len(scales) != len(dims) or "axes" in a:
        return None
    result = scaled_dims(dims, scales)
    return None if None in result else [(dtype, result)]


def scaled_dims(dims: Sequence[int], scales: Sequence[float]) -> list[int | None]:
    """Return dims times scales, rounded down; None for a dim of runs whose scale is not 1."""
    return [
        (d if s == 1 else None) if extent.is_open(d) else math.floor(d * s)
        for d, s in zip(dims, scales, strict=True)
    ]


def _spatial(node, dims, kernel):
    """Return spatial dims by ONNX's formula; misjudged.py explains ceil_mode."""
    a, is_pool = attributes_of(node), kernel is None
    kernel = a.get("kernel_shape", kernel)
    n = len(dims)
    strides, dilations = a.get("strides", [1] * n), a.get("dilations", [1] * n)
    auto, pads = a.get("auto_pad", b"NOTSET"), a.get("pads", [0] * 2 * n)
    if auto == b"VALID":
        pads = [0] * 2 * n
    result = []
    for i, d in enumerate(dims):
        if auto.startswith(b"SAME"):
            result.append(-(-d // strides[i]))
            continue
        padded = d + pads[i]
        rest = padded + pads[n + i] - (kernel[i] - 1) * dilations[i] - 1
        if a.get("ceil_mode"):  # no window begins in the padding at the end
            result.append(extent.smaller(-(-rest // strides[i]) + 1, -(-padded // strides[i])))
        elif is_pool and not extent.is_open(rest) and rest < 0:  # like onnx; lowering refuses it
            result.append(max(1 - -rest // strides[i], 0))
        else:
            result.append(rest // strides[i] + 1)
    return result
