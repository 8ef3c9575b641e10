"""Subgraphs of If, Loop and Scan: each a model of its own, with what it captures as inputs."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

from ..errors import Problem
from ..ir import Step, Tensor
from ..shapes import extent_forms
from ..shapes.bodies import model_of
from . import Lowerer


def lower(
    outer: Lowerer, graph: onnx.GraphProto, inputs: Sequence[Tensor]
) -> tuple[list[Step], list[Tensor]]:
    """Steps and outputs of a subgraph; what is in the way is added to the outer findings."""
    from ..simplify import simplify

    model = model_of(outer.model, graph, [(t.dtype, t.shape) for t in inputs])
    for info in model.graph.input[len(inputs) :]:
        if info.name in outer.values:
            t = outer.values[info.name]
            dims = extent_forms.symbols(t.shape)
            info.CopyFrom(helper.make_tensor_value_info(info.name, t.dtype, dims))
    model = simplify(model)
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
