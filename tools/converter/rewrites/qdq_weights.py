"""Constants between floats and integers are computed at conversion.

1. Q of a constant becomes integers: weights that a file has in float, with Q and DQ behind them.
2. DQ of a single constant becomes a float: what computes with it may become a table then.
3. DQ of a constant that only floats are made of becomes floats: by tensor, by axis, or by block.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
from onnx import helper

from .qdq_graph import Graph
from .qdq_terms import attribute, is_dq, is_q


def compute_constants(graph: Graph) -> bool:
    """Rules 1 and 2; True if one did."""
    changed = False
    for node in graph.nodes.copy():
        if not (is_q(node) or is_dq(node)) or not _is_constant(graph, node):
            continue
        if is_q(node):
            graph.set_constant(node, _quantized(graph, node))
            changed = True
        elif graph.array(node.input[0]).size == 1:
            graph.set_constant(node, _dequantized(graph, node))
            changed = True
    return changed


def unquantize(model: onnx.ModelProto) -> bool:
    """Rule 3, on what nothing else has a use for; True if it did."""
    graph = Graph(model)
    found = [node for node in graph.nodes.copy() if is_dq(node) and _is_constant(graph, node)]
    for node in found:
        graph.set_constant(node, _dequantized(graph, node))
    if found:
        graph.finish()
    return bool(found)


def _quantized(graph, node):
    values, (scale, zero) = graph.array(node.input[0]), _parameters(graph, node)
    dtype = helper.tensor_dtype_to_np_dtype(graph.dtype(node.output[0]))
    limits = ml_dtypes.iinfo(dtype)
    level = np.rint(values / scale) + (0 if zero is None else zero.astype(np.float32))
    return np.clip(level, limits.min, limits.max).astype(dtype)


def _dequantized(graph, node):
    values, (scale, zero) = graph.array(node.input[0]), _parameters(graph, node)
    wide = _wide(values) if zero is None else _wide(values) - _wide(zero)
    return (wide.astype(np.float32) * scale).astype(np.float32)


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
