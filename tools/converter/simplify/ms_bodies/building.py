"""Declare function bodies of operators, and build their nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ...errors import Problem
from ...external_weights import array_of

DOMAIN = "com.microsoft"
BODIES: dict[str, Expansion] = {}  # by operator; filled by @expands when files are imported


@dataclass
class Expansion:
    """The function body of an operator, as @expands declares it.

    Attributes:
        inputs: formal names.
        outputs: formal names.
        fixes: inputs that must be known because they decide a shape.
        oldest: first opset of ai.onnx that the body can use.
        build: returns the function for a node, None if a lowering serves it.
    """

    inputs: list[str]
    outputs: list[str]
    fixes: list[str]
    oldest: int
    build: Callable[[Body], onnx.FunctionProto | None]


def expands(*operators: str, inputs: str, outputs: str = "Y", fixes: str = "", oldest: int = 13):
    """Declare the decorated function as the body of these operators.

    The function takes a Body and adds nodes to it. It returns the name of the output, or a list of
    names, or None if a lowering serves the node. It raises Problem if the node cannot be
    supported.

    Args:
        *operators: operator types of com.microsoft.
        inputs: formal names of the inputs, separated by spaces.
        outputs: formal names of the outputs.
        fixes: inputs that must be known because they decide a shape.
        oldest: first opset of ai.onnx that the body can use.
    """

    def declare(build):
        for operator in operators:
            if operator in BODIES:
                raise ValueError(f"two bodies for {operator}")
            names = (text.split() for text in (inputs, outputs, fixes))
            BODIES[operator] = Expansion(*names, oldest, _finished(build))
        return build

    return declare


def _finished(build):
    def function(b):
        results = build(b)
        if results is None:
            return None
        return b.function([results] if isinstance(results, str) else results)

    return function


class Body:
    """Builder of the function of one node.

    Values are names: formal names of inputs, and the names that the methods return for results.
    Methods raise Problem for a shape or dtype that is unknown.

    Attributes:
        node: the node to expand.
        types: types of all values of the graph, by name.
        version: opset of ONNX's domain.
        constants: tensors by name.
        formal: names of the node's inputs in the function.
        names: names of the inputs in the graph, by formal name.
        attributes: values of the node's attributes, by name.
        nodes: nodes of the function so far.
    """

    def __init__(
        self,
        node: onnx.NodeProto,
        types: Mapping[str, onnx.TypeProto],
        version: int,
        constants: Mapping[str, onnx.TensorProto],
        expansion: Expansion,
    ):
        self.node, self.types, self.version = node, types, version
        self.constants = constants
        self.formal, self._outputs = expansion.inputs, expansion.outputs
        if len(node.input) > len(self.formal):  # variadic
            more = range(len(self.formal), len(node.input))
            self.formal = [*self.formal, *(f"more{i}" for i in more)]
        self.names = dict(zip(self.formal, node.input, strict=False))
        self.attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.nodes: list[onnx.NodeProto] = []

    # Accessors of the node

    def has(self, name: str) -> bool:
        """Return True if the node has an input of this formal name."""
        return bool(self.names.get(name))

    def optional(self, name: str) -> str:
        """Return the formal name of an input, "" if the node lacks it."""
        return name if self.has(name) else ""

    def has_output(self, i: int) -> bool:
        """Return True if the node has output i."""
        return i < len(self.node.output) and bool(self.node.output[i])

    def attr(self, name: str, default=None):
        """Return the value of an attribute, strings as str."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def shape(self, name: str) -> list[int]:
        """Return the fixed dims of an input."""
        t = self.types.get(self.names[name], onnx.TypeProto()).tensor_type
        if not t.HasField("shape") or not all(d.HasField("dim_value") for d in t.shape.dim):
            raise Problem(f"{name}: shape unknown")
        return [d.dim_value for d in t.shape.dim]

    def rank(self, name: str) -> int:
        """Return the number of dims of an input."""
        t = self.types.get(self.names[name], onnx.TypeProto()).tensor_type
        if not t.HasField("shape"):
            raise Problem(f"{name}: shape unknown")
        return len(t.shape.dim)

    def extent(self, name: str, axis: int) -> int:
        """Return one fixed dim of an input."""
        dims = self.types.get(self.names[name], onnx.TypeProto()).tensor_type.shape.dim
        if not dims or not dims[axis].HasField("dim_value"):
            raise Problem(f"{name}: shape unknown")
        return dims[axis].dim_value

    def dtype(self, name: str) -> int:
        """Return the ONNX dtype of an input."""
        dtype = self.types.get(self.names[name], onnx.TypeProto()).tensor_type.elem_type
        if not dtype:
            raise Problem(f"{name}: dtype unknown")
        return dtype

    def known(self, name: str) -> np.ndarray | None:
        """Return the contents of an input if it is a constant, else None."""
        tensor = self.constants.get(self.names.get(name, ""))
        return None if tensor is None else array_of(tensor)

    # Nodes

    def add(self, op: str, *inputs: str, n: int = 1, **attributes):
        """Add a node of n outputs; return the name of its output, or a list of n names."""
        outputs = [f"v{len(self.nodes)}_{i}" for i in range(n)]
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))
        return outputs[0] if n == 1 else outputs

    def ints(self, *values: int) -> str:
        """Add a constant vector of int64."""
        return self.const(np.array(values, np.int64))

    def const(self, value, dtype=None) -> str:
        """Add a constant.

        Args:
            value: array or number.
            dtype: numpy's or ONNX's; by default the array's, float32 for a number.
        """
        if isinstance(dtype, int):
            dtype = helper.tensor_dtype_to_np_dtype(dtype)
        array = np.asarray(value, dtype if dtype is not None else getattr(value, "dtype", "f4"))
        return self.add("Constant", value=numpy_helper.from_array(array, "c"))

    def cast(self, x: str, dtype: int = TensorProto.FLOAT) -> str:
        """Cast x to another ONNX dtype."""
        return self.add("Cast", x, to=dtype)

    def reshape(self, x: str, *dims: int) -> str:
        """Reshape x, where a dim of 0 keeps the old one and -1 takes the rest."""
        return self.add("Reshape", x, self.ints(*dims))

    def transpose(self, x: str, *perm: int) -> str:
        """Transpose x to axes in this order."""
        return self.add("Transpose", x, perm=perm)

    def split(self, x: str, sizes: Sequence[int], axis: int) -> list[str]:
        """Split x along an axis into parts of these sizes."""
        if len(sizes) == 1:
            return [x]
        if self.version < 13:
            return self.add("Split", x, axis=axis, split=sizes, n=len(sizes))
        return self.add("Split", x, self.ints(*sizes), axis=axis, n=len(sizes))

    def slice(self, x: str, start: int, end: int, axis: int, step: int = 1) -> str:
        """Slice x along one axis."""
        return self.add("Slice", x, *(self.ints(v) for v in (start, end, axis, step)))

    def concat(self, parts: Sequence[str], axis: int) -> str:
        """Concatenate the parts along an axis."""
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=axis)

    def unsqueeze(self, x: str, *axes: int) -> str:
        """Insert axes of size 1 into x."""
        return self._by_axes("Unsqueeze", x, axes)

    def squeeze(self, x: str, *axes: int) -> str:
        """Remove these axes of size 1 from x."""
        return self._by_axes("Squeeze", x, axes)

    def mean(self, x: str, *axes: int) -> str:
        """Average x along these axes and keep them as size 1."""
        if self.version >= 18:
            return self.add("ReduceMean", x, self.ints(*axes))
        return self.add("ReduceMean", x, axes=axes)

    def sum(self, x: str, *axes: int, keepdims: int = 1) -> str:
        """Sum x along these axes."""
        return self._by_axes("ReduceSum", x, axes, keepdims=keepdims)

    def _by_axes(self, op, x, axes, **attributes):
        if self.version < 13:
            return self.add(op, x, axes=axes, **attributes)
        return self.add(op, x, self.ints(*axes), **attributes)

    def at_least(self, x: str, y: str) -> str:
        """Compute x >= y, which has an operator only since opset 12."""
        return self.add("Not", self.add("Less", x, y))

    def wide(self, x: str) -> str:
        """Return an input as float32."""
        return x if self.dtype(x) == TensorProto.FLOAT else self.cast(x)

    def narrow(self, x: str, like: str) -> str:
        """Cast a float32 value to the dtype of the input `like`."""
        dtype = self.dtype(like)
        return x if dtype == TensorProto.FLOAT else self.cast(x, dtype)

    def scaled_by_rms(self, x: str, epsilon: float) -> str:
        """Compute x / sqrt(mean(x * x) + epsilon) along the last axis."""
        squares = self.add("Add", self.mean(self.add("Mul", x, x), -1), self.const(epsilon))
        return self.add("Div", x, self.add("Sqrt", squares))

    def normalized(self, x: str, gamma: str, beta: str, epsilon: float) -> str:
        """Compute the layer normalization of x along its last axis."""
        if self.version >= 17:
            return self.add("LayerNormalization", x, gamma, beta, axis=-1, epsilon=epsilon)
        y = self.scaled_by_rms(self.add("Sub", x, self.mean(x, -1)), epsilon)
        return self.add("Add", self.add("Mul", y, gamma), beta)

    def function(self, results: Sequence[str]) -> onnx.FunctionProto:
        """Return the function whose outputs are these results.

        Raises:
            Problem: if the node has more outputs.
        """
        outputs = self._outputs[: len(self.node.output)]
        for i in range(len(self.node.output)):
            if self.has_output(i) and (i >= len(results) or not results[i]):
                name = self._outputs[i] if i < len(self._outputs) else f"output {i}"
                raise Problem(f"{name} is not supported")
        for i, name in enumerate(outputs):
            value = results[i] if i < len(results) and results[i] else self.nodes[-1].output[0]
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        used = self.formal[: len(self.node.input)]
        opsets = [helper.make_opsetid("", self.version), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_function("", self.node.op_type, used, outputs, self.nodes, opsets)
