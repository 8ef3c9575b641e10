"""Integers at the model's border: its inputs and outputs without the outer Q and DQ."""

from __future__ import annotations

import onnx


def open_borders(model: onnx.ModelProto) -> list[str]:
    """Changes the model in place; returns the names of inputs and outputs that stay floats.

    An input that only one QuantizeLinear reads becomes that node's output, an output that a
    DequantizeLinear makes becomes that node's input.
    """
    graph = model.graph
    types = {t.name: t.data_type for t in graph.initializer}
    left = []
    for info in graph.input:
        if info.name not in types:
            readers = [n for n in graph.node if info.name in n.input]
            if [n.op_type for n in readers] == ["QuantizeLinear"]:
                _rename(graph, readers[0].output[0], info.name)
                _settle(graph, info, readers[0], types)
            else:
                left.append(info.name)
    for info in graph.output:
        [maker] = [n for n in graph.node if info.name in n.output] or [None]
        if maker is not None and maker.op_type == "DequantizeLinear":
            graph.node.remove(maker)
            _rename(graph, maker.input[0], info.name)
            info.type.tensor_type.elem_type = types[maker.input[2]]
        else:
            left.append(info.name)
    return left


def _settle(graph, info, node, types):
    graph.node.remove(node)
    info.type.tensor_type.elem_type = types[node.input[2]]


def _rename(graph, old, new):
    for node in graph.node:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name == old:
                    names[i] = new
