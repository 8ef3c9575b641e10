"""Small graphs before and after rewriting, both run by onnxruntime with its own rewrites off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from tests.host.device import small
from tools.converter import load, pipeline
from tools.converter.reference import golden
from tools.converter.rewrites import Rewrite
from tools.converter.shapes.infer import infer
from tools.converter.shapes.types import known_values
from tools.converter.simplify import simplify

RTOL = 2e-5  # of the largest: what another order of float32 sums may change


def node(op: str, inputs: str, outputs: str, domain: str = "", **attributes) -> onnx.NodeProto:
    """Return a node.

    Args:
        op: the operator.
        inputs: names separated by blanks; `-` stands for an omitted one.
        outputs: names separated by blanks.
        domain: the operator's domain.
        **attributes: its attributes.
    """
    names = [[n.replace("-", "") for n in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *names, domain=domain, **attributes)


def randn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(np.float32)


@dataclass
class Case:
    """A graph to rewrite.

    Attributes:
        inputs: arrays by name.
        constants: arrays by name.
        outputs: names separated by blanks.
    """

    nodes: Sequence[onnx.NodeProto]
    inputs: Mapping[str, np.ndarray]
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)
    outputs: str = "y"
    opset: int = 17
    level: int = 2
    rtol: float = RTOL

    def model(self) -> onnx.ModelProto:
        infos = [small.value(name, x.shape, x.dtype) for name, x in self.inputs.items()]
        results = [onnx.ValueInfoProto(name=name) for name in self.outputs.split()]
        constants = [numpy_helper.from_array(np.asarray(c), n) for n, c in self.constants.items()]
        graph = helper.make_graph(self.nodes, "g", infos, results, constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def rewritten(self) -> Counter[str]:
        """Rewrite the graph and compare its numbers; return its operators with their counts."""
        pytest.importorskip("onnxruntime")
        model = simplify(load.prepare(_typed(self.model())))
        notes: list[str] = []
        result, self.log = pipeline.rewrite_model(model, self.level, notes=notes)
        assert not notes
        assert [o.name for o in result.graph.output] == self.outputs.split()
        compare(model, result, list(self.inputs.values()), 0 if self.level < 2 else self.rtol)
        self.done = result
        return Counter(n.op_type for n in result.graph.node)


def add_rewrite(monkeypatch, apply, level: int = 2, name: str = "faulty", at: int = 0) -> None:
    """Insert a rewrite into the pipeline's group while a test runs.

    Args:
        monkeypatch: pytest's fixture.
        apply: the function.
        level: level of --optimize.
        name: name of the file in which the rewrite seems to be.
        at: the index among the group's members.
    """
    monkeypatch.setattr(apply, "__module__", f"tools.converter.rewrites.{name}")
    new = Rewrite(apply, level)

    def with_new(one):
        if one.name != "rewrite":
            return one
        return replace(one, members=(*one.members[:at], new, *one.members[at:]))

    monkeypatch.setattr(pipeline, "PASSES", tuple(map(with_new, pipeline.PASSES)))


def compare(model, converted, inputs, rtol: float) -> None:
    """Fail unless two models have equal outputs; floats may differ by `rtol`.

    Args:
        model: the model.
        converted: the rewritten model.
        inputs: arrays in the graph's order.
        rtol: relative tolerance.
    """
    untyped = onnx.ModelProto()
    untyped.CopyFrom(converted)
    del untyped.graph.value_info[:]
    inferred = known_values(infer(untyped).graph)
    message = known_values(converted.graph)
    assert {name: inferred.get(name) for name in message} == message
    expected, got = golden.reference(model, inputs), golden.reference(converted, inputs)
    assert expected is not None, "onnxruntime does not run the model"
    assert got is not None, "onnxruntime does not run the rewritten model"
    for a, b in zip(expected, got, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        if a.dtype.kind == "f" and rtol:
            np.testing.assert_allclose(b, a, rtol, rtol * np.abs(a).max(initial=0))
        else:
            np.testing.assert_array_equal(b, a)


def _typed(model):
    """Return the model with the outputs' types, which onnx's checker requires."""
    inferred = onnx.shape_inference.infer_shapes(model)
    unknown = [o.name for o in inferred.graph.output if not o.type.tensor_type.elem_type]
    assert not unknown, f"no type for {unknown}"
    return inferred
