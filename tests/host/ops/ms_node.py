"""Models of one node of domain com.microsoft."""

from __future__ import annotations

from dataclasses import dataclass

import onnx
from onnx import helper

from tests.host.ops.against_ort import Node
from tools.converter.convert import Converted, Options, convert


@dataclass
class MsNode(Node):
    """A node of com.microsoft with open output sizes, so that the converter infers them."""

    opset: int = 17  # of ai.onnx
    domain: str = "com.microsoft"

    def model(self, shapes=None) -> onnx.ModelProto:
        shapes = shapes and [[f"y{i}_{k}" for k in range(len(s))] for i, s in enumerate(shapes)]
        model = super().model(shapes)
        model.graph.node[0].domain = self.domain
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        return model

    def converted(self, outputs) -> Converted:
        conversion = convert(self.model([y.shape for y in outputs]), Options(strip=True))
        assert [t.shape for t in conversion.graph.outputs] == [y.shape for y in outputs], str(self)
        return conversion
