"""Subgraphs of If, Loop and Scan: each a model of its own, with what it captures as inputs."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

from . import extent_forms
from .errors import Problem
from .ir import Step, Tensor
from .lower import Lowerer
from .passes.inline import captured

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
    model.metadata_props.extend(outer.metadata_props)
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


def lower(
    outer: Lowerer, graph: onnx.GraphProto, inputs: Sequence[Tensor]
) -> tuple[list[Step], list[Tensor]]:
    """Steps and outputs of a subgraph; what is in the way is added to the outer findings."""
    from . import passes

    model = model_of(outer.model, graph, [(t.dtype, t.shape) for t in inputs])
    for info in model.graph.input[len(inputs) :]:
        if info.name in outer.values:
            t = outer.values[info.name]
            dims = extent_forms.symbols(t.shape)
            info.CopyFrom(helper.make_tensor_value_info(info.name, t.dtype, dims))
    model = passes.simplify(model)
    names = [i.name for i in model.graph.input]
    bound = dict(zip(names, inputs, strict=False))
    for name in names[len(inputs) :]:
        if name in outer.values:
            bound[name] = outer.values[name]
    inner = Lowerer(model, bound, outer.grown)
    inner.lower_all()
    outputs = inner.results()
    outer.findings.extend(inner.findings)
    if inner.findings:
        raise Problem("its body is not supported")
    return inner.graph.steps, outputs
