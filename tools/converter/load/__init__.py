"""Read an .onnx file and check it.

The result is a ModelProto whose nodes are in topological order, whose functions are inlined and
whose external data are in memory. `load` is the short way; load/stage.py calls `read` and
`prepare` one by one. Nothing here knows what boards can run, except that sizes beyond every board
are refused.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path

import numpy as np
import onnx
import onnx_ir
from onnx import helper, inliner, numpy_helper, version_converter
from onnx_ir.passes import common as ir_passes

from tools import limits

from ..errors import ConvertError
from ..own import Operators
from ..protos import (
    bodies_of,
    copied,
    make_printable,
    name_of,
    nodes_of,
    one_line,
    operator_of,
    opset_of,
    set_all,
    write_defaults,
)
from ..shapes import declarations
from . import external, ort_domain, sound

OLDEST_OPSET = 7
_SECONDS = 10.0  # for the checks
_MOST_DENSE_NBYTES = 64 << 20  # of one constant: a few bytes in a file may claim any size


def load(path: Path, operators: Operators | None = None) -> onnx.ModelProto:
    """Read and check a model.

    Args:
        path: the .onnx file.
        operators: lowerings that exist, by default the converter's own.

    Raises:
        ConvertError: if the file cannot be read or the model breaks ONNX's rules.
    """
    return prepare(read(path), operators)


def read(path: Path) -> onnx.ModelProto:
    """Read a model with its external data and make its names printable.

    Raises:
        ConvertError: if the file or its external data cannot be read.
    """
    model = external.read(path)
    make_printable(model)
    external.load(model, path)
    return model


def prepare(model: onnx.ModelProto, operators: Operators | None = None) -> onnx.ModelProto:
    """Check a model in memory, in place, and return it with its functions inlined.

    Args:
        model: the model as it was read.
        operators: lowerings that exist; a function that they cover is not inlined.

    Raises:
        ConvertError: if the model breaks ONNX's rules.
    """
    if not model.graph.node and not model.graph.output:
        raise ConvertError("this is not an ONNX model: it has no graph")
    if not model.graph.output:
        raise ConvertError("the model has no outputs")
    sound.check(model)
    limits.at("checking the model", most=_SECONDS)
    _repair(model)
    try:
        for graph in (model.graph, *model.functions):
            _make_dense(graph)
        model = ort_domain.claim(_inlined(_sorted(model), operators or Operators()))
        declarations.forget_inner(model)
        _check_rules(model)
        _check_constants(model.graph)
    except Exception as e:  # onnx and onnx-ir raise many kinds for a malformed model
        raise ConvertError(f"the model breaks ONNX's rules: {one_line(e)}") from None
    model = upgraded(model, OLDEST_OPSET)  # older operators broadcast by other rules
    drop_constant_inputs(model)
    _merge_opset_imports(model)
    _add_default_axes(model.graph)
    _remove_unused_pads(model.graph)
    return model


def _add_default_axes(graph: onnx.GraphProto) -> None:
    """Write the default axes of MeanVarianceNormalization, which onnx's inference needs."""
    for node in nodes_of(graph):
        if node.op_type == "MeanVarianceNormalization" and not node.domain and not node.attribute:
            node.attribute.append(helper.make_attribute("axes", [0, 2, 3]))


def _remove_unused_pads(graph: onnx.GraphProto) -> None:
    """Remove pads from nodes that have an auto_pad.

    onnxruntime then uses auto_pad, onnx's inference the pads.
    """
    for node in nodes_of(graph):
        if any(a.name == "auto_pad" and a.s not in (b"", b"NOTSET") for a in node.attribute):
            set_all(node.attribute, [a for a in node.attribute if a.name != "pads"])


def _repair(model: onnx.ModelProto) -> None:
    """Repair, in place, faults that onnx's checker refuses although they have no effect.

    The graph gets a name, metadata one value for each key, and ONNX's domain one spelling.
    Initializers need not be inputs, which they had to be before IR version 4.
    """
    if model.ir_version in (1, 2, 3):
        model.ir_version = 4
    model.graph.name = model.graph.name or "graph"
    metadata = {prop.key: prop.value for prop in model.metadata_props}
    if len(metadata) < len(model.metadata_props):
        helper.set_model_props(model, metadata)
    for proto in (model.graph, *model.functions):
        for node in nodes_of(proto):
            if node.domain == "ai.onnx":
                node.domain = ""


def _check_rules(model: onnx.ModelProto) -> None:
    """Run onnx's checker, but allow outputs without a type and values without a shape.

    onnxruntime infers the type of an output, and --shape gives the shape of an input. Such values
    are declared as float32 scalars while the checker runs.
    """
    incomplete = [o for o in model.graph.output if o.type.WhichOneof("value") is None]
    incomplete += [
        v
        for v in [*model.graph.input, *model.graph.output]
        if v.type.HasField("tensor_type") and not v.type.tensor_type.HasField("shape")
    ]
    types = [copied(v.type) for v in incomplete]
    for v in incomplete:
        v.CopyFrom(helper.make_tensor_value_info(v.name, onnx.TensorProto.FLOAT, []))
    try:
        onnx.checker.check_model(model)
    finally:
        for v, kind in zip(incomplete, types, strict=True):
            v.type.CopyFrom(kind)


