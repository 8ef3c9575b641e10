"""Read and write dtypes and shapes of values in a graph's declarations."""

from __future__ import annotations

from collections.abc import Iterable

import onnx
from onnx import helper

from tools.format import objects

from ..errors import ConvertError
from . import extent, extent_forms

# (ONNX dtype, dims, Extents among them)
Value = tuple[int, list[int]]


def known_values(graph: onnx.GraphProto) -> dict[str, Value]:
    """Return the types of tensors of known shape and of maps, by name."""
    known: dict[str, Value] = {t.name: (t.data_type, list(t.dims)) for t in graph.initializer}
    for info in [*graph.input, *graph.value_info, *graph.output]:
        value = value_of(info)
        if value is not None:
            known[info.name] = value
    return known


def value_of(info) -> Value | None:
    """Return a value's type if it is a tensor of known shape or a map, else None."""
    as_map = objects.dtype_of(info.type)
    if as_map is not None:
        return as_map, []
    t = info.type.tensor_type
    dims = shape_of(t)
    return None if not t.elem_type or dims is None else (t.elem_type, dims)


def shape_of(t: onnx.TypeProto.Tensor) -> list[int] | None:
    """Return the dims of a type, Extents where a run decides them, None if one is unknown."""
    if not t.HasField("shape"):
        return None
    dims = [
        d.dim_value if d.HasField("dim_value") else extent_forms.parsed(d.dim_param)
        for d in t.shape.dim
    ]
    if any(d is None or not isinstance(d, extent.Extent) and d < 0 for d in dims):
        return None
    return dims


def all_fixed(graph: onnx.GraphProto) -> bool:
    """Return True if each value that a node computes is a tensor of fixed shape."""
    known = known_values(graph)
    names = (name for node in graph.node for name in node.output if name)
    return all(n in known and not any(map(extent.is_open, known[n][1])) for n in names)


def declare(graph, name, value):
    """Declare the type of a value, in place; return True if that changed it.

    Raises:
        ConvertError: if no value can have the shape.
    """
    dtype, dims = value
    if any(not extent.is_open(d) and not objects.OPEN <= d < 1 << 63 for d in dims):
        raise ConvertError(f"the model is inconsistent: {name} would have shape {[*dims]}")
    value = dtype, extent_forms.symbols(dims)
    for values in (graph.output, graph.value_info):
        for info in values:
            if info.name == name:
                before = info.SerializeToString(deterministic=True)
                info.CopyFrom(helper.make_tensor_value_info(name, *value))
                return before != info.SerializeToString(deterministic=True)
    graph.value_info.append(helper.make_tensor_value_info(name, *value))
    return True


def declare_new(
    graph: onnx.GraphProto,
    node: onnx.NodeProto,
    values: Iterable[Value | None],
    known: dict[str, Value],
) -> bool:
    """Declare the outputs of a node that are unknown so far; return True if the graph changed.

    Strings of an open shape never become known (see known_values). They come here each time, and
    change nothing from the second time on.

    Args:
        graph: changed in place.
        node: the node.
        values: types of its outputs in order, None if unknown.
        known: types of values by name, extended in place.
    """
    new = {
        name: value
        for name, value in zip(node.output, values, strict=False)
        if name and value is not None and name not in known
    }
    changes = [declare(graph, name, value) for name, value in new.items()]
    known |= new
    return any(changes)
