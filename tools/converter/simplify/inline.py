"""Subgraphs: their nodes as nodes of the graph around them."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

from ..protos import copied, set_all


def inline_body(
    body: onnx.GraphProto, actuals: Sequence[str], prefix: str
) -> tuple[list[onnx.NodeProto], list[str]]:
    """The body's nodes with these names as its inputs; and the names of its outputs.

    What the body defines gets the prefix; what it captures keeps its name.
    """
    names = dict(zip((i.name for i in body.input), actuals, strict=True))
    nodes = []
    for tensor in body.initializer:
        names[tensor.name] = prefix + tensor.name
        nodes.append(helper.make_node("Constant", [], [prefix + tensor.name], value=tensor))
    for node in body.node:
        names.update((out, prefix + out) for out in node.output if out)
    nodes += [_renamed(node, names) for node in body.node]
    outputs = []
    for out in body.output:
        outputs.append(names.get(out.name, out.name))
    return nodes, outputs


def _renamed(node, names):
    copy = copied(node)
    copy.input[:] = [names.get(name, name) for name in node.input]
    copy.output[:] = [names.get(name, name) for name in node.output]
    for attribute in copy.attribute:
        if attribute.HasField("g"):
            _rename_captured(attribute.g, names)
    return copy


def _rename_captured(graph, names):
    """Renames in a nested subgraph what it takes from outside; its own names hide others."""
    own = {v.name for v in [*graph.input, *graph.initializer]}
    own.update(out for node in graph.node for out in node.output)
    outer = {old: new for old, new in names.items() if old not in own}
    set_all(graph.node, [_renamed(node, outer) for node in graph.node])
    for out in graph.output:
        out.name = outer.get(out.name, out.name)
