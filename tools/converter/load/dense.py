"""Sparse constants as dense ones: a board has no others."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..protos import bodies_of, name_of

_MOST_NBYTES = 64 << 20  # of one of them: a few bytes in a file may stand for any number


def make_dense(model: onnx.ModelProto) -> None:
    """Replace sparse initializers and Constants, in place, bodies included.

    Raises ValueError for one whose indices are not ascending or outside of its shape.
    """
    for graph in (model.graph, *model.functions):
        _make_dense(graph)


def _make_dense(graph):
    if isinstance(graph, onnx.GraphProto):
        graph.initializer.extend(_dense(s, s.values.name) for s in graph.sparse_initializer)
        del graph.sparse_initializer[:]
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.HasField("sparse_tensor"):
                value = _dense(attribute.sparse_tensor, name_of(node))
                attribute.CopyFrom(helper.make_attribute("value", value))
        for body in bodies_of(node):
            _make_dense(body)


def _dense(sparse: onnx.SparseTensorProto, name: str) -> onnx.TensorProto:
    values, indices = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    dims = list(sparse.dims)
    size = math.prod(dims)
    if not all(d > 0 for d in dims) or size * values.itemsize > _MOST_NBYTES:
        raise ValueError(f"sparse constant {name} has the shape {dims}")
    if indices.ndim == 2 and indices.shape[1] == len(dims):
        is_inside = ((0 <= indices) & (indices < dims)).all()
        indices = indices @ np.array(
            [math.prod(dims[i + 1 :]) for i in range(len(dims))], np.int64
        )
    else:
        is_inside = indices.ndim == 1 and ((0 <= indices) & (indices < size)).all()
    if values.shape != indices.shape or not is_inside or (np.diff(indices) <= 0).any():
        raise ValueError(f"sparse constant {name} has indices that do not fit its shape {dims}")
    dense = np.zeros(size, values.dtype)
    dense[indices] = values
    return numpy_helper.from_array(dense.reshape(dims), name)
