"""An .onnx file -> a checked ModelProto: sorted, functions inlined, external data resolved."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import onnx
import onnx_ir
from onnx import inliner, numpy_helper
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
    set_all,
    write_defaults,
)
from ..shapes import declarations
from . import dense, external, ort_domain, sound
from .upgrade import upgraded

OLDEST_OPSET = 7
_SECONDS = 10.0  # for the checks


def load(path: Path, operators: Operators | None = None) -> onnx.ModelProto:
    """Reads and checks a model. operators: the lowerings there are. Raises ConvertError."""
    return prepare(read(path), operators)


def read(path: Path) -> onnx.ModelProto:
    """A model as it is in its file, its names printable. Raises ConvertError."""
    model = external.read(path)
    make_printable(model)
    external.load(model, path)
    return model


def prepare(model: onnx.ModelProto, operators: Operators | None = None) -> onnx.ModelProto:
    """Checks a model in memory. operators: the lowerings there are. Raises ConvertError."""
    if not model.graph.node and not model.graph.output:
        raise ConvertError("this is not an ONNX model: it has no graph")
    if not model.graph.output:
        raise ConvertError("the model has no outputs")
    sound.check(model)
    limits.at("checking the model", most=_SECONDS)
    _fill_in(model)
    try:
        dense.make_dense(model)
        model = ort_domain.claim(_inlined(_sorted(model), operators or Operators()))
        declarations.forget_inner(model)
        _check_rules(model)
        _check_constants(model.graph)
    except Exception as e:  # onnx and onnx-ir raise many kinds for a malformed model
        raise ConvertError(f"the model breaks ONNX's rules: {one_line(e)}") from None
    model = upgraded(model, OLDEST_OPSET)  # broadcasting was another thing before
    drop_constant_inputs(model)
    _import_once(model)
    _spell_out_axes(model.graph)
    _forget_pads(model.graph)
    return model


def _spell_out_axes(graph: onnx.GraphProto) -> None:
    """MeanVarianceNormalization without axes gets its default: onnx's inference trips over it."""
    for node in nodes_of(graph):
        if node.op_type == "MeanVarianceNormalization" and not node.domain and not node.attribute:
            node.attribute.append(onnx.helper.make_attribute("axes", [0, 2, 3]))


def _forget_pads(graph: onnx.GraphProto) -> None:
    """Remove pads beside an auto_pad that says them.

    onnxruntime goes by auto_pad then, onnx's inference by the pads.
    """
    for node in nodes_of(graph):
        if any(a.name == "auto_pad" and a.s not in (b"", b"NOTSET") for a in node.attribute):
            set_all(node.attribute, [a for a in node.attribute if a.name != "pads"])


def _fill_in(model: onnx.ModelProto) -> None:
    """Mends, in place, what onnx's checker asks for and nothing follows from.

    A graph has a name, metadata one value a key, ONNX's domain one name; and initializers need
    not be inputs, as they had to be before IR version 4.
    """
    if model.ir_version in (1, 2, 3):
        model.ir_version = 4
    model.graph.name = model.graph.name or "graph"
    metadata = {prop.key: prop.value for prop in model.metadata_props}
    if len(metadata) < len(model.metadata_props):
        onnx.helper.set_model_props(model, metadata)
    for proto in (model.graph, *model.functions):
        for node in nodes_of(proto):
            if node.domain == "ai.onnx":
                node.domain = ""


def _check_rules(model: onnx.ModelProto) -> None:
    """Raises what onnx's checker raises; but an output needs no type, and nothing a shape.

    onnxruntime infers an output's type, and takes an input without a shape, which --shape gives.
    """
    left_out = [o for o in model.graph.output if o.type.WhichOneof("value") is None]
    left_out += [
        v
        for v in [*model.graph.input, *model.graph.output]
        if v.type.HasField("tensor_type") and not v.type.tensor_type.HasField("shape")
    ]
    types = [copied(v.type) for v in left_out]
    for v in left_out:
        v.CopyFrom(onnx.helper.make_tensor_value_info(v.name, onnx.TensorProto.FLOAT, []))
    try:
        onnx.checker.check_model(model)
    finally:
        for v, kind in zip(left_out, types, strict=True):
            v.type.CopyFrom(kind)


def _import_once(model: onnx.ModelProto) -> None:
    """An opset that some exporters import twice."""
    versions = {o.domain: o.version for o in model.opset_import}
    del model.opset_import[:]
    model.opset_import.extend(onnx.helper.make_opsetid(*pair) for pair in versions.items())


def _check_constants(graph: onnx.GraphProto) -> None:
    """Raises what onnx raises for a constant whose data do not fill its shape; no checker does."""
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
    wanted = external.nbytes_of(tensor)
    if tensor.HasField("raw_data") and len(tensor.raw_data) != wanted:
        text = f"data of {len(tensor.raw_data):,} bytes, its shape takes {wanted:,}"
        raise ValueError(f"constant {tensor.name} has {text}")


def drop_constant_inputs(model: onnx.ModelProto) -> None:
    """Initializers that IR version 3 models also list as inputs are constants here."""
    constant = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in constant]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.ir_version = max(model.ir_version, 4)  # IR 3 would demand them as inputs


def _sorted(model: onnx.ModelProto) -> onnx.ModelProto:
    """Nodes in topological order; left as it is where it already is (the usual case)."""
    known = {i.name for i in model.graph.input} | {i.name for i in model.graph.initializer}
    if _are_sorted(model.graph, known):
        return model
    _check_made(model.graph, known)
    ir = onnx_ir.from_proto(model)
    ir_passes.TopologicalSortPass()(ir)
    return onnx_ir.to_proto(ir)


def _are_sorted(graph: onnx.GraphProto, outer: Collection[str]) -> bool:
    """Return True if each node, also of bodies, reads only what stands before it.

    Args:
        graph: the graph, or a body.
        outer: names of the values that it may read from the start.

    """
    known = {*outer, *(v.name for v in [*graph.input, *graph.initializer])}
    for node in graph.node:
        if any(name and name not in known for name in node.input):
            return False
        if not all(_are_sorted(body, known) for body in bodies_of(node)):
            return False
        known.update(node.output)
    return True


def _check_made(graph: onnx.GraphProto, known: Collection[str]) -> None:
    """Raises ValueError for a node that reads what is neither known nor an output of another."""
    made = {name for node in graph.node for name in node.output}.union(known)
    for node in graph.node:
        for name in node.input:
            if name and name not in made:
                where = f"{operator_of(node)} {name_of(node)}"
                raise ValueError(f"nothing gives input {name} of {where}")


def _inlined(model: onnx.ModelProto, operators: Operators) -> onnx.ModelProto:
    """Functions replaced by their nodes, but for those that the user has a kernel for."""
    if not model.functions:
        return model
    _same_opsets(model)
    write_defaults(model)
    kept = [(f.domain, f.name) for f in model.functions if operators.is_own(f.domain, f.name)]
    return inliner.inline_selected_functions(model, kept, exclude=True)


def _same_opsets(model: onnx.ModelProto) -> None:
    """Functions get the model's opsets. A rule of ONNX that exporters break, and onnxruntime
    does not ask for: its operators of that opset are what it takes, here as there.
    """
    versions = {o.domain: o.version for o in model.opset_import}
    for function in model.functions:
        for opset in function.opset_import:
            if opset.domain not in versions:
                versions[opset.domain] = opset.version
                model.opset_import.add(domain=opset.domain, version=opset.version)
            opset.version = versions[opset.domain]
