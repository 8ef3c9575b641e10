"""Axes and bounds in attributes of opsets before 11, counted from the front.

There, ONNX has no axes below zero for some operators, and onnx's inference gives them wrong
shapes or none. Old exporters write them, and onnxruntime takes them. Likewise, inference leaves a
Slice's sizes open whose bounds lie beyond its input, or whose axes are not in ascending order.
"""

from __future__ import annotations

import onnx
from onnx import shape_inference
from onnx.helper import make_attribute

from ..protos import attributes_of, bodies_of, nodes_of, set_all
from ..shapes import declarations, misjudged

_AXES_SINCE = 11  # the opset from which on all operators count from the end as well
_SLICE_BY_INPUTS_SINCE = 10


def count_from_front(model: onnx.ModelProto, opset: int) -> None:
    """Rewrite these attributes in place, where the input's dims are known.

    Args:
        model: with fixed inputs.
        opset: that of ONNX's domain.

    """
    if opset >= _AXES_SINCE:
        return
    todo = [node for node in nodes_of(model.graph) if _is_old(node, opset)]
    while todo:
        dims = _known_dims(model)
        left = [node for node in todo if not _rewrite(node, dims.get(node.input[0]))]
        if len(left) == len(todo):
            return
        todo = left


def _is_old(node, opset):
    if node.domain or not node.input:
        return False
    if node.op_type == "Slice" and opset < _SLICE_BY_INPUTS_SINCE:
        return True
    return any(axis < 0 for a in node.attribute for axis in _axes(a))


def _axes(attribute):
    if attribute.name == "axis":
        return [attribute.i]
    return list(attribute.ints) if attribute.name == "axes" else []


def _rewrite(node, dims):
    """Rewrite a node whose input has these dims, None if unknown; return True if that was done."""
    if dims is None:
        return False
    if node.op_type == "Slice" and not _clip_bounds(node, dims):
        return False
    rank = len(dims) + _new_axes(node)
    for a in node.attribute:
        found = [axis + rank if axis < 0 else axis for axis in _axes(a)]
        if a.name == "axes":
            a.ints[:] = found
        elif a.name == "axis":
            a.i = found[0]
    return True


def _new_axes(node):
    """Return how many axes the output has that the input lacks: axes count in the output."""
    if node.op_type == "Unsqueeze":
        return sum(len(_axes(a)) for a in node.attribute)
    return 1 if node.op_type == "OneHot" else 0


def _clip_bounds(node, dims):
    """Give a Slice bounds within its input, by ascending axes; return False if it stays."""
    a = attributes_of(node)
    starts, ends = a.get("starts", []), a.get("ends", [])
    axes = a.get("axes", range(len(starts)))
    if not starts or not len(starts) == len(ends) == len(axes):
        return True
    if not all(-len(dims) <= axis < len(dims) for axis in axes):
        return True
    found = []
    for axis, start, end in zip(axes, starts, ends, strict=True):
        size = dims[axis]
        if size is None:
            return False
        start = _within(start, size)
        found.append((axis % len(dims), start, max(_within(end, size), start)))
    names = ("axes", "starts", "ends")
    columns = zip(*sorted(found), strict=True)
    set_all(node.attribute, map(make_attribute, names, map(list, columns)))
    return True


def _within(bound, size):
    return min(max(bound + size if bound < 0 else bound, 0), size)


def _known_dims(model):
    """Return the dims of values by name, as far as onnx infers them rightly."""
    with misjudged.hidden(model):
        copy = declarations.without_outputs(model)
    try:
        graph = shape_inference.infer_shapes(copy, data_prop=True).graph
    except Exception:  # a model that contradicts itself, which is said later
        return {}
    found = {t.name: list(t.dims) for t in graph.initializer}
    bodies = [body for node in nodes_of(graph) for body in bodies_of(node)]
    for one in (graph, *bodies):
        for info in [*one.input, *one.value_info, *one.output]:
            if info.type.tensor_type.HasField("shape"):
                found[info.name] = [_size(d) for d in info.type.tensor_type.shape.dim]
    return found


def _size(dim):
    return dim.dim_value if dim.HasField("dim_value") else None
