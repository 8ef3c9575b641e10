"""Compare models of one node on a MicroPython target with onnxruntime, many in one process."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from tests.host.device import small
from tools.converter.convert import Converted, Options, convert
from tools.converter.reference import golden
from tools.harness import Job, input_bytes, output_value, run_jobs


@dataclass
class Node:
    """A node with its input arrays.

    Attributes:
        inputs: arrays, None for one that is omitted.
        fixed: numbers of those that are constants.
    """

    op: str
    inputs: list
    attrs: dict = field(default_factory=dict)
    opset: int = 20
    fixed: tuple[int, ...] = ()
    dtypes: tuple = (np.float32,)  # of the outputs

    def model(self, shapes=None) -> onnx.ModelProto:
        """Return the model; without shapes of the outputs it is for onnxruntime only."""
        names = ["" if x is None else f"x{i}" for i, x in enumerate(self.inputs)]
        outputs = [f"y{i}" for i in range(len(self.dtypes))]
        infos = [small.value(f"x{i}", x.shape, x.dtype) for i, x in self._variable()]
        constants = [numpy_helper.from_array(self.inputs[i], f"x{i}") for i in self.fixed]
        shapes = shapes or [None] * len(outputs)
        described = zip(outputs, shapes, self.dtypes, strict=True)
        results = [small.value(*description) for description in described]
        node = helper.make_node(self.op, names, outputs, **self.attrs)
        graph = helper.make_graph([node], "one", infos, results, constants)
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def _variable(self):
        numbered = enumerate(self.inputs)
        return [(i, x) for i, x in numbered if x is not None and i not in self.fixed]

    def values(self) -> list[np.ndarray]:
        return [np.asarray(x) for _, x in self._variable()]

    def expected(self) -> list[np.ndarray]:
        pytest.importorskip("onnxruntime")
        result = golden.reference(self.model(), self.values())
        assert result is not None, f"onnxruntime does not run {self}"
        return result

    def converted(self, outputs) -> Converted:
        return convert(self.model([y.shape for y in outputs]), Options(strip=True))

    def __str__(self):
        shapes = [None if x is None else f"{x.dtype}{list(x.shape)}" for x in self.inputs]
        return f"{self.op}-{self.opset} {shapes} {self.attrs}"


def run(target, nodes: list[Node], expected: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
    """Return each node's outputs on the target, shaped as expected; fail if one fails."""
    conversions = [n.converted(outputs) for n, outputs in zip(nodes, expected, strict=True)]
    jobs = [
        Job(c.data, [[input_bytes(x) for x in n.values()]])
        for n, c in zip(nodes, conversions, strict=True)
    ]
    outcomes = run_jobs(target, jobs)
    failures = [
        f"{n}: {o.error} {o.message}" for n, o in zip(nodes, outcomes, strict=True) if o.error
    ]
    assert not failures, "\n".join(failures)
    return [
        [
            output_value(raw, t.dtype, t.np_dtype, t.shape)
            for raw, t in zip(o.runs[0].outputs, c.graph.outputs, strict=True)
        ]
        for o, c in zip(outcomes, conversions, strict=True)
    ]


def compare(target, nodes: list[Node], expected=None, rtol=1e-5, atol=1e-6) -> None:
    """Run nodes on a target and compare their outputs; integers must be equal.

    Args:
        target: the target.
        nodes: the nodes.
        expected: their right outputs; None for onnxruntime's.
        rtol: relative tolerance of floats.
        atol: absolute tolerance of floats.
    """
    expected = [n.expected() for n in nodes] if expected is None else expected
    failures = []
    for node, got, want in zip(nodes, run(target, nodes, expected), expected, strict=True):
        for g, w in zip(got, want, strict=True):
            exact = g.dtype.kind != "f"
            try:
                assert g.dtype == w.dtype and g.shape == w.shape, f"{g.dtype} {g.shape}"
                if g.dtype == object:
                    np.testing.assert_array_equal(g, w)
                    continue
                np.testing.assert_allclose(g, w, 0 if exact else rtol, 0 if exact else atol)
            except AssertionError as e:
                failures.append(f"{node}: {' '.join(str(e).split())[:400]}")
    assert not failures, "\n".join(failures)
