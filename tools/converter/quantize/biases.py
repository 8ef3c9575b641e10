"""Biases as onnxruntime's quantizer takes them: a vector of one number for each channel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import numpy_helper

from ..protos import attribute


def as_vectors(graph: onnx.GraphProto) -> list[str]:
    """Make a vector of each Gemm's C in place; return the names of nodes that must stay float.

    These are Gemm with different numbers for its rows, and ConvTranspose of groups, which has more
    biases than scales of weights.
    """
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    stays = []
    for node in graph.node:
        if len(node.input) < 3 or any(name not in constants for name in node.input[1:]):
            continue
        fits = True
        if node.op_type == "ConvTranspose":
            fits = attribute(node, "group", 1) == 1
        elif node.op_type == "Gemm":
            fits = _as_vector(graph, node, constants)
        if not fits:
            stays.append(node.name)
    return stays


def _as_vector(graph, node, constants: Mapping[str, np.ndarray]) -> bool:
    weights, c = (constants[name] for name in node.input[1:])
    channels = weights.shape[attribute(node, "transB", 0) - 1]
    if c.ndim > 1 and c.shape[-2] > 1:
        return False
    if c.shape != (channels,):
        vector = np.ascontiguousarray(np.broadcast_to(c.reshape(-1), (channels,)))
        node.input[2] = f"{node.output[0]}/bias"
        graph.initializer.append(numpy_helper.from_array(vector, node.input[2]))
    return True
