"""How large a constant would get, before it is computed.

A constant that is much larger than what it is made of stays a step of the device, which makes it
where it is needed: Expand, Tile, Pad, Range, or Concat of a value with itself over and over.
"""

from __future__ import annotations

import math

import numpy as np
import onnx
import onnx_ir
from onnx import defs, shape_inference

_SMALL = 1 << 16  # bytes of a constant that may be made of anything
_FACTOR = 16  # by which a larger one may exceed what it is made of
_MOST = 16 << 20  # bytes
_READ = 1 << 10  # elements of an input that sizes may follow from
# Their results' shapes follow from what they read, and are no larger than that by their rank.
_PICKING = ("NonZero", "Unique", "Compress")


def is_small(node: onnx_ir.Node, opset: int) -> bool:
    """True if its outputs, of constants, are worth a place in the file. opset: of its domain."""
    given = [x.const_value for x in node.inputs if x is not None]
    nbytes = sum(t.nbytes for t in given)
    if node.op_type in _PICKING:
        return nbytes * max((len(t.shape) for t in given), default=1) <= _MOST
    try:
        sizes = _range_sizes(given) if node.op_type == "Range" else _sizes(node, opset)
    except Exception:  # onnx raises several kinds for a node that makes no sense
        return False
    made = math.inf if None in sizes else sum(sizes)
    return made <= _SMALL or made <= min(_FACTOR * nbytes, _MOST)


def _sizes(node, opset):
    """Bytes of each output, None where they do not follow."""
    schema = defs.get_schema(node.op_type, opset, node.domain)
    proto = onnx_ir.to_proto(node)
    types, data = {}, {}
    for x in node.inputs:
        if x is not None:
            t = x.const_value
            types[x.name] = onnx.helper.make_tensor_type_proto(int(t.dtype), list(t.shape))
            if t.size <= _READ:
                data[x.name] = onnx_ir.to_proto(t)
    opsets = [onnx.helper.make_opsetid(node.domain, opset)]
    found = shape_inference.infer_node_outputs(schema, proto, types, data, opset_imports=opsets)
    return [_nbytes(found.get(out.name)) for out in node.outputs if out.name]


def _range_sizes(given):
    """Of Range, which the evaluator takes lists of one item for; onnx's inference does not."""
    start, limit, delta = (t.numpy().item() for t in given)
    return [max(0, math.ceil((limit - start) / delta)) * given[0].numpy().itemsize]


def _nbytes(kind):
    tensor = kind.tensor_type if kind is not None else None
    if tensor is None or not tensor.HasField("shape"):
        return None
    if any(not d.HasField("dim_value") for d in tensor.shape.dim):
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    size = np.dtype(dtype).itemsize
    return math.prod(d.dim_value for d in tensor.shape.dim) * size
