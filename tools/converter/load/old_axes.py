"""Make axes and bounds in attributes of opsets before 11 count from the front.

In these opsets some operators know no negative axes, and onnx's inference gives them wrong shapes
or none. Old exporters write them, and onnxruntime accepts them. Likewise, inference leaves the
sizes of a Slice open if its bounds lie beyond its input or its axes do not ascend.
"""

from __future__ import annotations

import onnx
from onnx import shape_inference
from onnx.helper import make_attribute

from ..protos import attributes_of, bodies_of, nodes_of, set_all
from ..shapes import declarations, misjudged

_AXES_SINCE = 11  # the first opset where all operators know negative axes
_SLICE_BY_INPUTS_SINCE = 10


def count_from_front(model: onnx.ModelProto, opset: int) -> None:
    """Rewrite axes and bounds of old operators in place, if the dims of their input are known.

    Args:
        model: a model whose inputs have fixed shapes.
        opset: version of ONNX's domain.
    """
    if opset >= _AXES_SINCE:
        return
    pending = [node for node in nodes_of(model.graph) if _is_old(node, opset)]
    while pending:
        dims = _known_dims(model)
        rest = [node for node in pending if not _rewrite(node, dims.get(node.input[0]))]
        if len(rest) == len(pending):
            return
        pending = rest


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
    """Rewrite a node if possible, and return True if it was.

    Args:
        node: a node of an opset before 11.
        dims: dims of its input, each None if unknown; None if the rank is unknown.
    """
    if dims is None:
        return False
    if node.op_type == "Slice" and not _clip_bounds(node, dims):
        return False
    rank = len(dims) + _new_axes(node)
    for a in node.attribute:
        axes = [axis + rank if axis < 0 else axis for axis in _axes(a)]
        if a.name == "axes":
            a.ints[:] = axes
        elif a.name == "axis":
            a.i = axes[0]
    return True


def _new_axes(node):
    """Return how many axes an operator adds: negative axes count from the output's end."""
    if node.op_type == "Unsqueeze":
        return sum(len(_axes(a)) for a in node.attribute)
    return 1 if node.op_type == "OneHot" else 0


def _clip_bounds(node, dims):
    """Clip the bounds of a Slice to its input, sort its axes; return False if dims are unknown."""
    a = attributes_of(node)
    starts, ends = a.get("starts", []), a.get("ends", [])
    axes = a.get("axes", range(len(starts)))
    if not starts or not len(starts) == len(ends) == len(axes):
        return True
    if not all(-len(dims) <= axis < len(dims) for axis in axes):
        return True
    bounds = []
    for axis, start, end in zip(axes, starts, ends, strict=True):
        size = dims[axis]
        if size is None:
            return False
        start = _within(start, size)
        bounds.append((axis % len(dims), start, max(_within(end, size), start)))
    names = ("axes", "starts", "ends")
    columns = zip(*sorted(bounds), strict=True)
    set_all(node.attribute, map(make_attribute, names, map(list, columns)))
    return True


def _within(bound, size):
    return min(max(bound + size if bound < 0 else bound, 0), size)


def _known_dims(model):
    """Return dims of values by name, except values that onnx's inference misjudges."""
    with misjudged.hidden(model):
        copy = declarations.without_outputs(model)
    try:
        graph = shape_inference.infer_shapes(copy, data_prop=True).graph
    except Exception:  # the model contradicts itself: a later pass reports it
        return {}
    dims = {t.name: list(t.dims) for t in graph.initializer}
    bodies = [body for node in nodes_of(graph) for body in bodies_of(node)]
    for one in (graph, *bodies):
        for info in [*one.input, *one.value_info, *one.output]:
            if info.type.tensor_type.HasField("shape"):
                dims[info.name] = [_size(d) for d in info.type.tensor_type.shape.dim]
    return dims


def _size(dim):
    return dim.dim_value if dim.HasField("dim_value") else None
