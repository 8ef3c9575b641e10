"""Subgraphs of If, Loop and Scan: each a model of its own, with what it captures as inputs."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

from ..protos import captured
from . import extent_forms

# (ONNX dtype, dims)
Type = tuple[int, Sequence[int]]


def model_of(
    outer: onnx.ModelProto, graph: onnx.GraphProto, types: Sequence[Type]
) -> onnx.ModelProto:
    """The subgraph as a model: its inputs of these types, then what it captures.

    Captured constants become constants of the model, so that they can be folded.
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
