"""Handle shapes and dtypes that a model declares beside its operators, which may be wrong.

Exporters and graph editors leave declarations that no longer hold. onnxruntime ignores them and
infers from the operators, and so does the converter:

1. Declarations of inner values, in the graph and in bodies, are removed when a model is loaded
   (`forget_inner`).
2. Declarations of outputs, of the graph and of bodies, are saved (`of_outputs`) while inference
   runs without them (`without_outputs`). They are used where inference finds nothing (`believe`),
   and a note says so for outputs of the graph.
3. A declared shape that the operators contradict becomes a note (`notes`). A contradicting dtype
   is refused, as onnxruntime does.

Hidden state: passes return only a model, so what inference has done is kept as keys in the
metadata of outputs and of the model (_INFERRED, _BELIEVED); `inferred`, `is_marked` and `notes`
read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

import onnx

from tools.format.dtypes import dtype_name

from ..errors import ConvertError
from ..protos import bodies_of, copied, nodes_of, set_all
from . import extent_forms

_LOOP_CONTROL = 2  # inputs of a Loop's body before its values: trip number, condition
_INFERRED = "mpconnxr.inferred"  # in an output's metadata: inference fixed all dims
_BELIEVED = "mpconnxr.believed"  # in an output's and the model's: a declaration was used
_MOST_NAMED = 3  # inner values of one note

Types = dict[str, onnx.TypeProto]


def inner_types(model: onnx.ModelProto) -> Types:
    """Return the types that the model declares for the inner values of its graph, by name."""
    return {info.name: copied(info.type) for info in model.graph.value_info}


def forget_inner(model: onnx.ModelProto) -> None:
    """Remove the declarations of inner values, in place, also in bodies.

    Inputs and outputs of a body are inner values too: the node that runs the body decides their
    types. What onnxruntime needs stays: the dtypes of a body's inputs, the outputs of a
    SequenceMap's body, and the types of a Loop's trip number and condition. A constant that is an
    output of its body gets its type, because onnx's inference finds none for it.
    """
    del model.graph.value_info[:]
    for node in nodes_of(model.graph):
        kept = _LOOP_CONTROL if node.op_type == "Loop" else 0
        for body in bodies_of(node):
            del body.value_info[:]
            for info in [*body.input[kept:], *body.output]:
                if _is_tensor(info.type):
                    info.type.tensor_type.ClearField("shape")
            constants = _types_of_constants(body)
            for info in () if node.op_type == "SequenceMap" else body.output:
                if info.name in constants:
                    info.type.CopyFrom(constants[info.name])
                elif _is_tensor(info.type):
                    info.ClearField("type")


def of_outputs(model: onnx.ModelProto) -> Types:
    """Return the declared tensor types of the outputs of the graph and of all bodies, by name.

    Bodies may use one name twice: if their types differ, neither counts.
    """
    bodies = [body for node in nodes_of(model.graph) for body in bodies_of(node)]
    types: Types = {}
    for info in [info for body in bodies for info in body.output if _is_tensor(info.type)]:
        if types.setdefault(info.name, copied(info.type)) != info.type:
            types[info.name] = onnx.TypeProto()
    types |= {o.name: copied(o.type) for o in model.graph.output if _is_tensor(o.type)}
    return {name: kind for name, kind in types.items() if _is_tensor(kind)}


def inferred(model: onnx.ModelProto) -> Types:
    """Return the types of graph outputs that inference has fixed completely, by name.

    They are kept because a later pass may replace an operator by one that inference knows less of.
    """
    return {
        info.name: copied(info.type)
        for info in model.graph.output
        if any(prop.key == _INFERRED for prop in info.metadata_props)
    }


def note_inferred(graph: onnx.GraphProto) -> None:
    """Mark the outputs whose types are inferred, not believed, and have only fixed dims."""
    for info in graph.output:
        is_fixed = _has_shape(info.type) and all(d.HasField("dim_value") for d in _dims(info.type))
        if is_fixed and not info.metadata_props:
            info.metadata_props.add(key=_INFERRED)


def without_outputs(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy whose outputs have no types, except those that no operator computes."""
    copy = copied(model)
    sources = _types_of_sources(copy.graph)
    for info in copy.graph.output:
        if info.name in sources:
            info.type.CopyFrom(sources[info.name])
        elif _is_tensor(info.type):
            info.ClearField("type")
        del info.metadata_props[:]
    set_all(copy.metadata_props, [p for p in copy.metadata_props if p.key != _BELIEVED])
    return copy


def _types_of_sources(graph) -> Types:
    """Return the types of the graph's inputs and constants, by name."""
    return {info.name: info.type for info in graph.input} | _types_of_constants(graph)


