"""Models of one node of domain ai.onnx.ml."""

from __future__ import annotations

from dataclasses import dataclass

import onnx
from onnx import helper

from tests.host.ops.against_ort import Node
from tools.converter.convert import Converted, Options, convert


@dataclass
class MlNode(Node):
    """A node of ai.onnx.ml with open output sizes, so that the converter infers them."""

    opset: int = 3  # of ai.onnx.ml

    def model(self, shapes=None) -> onnx.ModelProto:
        """Return the model; without shapes, its outputs are a label and a row for each sample."""
        ranks = [len(s) for s in shapes] if shapes else [1, 2][-len(self.dtypes) :]
        open_shapes = [[f"y{i}_{k}" for k in range(rank)] for i, rank in enumerate(ranks)]
        model = super().model(open_shapes)
        model.graph.node[0].domain = "ai.onnx.ml"
        del model.opset_import[:]
        opsets = [("ai.onnx.ml", self.opset), ("", 15)]
        model.opset_import.extend(helper.make_opsetid(*o) for o in opsets)
        return model

    def converted(self, outputs) -> Converted:
        conversion = convert(self.model([y.shape for y in outputs]), Options(strip=True))
        assert [t.shape for t in conversion.graph.outputs] == [y.shape for y in outputs], str(self)
        return conversion

    def __str__(self):
        short = (int, float, str, bytes)
        few = {k: v for k, v in self.attrs.items() if isinstance(v, short)}
        return f"{self.op}-{self.opset} {[x.shape for x in self.inputs]} {few}"
