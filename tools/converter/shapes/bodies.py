"""Turn subgraphs of If, Loop and Scan into models, with captured values as inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import helper

from ..external_weights import array_of
from ..protos import captured
from . import extent_forms

# (ONNX dtype, dims)
Type = tuple[int, Sequence[int]]


def model_of(
    outer: onnx.ModelProto, graph: onnx.GraphProto, types: Sequence[Type]
) -> onnx.ModelProto:
    """Return a subgraph as a model whose inputs are its own, then the values that it captures.

    Captured constants become constants of the model, so that they can be folded.

    Args:
        outer: the model around it.
        graph: the subgraph.
        types: (dtype, dims) of its inputs.
    """
    model = onnx.ModelProto(ir_version=outer.ir_version)
    model.opset_import.extend(outer.opset_import)
    model.graph.CopyFrom(graph)
    model.graph.name = graph.name or "body"
    for info, (dtype, dims) in zip(model.graph.input, types, strict=True):
        info.CopyFrom(helper.make_tensor_value_info(info.name, dtype, extent_forms.symbols(dims)))
    constants = {t.name: t for t in outer.graph.initializer}
    infos = {v.name: v for v in [*outer.graph.output, *outer.graph.value_info, *outer.graph.input]}
    for name in captured(graph):
        if name in constants:
            model.graph.initializer.append(constants[name])
        elif name in infos:
            model.graph.input.append(infos[name])
    return model


def always_continues(
    body: onnx.GraphProto, condition: str, known: Mapping[str, onnx.TensorProto]
) -> bool:
    """Return True if a Loop runs all of its trips.

    Its condition must be true at the start, and the body must return it unchanged or as true.

    Args:
        body: body of the Loop.
        condition: name of the Loop's condition, "" if it has none.
        known: constants outside the body, by name.
    """
    if condition and (condition not in known or not _is_true(known[condition])):
        return False
    makers = {name: node for node in body.node for name in node.output}
    constants = {t.name: t for t in body.initializer} | dict(known)
    name = body.output[0].name
    while name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    if name == body.input[1].name:
        return True
    if name in makers and makers[name].op_type == "Constant":
        value = next((a.t for a in makers[name].attribute if a.name == "value"), None)
        return value is not None and _is_true(value)
    return name in constants and _is_true(constants[name])


def _is_true(tensor):
    return bool(array_of(tensor).all())
