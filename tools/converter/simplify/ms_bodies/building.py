"""How a body is written: what declares it, and what collects its nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ...errors import Problem
from ...external_weights import array_of

DOMAIN = "com.microsoft"
BODIES: dict[str, Expansion] = {}


@dataclass
class Expansion:
    """inputs, outputs: formal names; build(body) gives the function, or None.

    fixes: inputs that must be known, for they decide a shape; oldest: opset of ai.onnx.
    """

    inputs: list[str]
    outputs: list[str]
    fixes: list[str]
    oldest: int
    build: Callable[[Body], onnx.FunctionProto | None]


def expands(*operators: str, inputs: str, outputs: str = "Y", fixes: str = "", oldest: int = 13):
    """Declares a body: build(b) adds nodes to b and gives the values of the outputs, in order.

    inputs, outputs: their formal names, by which nodes name the inputs. A lone value, or a list;
    None where a lowering serves the node. Raises Problem where nothing can. fixes: inputs that
    must be known; oldest: opset of ai.onnx that the body is written for.
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
    """Collects the nodes of one function. Values are names: of inputs, formal, and of results."""

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

    # What the node has

    def has(self, name: str) -> bool:
        """Whether an input is there."""
        return bool(self.names.get(name))

    def optional(self, name: str) -> str:
        """The input's formal name, "" if it is absent."""
        return name if self.has(name) else ""

    def wants(self, i: int) -> bool:
        """Whether the node has output i."""
        return i < len(self.node.output) and bool(self.node.output[i])

    def attr(self, name: str, default=None):
        """An attribute's value; strings are text."""
        value = self.attributes.get(name, default)
        return value.decode() if isinstance(value, bytes) else value

    def shape(self, name: str) -> list[int]:
        """An input's fixed extents. Raises Problem."""
        t = self.types.get(self.names[name], onnx.TypeProto()).tensor_type
        if not t.HasField("shape") or not all(d.HasField("dim_value") for d in t.shape.dim):
            raise Problem(f"{name}: shape unknown")
        return [d.dim_value for d in t.shape.dim]

    def rank(self, name: str) -> int:
        """An input's number of dims. Raises Problem."""
        t = self.types.get(self.names[name], onnx.TypeProto()).tensor_type
        if not t.HasField("shape"):
            raise Problem(f"{name}: shape unknown")
        return len(t.shape.dim)

    def extent(self, name: str, axis: int) -> int:
        """A fixed extent of an input. Raises Problem."""
        dims = self.types.get(self.names[name], onnx.TypeProto()).tensor_type.shape.dim
        if not dims or not dims[axis].HasField("dim_value"):
            raise Problem(f"{name}: shape unknown")
        return dims[axis].dim_value

    def dtype(self, name: str) -> int:
        """An input's ONNX dtype. Raises Problem."""
        dtype = self.types.get(self.names[name], onnx.TypeProto()).tensor_type.elem_type
        if not dtype:
            raise Problem(f"{name}: dtype unknown")
        return dtype

    def known(self, name: str) -> np.ndarray | None:
        """An input's contents, if it is a constant."""
        tensor = self.constants.get(self.names.get(name, ""))
        return None if tensor is None else array_of(tensor)

    # Nodes

    def add(self, op: str, *inputs: str, n: int = 1, **attributes):
        """A node; its output's name, or those of n outputs."""
        outputs = [f"v{len(self.nodes)}_{i}" for i in range(n)]
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))
        return outputs[0] if n == 1 else outputs

    def ints(self, *values: int) -> str:
        """A vector of int64."""
        return self.const(np.array(values, np.int64))

    def const(self, value, dtype=None) -> str:
        """An array, or a number: float32 by default. dtype: numpy's or ONNX's."""
        if isinstance(dtype, int):
            dtype = helper.tensor_dtype_to_np_dtype(dtype)
        array = np.asarray(value, dtype if dtype is not None else getattr(value, "dtype", "f4"))
        return self.add("Constant", value=numpy_helper.from_array(array, "c"))

    def cast(self, x: str, dtype: int = TensorProto.FLOAT) -> str:
        """x as another ONNX dtype."""
        return self.add("Cast", x, to=dtype)

    def reshape(self, x: str, *dims: int) -> str:
        """x in another shape. 0: an extent of its own, -1: what is left."""
        return self.add("Reshape", x, self.ints(*dims))

    def transpose(self, x: str, *perm: int) -> str:
        """x with its axes in this order."""
        return self.add("Transpose", x, perm=perm)

    def split(self, x: str, sizes: Sequence[int], axis: int) -> list[str]:
        """The parts of x with these sizes."""
        if len(sizes) == 1:
            return [x]
        if self.version < 13:
            return self.add("Split", x, axis=axis, split=sizes, n=len(sizes))
        return self.add("Split", x, self.ints(*sizes), axis=axis, n=len(sizes))

    def slice(self, x: str, start: int, end: int, axis: int, step: int = 1) -> str:
        """A part of x."""
        return self.add("Slice", x, *(self.ints(v) for v in (start, end, axis, step)))

    def concat(self, parts: Sequence[str], axis: int) -> str:
        """The parts, joined."""
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=axis)

    def unsqueeze(self, x: str, *axes: int) -> str:
        """x with more axes of one."""
        return self._by_axes("Unsqueeze", x, axes)

    def squeeze(self, x: str, *axes: int) -> str:
        """x without these axes."""
        return self._by_axes("Squeeze", x, axes)

    def mean(self, x: str, *axes: int) -> str:
        """Means along these axes, which stay."""
        if self.version >= 18:
            return self.add("ReduceMean", x, self.ints(*axes))
        return self.add("ReduceMean", x, axes=axes)

    def sum(self, x: str, *axes: int, keepdims: int = 1) -> str:
        """Sums along these axes."""
        return self._by_axes("ReduceSum", x, axes, keepdims=keepdims)

    def _by_axes(self, op, x, axes, **attributes):
        if self.version < 13:
            return self.add(op, x, axes=axes, **attributes)
        return self.add(op, x, self.ints(*axes), **attributes)

    def at_least(self, x: str, y: str) -> str:
        """x >= y, which has an operator of its own since opset 12 only."""
        return self.add("Not", self.add("Less", x, y))

    def wide(self, x: str) -> str:
        """An input as float32."""
        return x if self.dtype(x) == TensorProto.FLOAT else self.cast(x)

    def narrow(self, x: str, like: str) -> str:
        """A float32 value in the dtype of an input."""
        dtype = self.dtype(like)
        return x if dtype == TensorProto.FLOAT else self.cast(x, dtype)

    def scaled_by_rms(self, x: str, epsilon: float) -> str:
        """x / sqrt(mean(x * x) + epsilon), along the last axis."""
        squares = self.add("Add", self.mean(self.add("Mul", x, x), -1), self.const(epsilon))
        return self.add("Div", x, self.add("Sqrt", squares))

    def normalized(self, x: str, gamma: str, beta: str, epsilon: float) -> str:
        """The layer normalization of x along its last axis."""
        if self.version >= 17:
            return self.add("LayerNormalization", x, gamma, beta, axis=-1, epsilon=epsilon)
        y = self.scaled_by_rms(self.add("Sub", x, self.mean(x, -1)), epsilon)
        return self.add("Add", self.add("Mul", y, gamma), beta)

    def function(self, results: Sequence[str]) -> onnx.FunctionProto:
        """The body: results are its outputs. Raises Problem where the node has more."""
        outputs = self._outputs[: len(self.node.output)]
        for i in range(len(self.node.output)):
            if self.wants(i) and (i >= len(results) or not results[i]):
                name = self._outputs[i] if i < len(self._outputs) else f"output {i}"
                raise Problem(f"{name} is not supported")
        for i, name in enumerate(outputs):
            value = results[i] if i < len(results) and results[i] else self.nodes[-1].output[0]
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        used = self.formal[: len(self.node.input)]
        opsets = [helper.make_opsetid("", self.version), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_function("", self.node.op_type, used, outputs, self.nodes, opsets)
