"""Cross-layer weight equalization (Nagel et al. 2019, "Data-Free Quantization", section 4.1).

relu(s * x) is s * relu(x) for s > 0: where one layer's channels feed only the next, a channel that
is large in one and small in the other can be scaled so that both use their range alike.

    1. Conv -> (Relu, LeakyRelu or nothing) -> Conv, regular or depthwise, constant weights
    2. s_i = sqrt(r1_i / r2_i), where r is the largest |weight| of channel i; the first layer's
       rows and bias are divided by s, the second's columns multiplied
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import onnx
from onnx import numpy_helper

from ..protos import attribute, copied

_HOMOGENEOUS = ("Relu", "LeakyRelu")
_ROUNDS = 10  # over all pairs: a layer is in two of them


def equalize(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of the model that computes the same, with equalized weights."""
    copy = copied(model)
    weights = {t.name: numpy_helper.to_array(t).copy() for t in copy.graph.initializer}
    pairs = list(_pairs(copy.graph, weights))
    for _ in range(_ROUNDS):
        for first, second in pairs:
            _balance(first, second, weights)
    for t in copy.graph.initializer:
        t.CopyFrom(numpy_helper.from_array(weights[t.name], t.name))
    return copy


def _pairs(graph, weights):
    readers = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            readers[name].append(node)
    for o in graph.output:
        readers[o.name].append(None)
    for first in graph.node:
        following = _only(readers[first.output[0]])
        if following is not None and following.op_type in _HOMOGENEOUS:
            following = _only(readers[following.output[0]])
        if all(n is not None and _is_plain(n, weights, readers) for n in (first, following)):
            yield first, following


def _only(nodes):
    return nodes[0] if len(nodes) == 1 else None


def _is_plain(node, weights, readers):
    """Return True for a Conv with weights of its own, regular or depthwise."""
    if node.op_type != "Conv" or any(name not in weights for name in node.input[1:] if name):
        return False
    shared = any(len(readers[name]) > 1 for name in node.input[1:])
    return not shared and (
        attribute(node, "group", 1) == 1 or weights[node.input[1]].shape[1] == 1
    )


def _balance(first, second, weights):
    w, v = weights[first.input[1]], weights[second.input[1]]
    if w.dtype != np.float32 or v.dtype != np.float32:
        return
    depthwise = attribute(second, "group", 1) > 1
    if (v.shape[0] if depthwise else v.shape[1]) != w.shape[0]:
        return  # a depthwise layer that makes several channels of one
    columns = v if depthwise else v.swapaxes(0, 1)
    largest = [np.abs(x).reshape(len(x), -1).max(axis=1) for x in (w, columns)]
    used = (largest[0] > 0) & (largest[1] > 0)
    s = np.sqrt(
        largest[0] / np.where(used, largest[1], 1), where=used, out=np.ones_like(largest[0])
    )
    s = s.astype(np.float32)
    w /= s.reshape(-1, *[1] * (w.ndim - 1))
    columns *= s.reshape(-1, *[1] * (v.ndim - 1))
    if len(first.input) > 2 and first.input[2]:
        weights[first.input[2]] /= s
