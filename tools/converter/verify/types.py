"""Verify types of values: a pass must declare what the operators' inference finds."""

from __future__ import annotations

import onnx
import onnx_ir as ir
from onnx import shape_inference

from tools.format.dtypes import dtype_name

from ..protos import nodes_of, one_line, set_all
from ..shapes import misjudged
from ..shapes.types import all_fixed

# (ONNX dtype or 0, dims or None, each dim or None); 0 and None: unknown
Type = tuple[int, list[int | None] | None]
# Types by name, in order, under the keys "input" and "output".
Interface = dict[str, dict[str, Type]]


def fault_of(model: onnx.ModelProto, is_strict: bool = False) -> str:
    """Return which declared type contradicts the inferred one, "" if none does.

    Types that inference cannot or wrongly infers are believed.

    Args:
        model: any; if all of its types are fixed, inference is strict.
        is_strict: infer strictly anyway, as for a model before simplification.
    """
    bare, graph = onnx.ModelProto(), model.graph
    bare.CopyFrom(model)
    misjudged.hide(bare)
    unknown = [node for node in nodes_of(bare.graph) if not _is_inferred(node)]
    believed = {name for node in unknown for name in node.output}
    set_all(bare.graph.value_info, [v for v in graph.value_info if v.name in believed])
    for info in bare.graph.output:
        if info.name not in believed:
            info.ClearField("type")
    try:
        result = _inferred(bare, is_strict=not unknown and (is_strict or all_fixed(graph))).graph
    except Exception as e:  # onnx raises several kinds; its text names the node
        return one_line(e)
    inferred = _types([*result.value_info, *result.output])
    for name, declared in _types([*graph.value_info, *graph.output]).items():
        if name in inferred and _contradict(declared, inferred[name]):
            types = _shown(declared), _shown(inferred[name])
            return f"{name!r} is declared {types[0]}, its operator gives {types[1]}"
    return ""


def _inferred(model: onnx.ModelProto, is_strict: bool) -> onnx.ModelProto:
    """Infer types. Strict inference refuses some shapes that only a run knows."""
    try:
        return shape_inference.infer_shapes(model, strict_mode=is_strict, data_prop=True)
    except Exception:  # onnx confuses contents of small tensors if bodies hide names
        return shape_inference.infer_shapes(model, strict_mode=is_strict)


def _is_inferred(node: onnx.NodeProto) -> bool:
    return node.domain in ("", "ai.onnx")


def interface_of(graph: onnx.GraphProto | ir.Graph, dtypes: bool = True) -> Interface:
    """Return names and types of a graph's inputs and outputs; `dtypes` False makes dtypes 0."""
    if isinstance(graph, ir.Graph):
        return {
            kind: {str(v.name): _type_in_ir(v) for v in values}
            for kind, values in (("input", graph.inputs), ("output", graph.outputs))
        }
    interface = {"input": _types(graph.input), "output": _types(graph.output)}
    if not dtypes:
        for values in interface.values():
            values.update({name: (0, dims) for name, (_, dims) in values.items()})
    return interface


def changed_interface(before: Interface, after: Interface) -> str:
    """Return which input or output a pass has changed, "" if none."""
    for kind, olds in before.items():
        news = after[kind]
        olds = _elements_for_sequences(olds, news)
        if list(olds) != list(news):
            return f"the {kind}s {', '.join(olds)} have become {', '.join(news)}"
        for name, old in olds.items():
            if _contradict(old, news[name]):
                return f"the {kind} {name!r} was {_shown(old)} and is {_shown(news[name])}"
    return ""


def _elements_for_sequences(olds, news):
    """Replace the name of a sequence by the names of its elements, which have no known types."""
    result = {}
    for name, kind in olds.items():
        elements = [n for n in news if n.startswith(f"{name}/")]
        is_split = name not in news and kind == (0, None) and elements
        result |= dict.fromkeys(elements, kind) if is_split else {name: kind}
    return result


def _types(infos) -> dict[str, Type]:
    """Return the types of values by name; values that are not tensors have no known type."""
    return {info.name: _type_of(info.type.tensor_type) for info in infos}


def _type_of(t: onnx.TypeProto.Tensor) -> Type:
    if not t.HasField("shape"):
        return t.elem_type, None
    dims = [d.dim_value if d.HasField("dim_value") else None for d in t.shape.dim]
    return t.elem_type, dims


def _type_in_ir(value: ir.Value) -> Type:
    dtype = 0 if value.dtype is None else value.dtype.value
    if value.shape is None:
        return dtype, None
    return dtype, [d if isinstance(d, int) else None for d in value.shape]


def _contradict(a: Type, b: Type) -> bool:
    """Return True if no tensor can have both types."""
    if a[0] and b[0] and a[0] != b[0]:
        return True
    if a[1] is None or b[1] is None:
        return False
    if len(a[1]) != len(b[1]):
        return True
    return any(None not in (x, y) and x != y for x, y in zip(a[1], b[1], strict=True))


def _shown(kind: Type) -> str:
    dtype, dims = dtype_name(kind[0]) if kind[0] else "?", kind[1]
    return dtype if dims is None else f"{dtype} {['?' if d is None else d for d in dims]}"
