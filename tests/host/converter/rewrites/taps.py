"""Models with taps: 1 to 3 intermediate values read once more, right behind their producer.

A rewrite that makes one node of several must serve a reader that stands between them. A tap is a
node whose result is an output (Identity, Neg, Relu, or Concat of the value with itself), or the
value itself as an output.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from tools.converter.protos import copied, free_inputs, set_all

_SIGNED = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT32, TensorProto.INT64)
_MOST = 3


def tappable(model: onnx.ModelProto) -> dict[str, onnx.TypeProto.Tensor]:
    """Return the types of the values that a tap may read, by name, for a model with all types."""
    graph = model.graph
    outputs = {o.name for o in graph.output}
    nodes = [node for node in graph.node if node.op_type != "Constant"]
    made = {name for node in nodes for name in node.output if name} - outputs
    infos = [v for v in graph.value_info if v.name in made and v.type.HasField("tensor_type")]
    types = {v.name: v.type.tensor_type for v in infos}
    return {name: t for name, t in types.items() if t.elem_type and _is_fixed(t)}


def _is_fixed(t):
    return t.HasField("shape") and all(d.dim_value > 0 for d in t.shape.dim)


def tapped(model: onnx.ModelProto, rng: np.random.Generator) -> onnx.ModelProto:
    """Return a copy with taps; the model itself if it has no value for one."""
    types = tappable(model)
    if not types:
        return model
    n = int(rng.integers(1, min(_MOST, len(types)), endpoint=True))
    result = copied(model)
    for i, name in enumerate(rng.choice(sorted(types), n, replace=False)):
        _tap(result, str(name), types[str(name)], f"tap{i}", rng)
    return result


def _tap(model, name, t, out, rng):
    kinds = ["itself", "Identity"]
    kinds += ["Concat"] if t.shape.dim else []
    kinds += ["Neg"] if t.elem_type in _SIGNED else []
    kinds += ["Relu"] if t.elem_type == TensorProto.FLOAT else []
    kind = str(rng.choice(kinds))
    dims = [d.dim_value for d in t.shape.dim]
    if kind == "itself":
        model.graph.output.append(helper.make_tensor_value_info(name, t.elem_type, dims))
        return
    attributes = {}
    inputs = [name]
    if kind == "Concat":
        axis = int(rng.integers(len(dims)))
        inputs, attributes = [name, name], {"axis": axis}
        dims[axis] *= 2
    node = helper.make_node(kind, inputs, [out], out, **attributes)
    nodes = list(model.graph.node)
    at = next(i for i, one in enumerate(nodes) if name in one.output)
    set_all(model.graph.node, [*nodes[: at + 1], node, *nodes[at + 1 :]])
    model.graph.output.append(helper.make_tensor_value_info(out, t.elem_type, dims))


def drawn(model: onnx.ModelProto, rng: np.random.Generator) -> dict[str, np.ndarray] | None:
    """Return random inputs by name; None where a dtype has no random numbers here."""
    values = {}
    for info in free_inputs(model.graph):
        t = info.type.tensor_type
        shape = [d.dim_value for d in t.shape.dim]
        if t.elem_type == TensorProto.STRING or not t.elem_type:
            return None
        dtype = helper.tensor_dtype_to_np_dtype(t.elem_type)
        if dtype.kind == "f":
            values[info.name] = rng.standard_normal(shape).astype(dtype)
        elif dtype.kind == "b":
            values[info.name] = rng.random(shape) < 0.5
        elif dtype.itemsize == 1:
            ends = np.iinfo(dtype)
            values[info.name] = rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)
        else:
            values[info.name] = rng.integers(0, 5, shape).astype(dtype)
    return values