def _types_of_constants(graph) -> Types:
    make = onnx.helper.make_tensor_type_proto
    return {t.name: make(t.data_type, t.dims) for t in graph.initializer}


def believe(model: onnx.ModelProto, declared: Types) -> bool:
    """Complete outputs' types by their declarations, in place; return True if one changed."""
    changed = False
    for info in model.graph.output:
        if info.name in declared and _complete(info, declared[info.name]):
            changed = True
            info.metadata_props.add(key=_BELIEVED)
    if changed:
        mark(model)
    return changed


def mark(model: onnx.ModelProto) -> None:
    """Mark a model in which a declared shape is believed, because the shape may turn out wrong."""
    model.metadata_props.add(key=_BELIEVED)


def is_marked(model: onnx.ModelProto) -> bool:
    """Return True if `mark` was called since shapes were last inferred."""
    return any(prop.key == _BELIEVED for prop in model.metadata_props)


def _complete(info, declared):
    """Complete an output's type by the declared one; return True if it changed."""
    if info.type.WhichOneof("value") not in (None, "tensor_type"):
        return False
    before = info.type.SerializeToString(deterministic=True)
    if not info.type.tensor_type.elem_type:
        info.type.CopyFrom(declared)
    elif not _has_shape(info.type):
        if _has_shape(declared) and not any(map(_is_unknown, _dims(declared))):
            info.type.tensor_type.shape.CopyFrom(declared.tensor_type.shape)
    elif _has_shape(declared) and len(_dims(info.type)) == len(_dims(declared)):
        for dim, known in zip(_dims(info.type), _dims(declared), strict=True):
            if _is_unknown(dim) and known.HasField("dim_value"):
                dim.dim_value = known.dim_value
    return before != info.type.SerializeToString(deterministic=True)


def notes(declared: onnx.ModelProto, inferred: onnx.ModelProto) -> list[str]:
    """Compare the declared outputs of a model with the inferred ones.

    Returns:
        A note for each output of another shape, and for each whose shape only the declaration
        gives.

    Raises:
        ConvertError: if a dtype differs.
    """
    outputs = {info.name: info for info in inferred.graph.output}
    texts = []
    for info in declared.graph.output:
        other = outputs.get(info.name)
        if other is None or not _is_tensor(other.type) or not _is_tensor(info.type):
            continue
        _check_dtype(info, other.type)
        if _differ(info.type, other.type):
            shown = f"{_shown(other.type)}, not the declared {_shown(info.type)}"
            texts.append(f"output {info.name} has the shape {shown}")
        elif any(prop.key == _BELIEVED for prop in other.metadata_props):
            shown = f"{_shown(other.type)}, as declared: its operator does not fix it"
            texts.append(f"output {info.name} has the shape {shown}")
    return texts


def inner_contradictions(declared: Mapping[str, onnx.TypeProto], graph: onnx.GraphProto) -> str:
    """Return a note on inner values whose shapes are not as declared, "" without any."""
    texts = [
        f"{info.name} {_shown(info.type)}, not {_shown(declared[info.name])}"
        for info in graph.value_info
        if info.name in declared and _differ(declared[info.name], info.type)
    ]
    if not texts:
        return ""
    more = len(texts) - _MOST_NAMED
    text = "; ".join(texts[:_MOST_NAMED]) + (f"; {more} more" if more > 0 else "")
    return f"inner values have other shapes than the model declares: {text}"


def _check_dtype(info, kind):
    declared, computed = info.type.tensor_type.elem_type, kind.tensor_type.elem_type
    if declared and computed and declared != computed:
        raise ConvertError(
            f"output {info.name} is declared as {dtype_name(declared)}, but its operator gives "
            f"{dtype_name(computed)}: correct the declaration, or add a Cast"
        )


def _differ(declared, computed):
    """Return True if two shapes have different ranks, or different known dims."""
    if not _has_shape(declared) or not _has_shape(computed):
        return False
    return any(
        a is None or b is None or _both_known(a, b) and a.dim_value != b.dim_value
        for a, b in zip_longest(_dims(declared), _dims(computed))
    )


def _is_unknown(dim):
    return not dim.HasField("dim_value") and extent_forms.parsed(dim.dim_param) is None


def _both_known(a, b):
    return a.HasField("dim_value") and b.HasField("dim_value")


def _dims(kind):
    return kind.tensor_type.shape.dim


def _shown(kind):
    dims = [str(d.dim_value) if d.HasField("dim_value") else d.dim_param for d in _dims(kind)]
    return f"[{', '.join(dim or '?' for dim in dims)}]"


def _is_tensor(kind):
    return kind.HasField("tensor_type")


def _has_shape(kind):
    return _is_tensor(kind) and kind.tensor_type.HasField("shape")