def _merge_opset_imports(model: onnx.ModelProto) -> None:
    """Keep one import for each domain: some exporters write a domain twice."""
    versions = {o.domain: o.version for o in model.opset_import}
    del model.opset_import[:]
    model.opset_import.extend(helper.make_opsetid(*pair) for pair in versions.items())


def _check_constants(graph: onnx.GraphProto) -> None:
    """Raise ValueError if the data of a constant do not fill its shape; onnx does not check it."""
    for tensor in graph.initializer:
        _check_constant(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                _check_constant(attribute.t)
            if attribute.HasField("g"):
                _check_constants(attribute.g)


def _check_constant(tensor):
    numpy_helper.to_array(tensor)
    expected = external.nbytes_of(tensor)
    if tensor.HasField("raw_data") and len(tensor.raw_data) != expected:
        text = f"data of {len(tensor.raw_data):,} bytes, its shape takes {expected:,}"
        raise ValueError(f"constant {tensor.name} has {text}")


def drop_constant_inputs(model: onnx.ModelProto) -> None:
    """Remove initializers from the inputs, where models of IR version 3 list them as well."""
    constant = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in constant]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.ir_version = max(model.ir_version, 4)  # IR 3 would demand them as inputs


def _sorted(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with its nodes in topological order; a copy if that changes it."""
    known = {i.name for i in model.graph.input} | {i.name for i in model.graph.initializer}
    if _are_sorted(model.graph, known):
        return model
    _check_producers(model.graph, known)
    ir = onnx_ir.from_proto(model)
    ir_passes.TopologicalSortPass()(ir)
    return onnx_ir.to_proto(ir)


def _are_sorted(graph: onnx.GraphProto, outer: Collection[str]) -> bool:
    """Return True if each node, also in bodies, reads only `outer` values or earlier results."""
    known = {*outer, *(v.name for v in [*graph.input, *graph.initializer])}
    for node in graph.node:
        if any(name and name not in known for name in node.input):
            return False
        if not all(_are_sorted(body, known) for body in bodies_of(node)):
            return False
        known.update(node.output)
    return True


def _check_producers(graph: onnx.GraphProto, known: Collection[str]) -> None:
    """Raise ValueError if a node reads a value that is not known and that no node computes."""
    produced = {name for node in graph.node for name in node.output}.union(known)
    for node in graph.node:
        for name in node.input:
            if name and name not in produced:
                where = f"{operator_of(node)} {name_of(node)}"
                raise ValueError(f"nothing gives input {name} of {where}")


def _inlined(model: onnx.ModelProto, operators: Operators) -> onnx.ModelProto:
    """Replace functions by their nodes, except functions that the user has a kernel for."""
    if not model.functions:
        return model
    _align_opsets(model)
    write_defaults(model)
    kept = [(f.domain, f.name) for f in model.functions if operators.is_own(f.domain, f.name)]
    return inliner.inline_selected_functions(model, kept, exclude=True)


def _align_opsets(model: onnx.ModelProto) -> None:
    """Give all functions of a model the model's opsets.

    ONNX demands equal opsets. Exporters break this rule, and onnxruntime runs such a
    function with the operators of the model's opset.
    """
    versions = {o.domain: o.version for o in model.opset_import}
    for function in model.functions:
        for opset in function.opset_import:
            if opset.domain not in versions:
                versions[opset.domain] = opset.version
                model.opset_import.add(domain=opset.domain, version=opset.version)
            opset.version = versions[opset.domain]


def _make_dense(graph: onnx.GraphProto | onnx.FunctionProto) -> None:
    """Replace sparse initializers and Constants by dense ones, in place, also in bodies.

    Raises:
        ValueError: if indices do not ascend or are outside of the shape.
    """
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
    if not all(d > 0 for d in dims) or size * values.itemsize > _MOST_DENSE_NBYTES:
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


def upgraded(model: onnx.ModelProto, opset: int, why: str = "") -> onnx.ModelProto:
    """Return the model in this opset, or unchanged if its own is not older.

    Args:
        model: a model of any opset.
        opset: version of ONNX's domain.
        why: beginning of the message that says who needs the opset.

    Raises:
        ConvertError: if the model cannot be upgraded.
    """
    current = opset_of(model, "")
    if not 0 < current < opset:
        return model
    try:
        return version_converter.convert_version(model, opset)
    except Exception as e:  # onnx raises several kinds if it has no rule
        raise ConvertError(
            f"{why}opset {current} is older than {opset} and cannot be upgraded: {one_line(e)}"
        ) from None
