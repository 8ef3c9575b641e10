"""Takes nodes with maps out of a model and puts them back: onnx-ir cannot hold maps.

1. Inputs and outputs that are maps go, with the nodes that make or take them (ZipMap,
   DictVectorizer).
2. What went into such a node becomes an output, what came out of it an input.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx

from tools.format import objects

from ..protos import copied, set_all


@dataclass
class Aside:
    """What set_aside took out, and how many inputs and outputs it added for it."""

    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)


def set_aside(model: onnx.ModelProto) -> tuple[onnx.ModelProto, Aside | None]:
    """The model itself and None if it has no maps, else a copy without them."""
    graph = model.graph
    infos = [*graph.input, *graph.value_info, *graph.output]
    mapped = {v.name for v in infos if objects.dtype_of(v.type) is not None}
    if not mapped:
        return model, None
    copy = copied(model)
    graph = copy.graph
    aside = Aside(list(graph.input), list(graph.output))
    aside.nodes = [n for n in graph.node if mapped & {*n.input, *n.output}]
    types = {v.name: v for v in infos}
    for values in (graph.input, graph.value_info, graph.output):
        set_all(values, [v for v in values if v.name not in mapped])
    set_all(graph.node, [n for n in graph.node if n not in aside.nodes])
    made = {name for n in aside.nodes for name in n.output} - mapped
    taken = {name for n in aside.nodes for name in n.input} - mapped
    graph.input.extend(types.get(name, onnx.ValueInfoProto(name=name)) for name in sorted(made))
    outputs = {v.name for v in graph.output}
    graph.output.extend(
        types.get(name, onnx.ValueInfoProto(name=name)) for name in sorted(taken - outputs)
    )
    return copy, aside


def put_back(model: onnx.ModelProto, aside: Aside | None) -> onnx.ModelProto:
    """The model with what was taken out of it."""
    if aside is None:
        return model
    graph = model.graph
    for values, kept in ((graph.input, aside.inputs), (graph.output, aside.outputs)):
        known = {v.name: v for v in values}
        set_all(values, [known.get(v.name, v) for v in kept])
    given = {v.name for v in graph.input}
    first = [n for n in aside.nodes if given.issuperset(n.input)]
    last = [n for n in aside.nodes if n not in first]
    set_all(graph.node, [*first, *graph.node, *last])
    return model
