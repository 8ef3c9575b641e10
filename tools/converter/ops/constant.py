"""Lower operators whose result is mostly known at conversion.

These are Constant, Shape, Size, Range, EyeLike and ConstantOfShape. At level 0 of --optimize the
device computes them all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..shapes import extent
from ..shapes.extent import is_open, larger, smaller
from . import lowers
from ._extents import emit_measure, store
from ._move import emit_fill, emit_move

_RANGE_DTYPES = (1, 11, 5, 6, 7)


@lowers("Constant")
def lower_constant(node):
    """Lower a Constant that is a graph output; all others have become initializers before."""
    out, sparse, dense = node.outputs[0], node.attr("sparse_value"), node.attr("value")
    if sparse is not None:
        out.data = _dense(sparse)
    elif dense is not None:
        out.data = numpy_helper.to_array(dense)
    else:
        names = ("value_float", "value_floats", "value_int", "value_ints")
        value = next(v for v in map(node.attr, names) if v is not None)
        out.data = np.asarray(value, out.np_dtype)


def _dense(sparse):
    """Return a SparseTensorProto as an array. It has flat indices, or rows of coordinates."""
    values = numpy_helper.to_array(sparse.values)
    index = numpy_helper.to_array(sparse.indices)
    data = np.zeros(tuple(sparse.dims), values.dtype)
    if index.ndim == 1:
        data.reshape(-1)[index] = values
    else:
        data[tuple(index.T)] = values
    return data


@lowers("Shape")
def lower_shape(node):
    """Lower Shape. Attributes start and end (opset 15) are clamped as in a Python slice."""
    x, out = node.inputs[0], node.outputs[0]
    first, end, _ = slice(node.attr("start", 0), node.attr("end")).indices(len(x.shape))
    if node.is_kept:
        node.emit("shape", [x], [out], first=first, n=max(end - first, 0))
    else:
        out.data = np.array(x.shape[first:end], np.int64)


@lowers("Size")
def lower_size(node):
    x, out = node.inputs[0], node.outputs[0]
    if node.is_kept:
        node.emit("shape", [x], [out])
    else:
        out.data = np.array(x.nelem, np.int64)


def fold_known(node) -> bool:
    """Compute the output at conversion if all inputs are known, unless the level is 0.

    Constant folding has done most such nodes; it omits some, such as large ones. Returns False if
    the output is not computed.
    """
    if node.is_kept or any(t.data is None for t in node.inputs):
        return False
    out = node.outputs[0]
    values = [t.data for t in node.inputs]
    out.data = evaluate(node, values)[0].astype(out.np_dtype).reshape(out.shape)
    return True


@lowers("Range", fixes_shape=(0, 1, 2), at_run_time=(0, 1, 2))
def lower_range(node):
    """Lower Range. Its length is known, follows from shapes, or is found by the kernel."""
    if fold_known(node):
        return
    node.require_dtype(*_RANGE_DTYPES)
    out = node.outputs[0]
    n = out.shape[0]
    if extent.is_own(n, node.proto.output[0]):
        node.emit("range", node.inputs, [store(node, out)], count=[extent.number_of(n)])
    else:
        node.emit("range", node.inputs, [out], count=[])


def evaluate(node, values: Sequence[np.ndarray | None]) -> list[np.ndarray | None]:
    """Return the node's outputs for these inputs, by onnx's reference evaluator."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    names = [f"x{i}" if v is not None else "" for i, v in enumerate(values)]
    del proto.input[:]
    proto.input.extend(names)
    outputs = [f"y{i}" if name else "" for i, name in enumerate(proto.output)]
    del proto.output[:]
    proto.output.extend(outputs)
    inputs = {n: np.asarray(v) for n, v in zip(names, values, strict=True) if n}
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for n, v in inputs.items()
    ]
    from onnx.reference import ReferenceEvaluator

    outs = [helper.make_tensor_value_info(n, onnx.TensorProto.INT64, None) for n in outputs if n]
    graph = helper.make_graph([proto], "known", infos, outs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", node.opset)])
    results = iter(ReferenceEvaluator(model).run(None, inputs))
    return [next(results) if n else None for n in outputs]


@lowers("EyeLike")
def lower_eye_like(node):
    """Lower EyeLike, which needs only the shape of its input."""
    out, k = node.outputs[0], node.attr("k", 0)
    if not (node.is_kept or out.is_open):
        out.data = np.eye(*out.shape, k=k, dtype=out.np_dtype)
        return
    rows, columns = out.shape
    emit_fill(node, node.constant(np.zeros(1, out.np_dtype)), out)
    n = larger(smaller(rows + min(k, 0), columns - max(k, 0)), 0)
    if is_open(n) or n > 0:
        first = max(k, 0) - min(k, 0) * columns
        one = node.constant(np.ones(1, out.np_dtype))
        emit_move(node.emit, one, out, [n], [0], [columns + 1], 0, first)


@lowers("ConstantOfShape", fixes_shape=(0,), at_run_time=(0,))
def lower_constant_of_shape(node):
    """Lower ConstantOfShape: large ones, which are filled in the run rather than stored."""
    out, value = node.outputs[0], node.attr("value")
    emit_measure(node, 0, out.shape)
    data = numpy_helper.to_array(value) if value is not None else np.zeros(1, np.float32)
    emit_fill(node, node.constant(data.astype(out.np_dtype)), out)
