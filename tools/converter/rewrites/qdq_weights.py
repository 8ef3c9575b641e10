"""Constants that only floats are made of become float constants.

1. DQ of a constant is computed: by tensor, by axis, or by block.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper

from .qdq_graph import Graph, attribute, is_dq


def unquantize(model: onnx.ModelProto) -> bool:
    """Applies the rule to every node; True if it did."""
    graph = Graph(model)
    found = [node for node in graph.nodes if is_dq(node) and _is_constant(graph, node)]
    for node in found:
        values = _computed(graph, node)
        model.graph.initializer.append(numpy_helper.from_array(values, node.output[0]))
        graph.replace(node, [])
    if found:
        graph.finish()
    return bool(found)


def _is_constant(graph, node):
    inputs = [graph.array(name) for name in node.input if name]
    is_out = graph.is_kept(node.output[0])
    return not is_out and all(v is not None for v in inputs) and inputs[1].dtype == np.float32


def _computed(graph, node):
    values, scale = graph.array(node.input[0]), graph.array(node.input[1])
    zero = graph.array(node.input[2]) if len(node.input) > 2 and node.input[2] else None
    axis = attribute(node, "axis", 1)
    scale, zero = (v if v is None else _spread(v, values, node, axis) for v in (scale, zero))
    wide = values.astype(np.int64) if values.dtype.kind in "iu" else _as_wide(values)
    if zero is not None:
        wide = wide - _as_wide(zero)
    return (wide.astype(np.float32) * scale).astype(np.float32)


def _as_wide(values):
    """Floats of 8 bits and less as float32, integers as int64."""
    as_float = values.astype(np.float32)
    is_whole = values.dtype.name.startswith(("int", "uint"))
    return values.astype(np.int64) if is_whole else as_float


def _spread(v, values, node, axis):
    """A scale or zero point with a shape that broadcasts to the values."""
    block = attribute(node, "block_size", 0)
    if block:
        return np.repeat(v, block, axis)[tuple(slice(d) for d in values.shape)]
    if v.size == 1:
        return v.reshape(())
    shape = [1] * values.ndim
    shape[axis] = -1
    return v.reshape(shape)
