"""A hostile model: its files, and how to convert them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL, UINT8 = 1, 7, 9, 2
Cases = Iterator["Case"]


@dataclass
class Case:
    """A hostile model and how to convert it.

    Attributes:
        name: a unique name.
        model: contents of model.onnx.
        beside: contents of other files in its folder, by name.
        prepare: function that makes special files in that folder.
        options: options of the converter.
    """

    name: str
    model: bytes | onnx.ModelProto
    beside: Mapping[str, bytes] = field(default_factory=dict)
    prepare: Callable[[Path], None] | None = None
    options: Sequence[str] = ()

    def write(self, folder: Path) -> Path:
        """Write the model's file, and all that belongs to it, into a folder."""
        data = self.model
        if isinstance(data, onnx.ModelProto):
            data = data.SerializeToString()
        path = folder / "model.onnx"
        path.write_bytes(data)
        for name, contents in self.beside.items():
            (folder / name).write_bytes(contents)
        if self.prepare:
            self.prepare(folder)
        return path


def value(name: str, shape: Sequence[int | str] = (4,), dtype: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def node(op: str, inputs: str, outputs: str = "y", **attributes) -> onnx.NodeProto:
    """Return a node; names are separated by blanks, `_` stands for an omitted one."""
    names = [["" if n == "_" else n for n in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *names, **attributes)


def model(
    nodes: onnx.NodeProto | Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto] | None = None,
    outputs: Sequence[onnx.ValueInfoProto] | None = None,
    constants: Mapping[str, object] | None = None,
    opset: int = 17,
    **more: int,
) -> onnx.ModelProto:
    """Return a model; by default from x float32 [4] to y float32 [4].

    Args:
        nodes: one node or several.
        inputs: the graph's inputs.
        outputs: the graph's outputs.
        constants: arrays or tensors by name.
        opset: version of ai.onnx.
        **more: versions by domain, with _ for points.
    """
    nodes = [nodes] if isinstance(nodes, onnx.NodeProto) else list(nodes)
    initializers = [
        t if isinstance(t, TensorProto) else numpy_helper.from_array(np.asarray(t), name)
        for name, t in (constants or {}).items()
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x")] if inputs is None else inputs,
        [value("y")] if outputs is None else outputs,
        initializers,
    )
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(domain.replace("_", "."), v) for domain, v in more.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def relu() -> onnx.ModelProto:
    return model(node("Relu", "x"))


def changed(change: Callable[[onnx.ModelProto], object], base=None) -> onnx.ModelProto:
    """Return a model (default: x -> Relu -> y) after a change in place."""
    result = base or relu()
    change(result)
    return result
