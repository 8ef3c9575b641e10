"""Make a model's inputs and outputs integers: remove the outer Q and DQ."""

from __future__ import annotations

import onnx
from onnx import helper


def unquantized_interface(model: onnx.ModelProto) -> list[str]:
    """Make inputs and outputs integers in place; return the names of those that stay float.

    An input that only one QuantizeLinear reads becomes that node's output, an output that a
    DequantizeLinear makes becomes that node's input.
    """
    graph = model.graph
    types = {t.name: t.data_type for t in graph.initializer}
    left, taken = [], set()
    for info in graph.input:
        if info.name not in types:
            (taken.add if _open_input(graph, info, types) else left.append)(info.name)
    for info in graph.output:
        if not _open_output(graph, info, types, taken):
            left.append(info.name)
    return left


def _open_input(graph, info, types):
    readers = [n for n in graph.node if info.name in n.input]
    if [n.op_type for n in readers] != ["QuantizeLinear"]:
        return False
    [quantize] = readers
    graph.node.remove(quantize)
    _rename(graph.node, quantize.output[0], info.name)
    info.type.tensor_type.elem_type = types[quantize.input[2]]
    return True


def _open_output(graph, info, types, taken):
    """Make an output integers; those in `taken` are inputs or outputs, and keep their names."""
    [maker] = [n for n in graph.node if info.name in n.output] or [None]
    if maker is None or maker.op_type != "DequantizeLinear":
        return False
    readers = [n for n in graph.node if info.name in n.input]
    if readers:
        maker.output[0] = f"{info.name}/float"
        _rename(readers, info.name, maker.output[0])
    else:
        graph.node.remove(maker)
    integers = maker.input[0]
    if integers in taken:
        graph.node.append(helper.make_node("Identity", [integers], [info.name]))
    else:
        _rename(graph.node, integers, info.name)
    taken.add(info.name)
    info.type.tensor_type.elem_type = types[maker.input[2]]
    return True


def _rename(nodes, old, new):
    for node in nodes:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name == old:
                    names[i] = new
