"""Constants between floats and integers are computed at conversion.

1. Q of a constant becomes integers: weights that a file has in float, with Q and DQ behind them.
2. DQ of a constant that only floats are made of becomes floats: by tensor, by axis, or by block.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
from onnx import helper

from .qdq_graph import Graph
from .qdq_terms import attribute, is_dq, is_q


def quantize_constants(graph: Graph) -> bool:
    """Rule 1; True if it found one."""
    found = [node for node in graph.nodes.copy() if is_q(node) and _is_constant(graph, node)]
    for node in found:
        values, (scale, zero) = graph.array(node.input[0]), _parameters(graph, node)
        dtype = helper.tensor_dtype_to_np_dtype(graph.dtype(node.output[0]))
        limits = ml_dtypes.iinfo(dtype)
        level = np.rint(values / scale) + (0 if zero is None else zero.astype(np.float32))
        graph.set_constant(node, np.clip(level, limits.min, limits.max).astype(dtype))
    return bool(found)


def unquantize(model: onnx.ModelProto) -> bool:
    """Rule 2, on what nothing else has a use for; True if it found one."""
    graph = Graph(model)
    found = [node for node in graph.nodes.copy() if is_dq(node) and _is_constant(graph, node)]
    for node in found:
        values, (scale, zero) = graph.array(node.input[0]), _parameters(graph, node)
        wide = _wide(values) if zero is None else _wide(values) - _wide(zero)
        graph.set_constant(node, (wide.astype(np.float32) * scale).astype(np.float32))
    if found:
        graph.finish()
    return bool(found)


def _is_constant(graph, node):
    """True where all is known, in float32, and nothing outside needs the result."""
    inputs = [graph.array(name) for name in node.input if name]
    if graph.is_kept(node.output[0]) or any(v is None for v in inputs):
        return False
    floats = inputs[:2] if is_q(node) else inputs[1:2]
    return all(v.dtype == np.float32 for v in floats)


def _parameters(graph, node):
    """Scale and zero point (None if there is none) with shapes that broadcast to the values."""
    like = graph.array(node.input[0])
    found = [graph.array(name) for name in node.input[1:] if name]
    scale, zero = [_spread(v, like, node) for v in found] + [None] * (2 - len(found))
    return scale, zero


def _spread(v, like, node):
    axis, block = attribute(node, "axis", 1), attribute(node, "block_size", 0)
    if block:
        return np.repeat(v, block, axis)[tuple(slice(d) for d in like.shape)]
    if v.size == 1:
        return v.reshape(())
    shape = [1] * like.ndim
    shape[axis] = -1
    return v.reshape(shape)


def _wide(values):
    """Integers as int64, floats of 8 bits and less as float32."""
    is_whole = values.dtype.name.startswith(("int", "uint"))
    return values.astype(np.int64 if is_whole else np.float32)
