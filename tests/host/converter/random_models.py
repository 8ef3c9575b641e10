"""Random models of many operators with odd shapes and attributes, from a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_MOST_ELEMENTS = 4000  # of a tensor
_OPSETS = (13, 17, 18, 21)


class Builder:
    """A builder of random nodes, whose inputs are drawn from the existing values."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.opset = int(self.rng.choice(_OPSETS))
        self.nodes, self.constants, self.shapes = [], {}, {}
        for shape in self._input_shapes():
            self.shapes[f"in{len(self.shapes)}"] = shape
        self.inputs = list(self.shapes)

    def _input_shapes(self):
        a, b, c = self.integers(2, 12, 3)
        kinds = [(1, int(self.rng.integers(1, 5)), a, b), (int(self.rng.integers(1, 5)), 3 * c)]
        return [kinds[i] for i in self.rng.integers(0, 2, self.rng.integers(1, 3))]

    def integers(self, low: int, high: int, n: int) -> list[int]:
        """Draw n integers from low to high, both included."""
        return [int(v) for v in self.rng.integers(low, high, n, endpoint=True)]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def choice(self, *options):
        return options[self.rng.integers(len(options))]

    def pick(self, rank: int | None = None) -> tuple[str, tuple[int, ...]]:
        """Return (name, shape) of a value, more often a recent one, or raise LookupError."""
        results = [(k, s) for k, s in self.shapes.items() if s and rank in (None, len(s))]
        if not results:
            raise LookupError(rank)
        return results[min(int(len(results) * self.rng.power(2.5)), len(results) - 1)]

    def like(self, shape: tuple[int, ...]) -> str:
        """Return another value of this shape."""
        return self.choice(*(k for k, s in self.shapes.items() if s == shape))

    def normal(self, *shape: int, scale: float | None = None) -> str:
        scale = 10 ** self.rng.uniform(-1.5, 0) if scale is None else scale
        return self.constant((self.rng.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, values, dtype=None) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.array(values, dtype), name)
        return name

    def shape_input(self, *values: int) -> str:
        return self.constant(values, np.int64)

    def add(self, op: str, *inputs: str, n_outputs: int = 1, **attrs) -> None:
        """Add a node, unless its outputs are empty or large."""
        names = [f"{op.lower()}{len(self.nodes)}_{i}" for i in range(n_outputs)]
        node = helper.make_node(op, inputs, names, **attrs)
        shapes = self._inferred(node)
        if all(0 < np.prod(s) <= _MOST_ELEMENTS for s in shapes):
            self.nodes.append(node)
            self.shapes.update(zip(names, shapes, strict=True))

    def _inferred(self, node):
        graph = self._graph([node], [i for i in node.input if i in self.shapes], node.output)
        model = onnx.shape_inference.infer_shapes(self._model(graph), strict_mode=True)
        return [
            tuple(d.dim_value for d in o.type.tensor_type.shape.dim) for o in model.graph.output
        ]

    def _graph(self, nodes, inputs, outputs):
        def info(name):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shapes.get(name))

        used = {name for node in nodes for name in node.input}
        constants = [t for name, t in self.constants.items() if name in used]
        sides = [[info(name) for name in dict.fromkeys(names)] for names in (inputs, outputs)]
        return helper.make_graph(nodes, "random", *sides, constants)

    def _model(self, graph):
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)

    def model(self) -> onnx.ModelProto:
        """Return the model; its outputs are all values that no node reads."""
        used = {name for node in self.nodes for name in node.input}
        made = [name for node in self.nodes for name in node.output]
        outputs = [name for name in made if name not in used]
        return self._model(self._graph(self.nodes, self.inputs, outputs))

    def values(self) -> dict[str, np.ndarray]:
        drawn = {k: 1.5 * self.rng.standard_normal(self.shapes[k]) for k in self.inputs}
        return {k: v.astype(np.float32) for k, v in drawn.items()}


def random_model(
    seed: int, operators: list[Callable[[Builder], None]]
) -> tuple[onnx.ModelProto, Builder]:
    """Return a model of up to 12 nodes of these operators, which depends on the seed alone."""
    b = Builder(seed)
    expected = int(b.rng.integers(2, 12, endpoint=True))
    while len(b.nodes) < expected:
        try:
            b.choice(*operators)(b)
        except (LookupError, onnx.shape_inference.InferenceError):
            continue  # nothing there that it fits
    return b.model(), b
