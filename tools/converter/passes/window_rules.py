"""Shapes of convolutions and pools over dims that a run decides (see extent_rules)."""

from __future__ import annotations

import onnx

INT64 = onnx.TensorProto.INT64


def conv(p, node, x, w, *_):
    return [(x[0], [x[1][0], w[1][0], *_spatial(node, x[1][2:], w[1][2:])])]


def pool(p, node, x, *_):
    dtype, dims = x
    shape = [*dims[:2], *_spatial(node, dims[2:], None)]
    return [(dtype, shape), (INT64, shape)][: len(node.output)]


def global_pool(p, node, x):
    return [(x[0], [*x[1][:2], *[1] * (len(x[1]) - 2)])]


def _spatial(node, dims, kernel):
    """ONNX's formula, by dimension."""
    a = {t.name: onnx.helper.get_attribute_value(t) for t in node.attribute}
    kernel = a.get("kernel_shape", kernel)
    n = len(dims)
    strides, dilations = a.get("strides", [1] * n), a.get("dilations", [1] * n)
    auto, pads = a.get("auto_pad", b"NOTSET"), a.get("pads", [0] * 2 * n)
    found = []
    for i, d in enumerate(dims):
        if auto.startswith(b"SAME"):
            found.append(-(-d // strides[i]))
            continue
        rest = d - (kernel[i] - 1) * dilations[i] - 1
        rest += 0 if auto == b"VALID" else pads[i] + pads[n + i]
        found.append((-(-rest // strides[i]) if a.get("ceil_mode") else rest // strides[i]) + 1)
    return found
