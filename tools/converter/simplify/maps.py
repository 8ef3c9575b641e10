"""Remove the nodes with maps from a model, and restore them: onnx-ir cannot represent maps.

1. Inputs and outputs that are maps are removed, with the nodes that read or compute them (ZipMap,
   DictVectorizer).
2. A removed node's inputs become graph outputs, its outputs graph inputs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx

from tools.format import objects

from ..protos import copied, set_all


@dataclass
class RemovedMaps:
    """What restore_maps needs to add the maps that remove_maps removed.

    Attributes:
        inputs: all inputs of the original model.
        outputs: all outputs of the original model.
        nodes: the removed nodes, which read or compute maps.
    """

    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)


def remove_maps(model: onnx.ModelProto) -> tuple[onnx.ModelProto, RemovedMaps | None]:
    """Return a copy of the model without maps, and what was removed.

    A model without maps is returned itself, with None.
    """
    graph = model.graph
    infos = [*graph.input, *graph.value_info, *graph.output]
    mapped = {v.name for v in infos if objects.dtype_of(v.type) is not None}
    if not mapped:
        return model, None
    copy = copied(model)
    graph = copy.graph
    removed = RemovedMaps(list(graph.input), list(graph.output))
    removed.nodes = [n for n in graph.node if mapped & {*n.input, *n.output}]
    types = {v.name: v for v in infos}
    for values in (graph.input, graph.value_info, graph.output):
        set_all(values, [v for v in values if v.name not in mapped])
    set_all(graph.node, [n for n in graph.node if n not in removed.nodes])
    computed = {name for n in removed.nodes for name in n.output} - mapped
    read = {name for n in removed.nodes for name in n.input} - mapped
    graph.input.extend(
        types.get(name, onnx.ValueInfoProto(name=name)) for name in sorted(computed)
    )
    outputs = {v.name for v in graph.output}
    graph.output.extend(
        types.get(name, onnx.ValueInfoProto(name=name)) for name in sorted(read - outputs)
    )
    return copy, removed


def restore_maps(model: onnx.ModelProto, removed: RemovedMaps | None) -> onnx.ModelProto:
    """Return the model with the maps that `remove_maps` removed."""
    if removed is None:
        return model
    graph = model.graph
    for values, kept in ((graph.input, removed.inputs), (graph.output, removed.outputs)):
        known = {v.name: v for v in values}
        set_all(values, [known.get(v.name, v) for v in kept])
    known_inputs = {v.name for v in graph.input}
    first = [n for n in removed.nodes if known_inputs.issuperset(n.input)]
    last = [n for n in removed.nodes if n not in first]
    set_all(graph.node, [*first, *graph.node, *last])
    return model
