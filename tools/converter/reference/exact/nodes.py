"""Build the nodes that replace one node."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from copy import copy

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ...protos import attributes_of, name_of, operator_of


class OrtError(Exception):
    """onnxruntime does not run a model.

    Attributes:
        kind: name of onnxruntime's own exception; or "Crash", "Inexact".
    """

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


class Inexact(OrtError):
    """A product of integers cannot be computed exactly with onnxruntime."""

    def __init__(self, text: str):
        super().__init__("Inexact", text)


class Shapes:
    """Dims of values by name, as far as a model declares them; inner scopes see outer ones."""

    def __init__(
        self,
        known: Mapping[str, tuple[int, ...]] | None = None,
        infer: Callable[[], onnx.GraphProto] = onnx.GraphProto,
    ):
        """Create the outermost scope.

        Args:
            known: dims by name.
            infer: returns a graph with the dims that onnx infers; called if a value is not known.
        """
        self._known, self._infer = known or {}, infer

    def inside(self, graph: onnx.GraphProto | onnx.FunctionProto) -> Shapes:
        """Return the dims that nodes of a graph, or of a local function, can look up."""
        known = dict(self._known)
        for node in graph.node:
            if node.op_type == "Constant" and (value := attributes_of(node).get("value")):
                known[node.output[0]] = tuple(value.dims)
        if isinstance(graph, onnx.GraphProto):
            known |= _stated(graph)
        return Shapes(known, self._infer)

    def of(self, name: str) -> tuple[int, ...] | None:
        """Return the dims of a value, None if they are unknown."""
        if name not in self._known:
            self._known = _stated(self._infer()) | self._known
        return self._known.get(name)


def _stated(graph):
    known = {}
    for info in [*graph.input, *graph.value_info]:
        tensor = info.type.tensor_type
        if tensor.HasField("shape") and all(d.dim_value for d in tensor.shape.dim):
            known[info.name] = tuple(d.dim_value for d in tensor.shape.dim)
    return known | {t.name: tuple(t.dims) for t in graph.initializer}


class Nodes:
    """Builder of the nodes that replace one node of a graph.

    Attributes:
        made: nodes so far, in order.
        constants: Constant nodes of the whole graph, by contents.
    """

    _numbers = itertools.count()

    def __init__(self, products, versions: Mapping[str, int]):
        self.products, self._versions = products, versions
        self.constants: dict[tuple, onnx.NodeProto] = {}

    @property
    def version(self) -> int:
        """Return the opset of ONNX in the model, 0 if it imports none."""
        return self._versions.get("", 0)

    def of(self, node: onnx.NodeProto, shapes: Shapes) -> Nodes:
        """Return an empty builder for another node of the graph."""
        other = copy(self)
        other.node, other.shapes, other.made = node, shapes, []
        return other

    def input(self, i: int) -> str:
        """Return the name of an input, "" if it is omitted."""
        return self.node.input[i] if i < len(self.node.input) else ""

    def attribute(self, name: str, default):
        """Return the value of an attribute, or the default.

        Raises:
            Inexact: if the caller of a function sets the attribute.
        """
        for a in self.node.attribute:
            if a.name == name:
                if a.ref_attr_name:
                    raise self.inexact(f"attribute {name} comes from the caller of its function")
                return helper.get_attribute_value(a)
        return default

    def add(
        self, op: str, *inputs: str, domain: str = "", attributes=(), **node_attributes
    ) -> str:
        """Add a node of one output, and return the output's name."""
        [name] = self.add_all(op, inputs, 1, domain, **node_attributes)
        self.made[-1].attribute.extend(attributes)
        return name

    def add_all(
        self, op: str, inputs, count: int, domain: str = "", **node_attributes
    ) -> list[str]:
        """Add a node of several outputs, and return their names."""
        names = [f"mpconnxr/{self.products.name}/{next(Nodes._numbers)}" for _ in range(count)]
        self.made.append(helper.make_node(op, inputs, names, domain=domain, **node_attributes))
        return names

    def constant(self, value) -> str:
        """Add a constant of an array's dtype and shape."""
        array = np.asarray(value)
        key = array.dtype, array.shape, array.tobytes()
        if key not in self.constants:
            self.add("Constant", value=numpy_helper.from_array(array))
            self.constants[key] = self.made.pop()
        return self.constants[key].output[0]

    def cast(self, x: str, dtype) -> str:
        """Cast to a numpy dtype."""
        return self.add("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def scalar(self, x: str) -> str:
        """Reshape a tensor of one element to (): onnxruntime refuses other shapes when it runs."""
        return self.add("Reshape", x, self.constant(np.zeros(0, np.int64)))

    def quantize(self, x: str, zero: str) -> str:
        """Round float32 half to even, add a zero point and saturate to its dtype."""
        domain = "com.microsoft" if "com.microsoft" in self._versions else ""
        one = self.constant(np.float32(1))
        return self.add("QuantizeLinear", x, one, self.scalar(zero), domain=domain)

    def finish(self, value: str) -> None:
        """Make the value that was added last the node's output."""
        assert self.made[-1].output[0] == value
        self.made[-1].output[0] = self.node.output[0]

    def needs(self, version: int) -> None:
        """Check the opset of ONNX in the model.

        Raises:
            Inexact: if it is older than this version.
        """
        if self.version < version:
            raise self.inexact(f"that needs opset {version}")

    def inexact(self, why: str) -> Inexact:
        """Return the Inexact error for this node with a reason."""
        which = f"{operator_of(self.node)} {name_of(self.node)}"
        return Inexact(f"{which}: its products are not computed exactly: {why}")
