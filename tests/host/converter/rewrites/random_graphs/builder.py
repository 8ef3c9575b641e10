"""A builder of random graphs around a pattern, with variations that all patterns share.

A rewrite must look at more than its pattern, so any of them may occur: operands in the other
order, negative axes, constants that are nodes, a second reader or an output in the middle, nodes
before and behind, and the whole of it in a branch.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSETS = (11, 12, 13, 15, 17, 18, 20, 21)
_MOST_ELEMENTS = 5000  # of a tensor
_COMMUTE = ("Add", "Mul", "Max", "Min", "Sum")
SMOOTH = ("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "LeakyRelu", "Softplus", "Elu")


class Misfit(Exception):
    """The drawn parts do not fit together: the next seed is tried."""


class Builder:
    """A builder of random nodes from a seed. A method that makes a value returns its name."""

    def __init__(self, seed: int, opsets: tuple[int, ...] = OPSETS):
        self.rng = np.random.default_rng(seed)
        self.opset = int(self.choice(*opsets))
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        self.inputs: dict[str, np.ndarray] = {}
        self.types: dict[str, onnx.ValueInfoProto] = {}
        self.unread: set[str] = set()  # what is not an output though nobody reads it

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def choice(self, *options):
        return options[self.rng.integers(len(options))]

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from low to high, both included."""
        return int(self.rng.integers(low, high, endpoint=True))

    def integers(self, low: int, high: int, n: int) -> list[int]:
        return [self.integer(low, high) for _ in range(n)]

    def dims(self, low: int, high: int, most: int = 6) -> list[int]:
        """Return a shape of low to high dims, now and then with a dim of 1."""
        return [self.choice(1, *self.integers(2, most, 4)) for _ in range(self.integer(low, high))]

    def order(self, rank: int) -> list[int]:
        return [int(a) for a in self.rng.permutation(rank)]

    def axis(self, axis: int, rank: int) -> int:
        """Return an axis, at times counted from the end."""
        return axis - rank if self.chance(0.4) else axis

    def shape(self, name: str) -> list[int]:
        t = self.types[name].type.tensor_type
        return [d.dim_value for d in t.shape.dim]

    def dtype(self, name: str) -> int:
        return self.types[name].type.tensor_type.elem_type

    def input(self, shape, dtype=np.float32) -> str:
        """Return an input: any integers, or floats around 0."""
        name, dtype = f"x{len(self.inputs)}", np.dtype(dtype)
        if dtype.kind == "f":
            self.inputs[name] = np.asarray(1.5 * self.rng.standard_normal(shape), dtype)
        else:
            ends = np.iinfo(dtype)
            self.inputs[name] = self.rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)
        self._know(name, self.inputs[name])
        return name

    def constant(self, data, dtype=None) -> str:
        name = f"c{len(self.constants)}"
        data = np.asarray(data, dtype)
        proto = numpy_helper.from_array(data, name)
        self._know(name, data)
        self.constants[name] = proto
        return name

    def _know(self, name, data):
        dtype = helper.np_dtype_to_tensor_dtype(data.dtype)
        self.types[name] = helper.make_tensor_value_info(name, dtype, data.shape)

    def randn(self, *shape: int, scale: float = 0.5) -> np.ndarray:
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def factors(self, *shape: int) -> np.ndarray:
        """Return floats of similar size and either sign."""
        size = self.rng.uniform(0.3, 2, shape)
        return (size * self.rng.choice([-1, 1], shape)).astype(np.float32)

    def op(self, op: str, *inputs, n: int = 1, **attributes):
        """Add a node and return its output, or a list of n outputs.

        Inputs are names, arrays that become constants, or None for an omitted one. Raises Misfit
        if ONNX does not allow the node.
        """
        names = [
            "" if x is None else x if isinstance(x, str) else self.constant(x) for x in inputs
        ]
        while names and not names[-1]:
            names.pop()
        if op in _COMMUTE and self.chance(0.4):
            names.reverse()
        outputs = [f"{op.lower()}{len(self.nodes)}_{i}" for i in range(n)]
        node = helper.make_node(op, names, outputs, f"{op}_{len(self.nodes)}", **attributes)
        self._infer(node)
        self.nodes.append(node)
        return outputs[0] if n == 1 else outputs

    def _infer(self, node):
        known = [name for name in dict.fromkeys(node.input) if name]
        infos = [self.types[name] for name in known if name not in self.constants]
        constants = [self.constants[name] for name in known if name in self.constants]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
        graph = helper.make_graph([node], "one", infos, outputs, constants)
        opsets = [helper.make_opsetid("", self.opset)]
        try:
            result = onnx.shape_inference.infer_shapes(
                helper.make_model(graph, opset_imports=opsets), strict_mode=True, data_prop=True
            )
        except (onnx.shape_inference.InferenceError, ValueError) as e:
            raise Misfit(str(e)) from None
        for info in result.graph.output:
            t = info.type.tensor_type
            dims = [d.dim_value if d.HasField("dim_value") else -1 for d in t.shape.dim]
            if not (
                t.HasField("shape")
                and 0 < np.prod(dims) <= _MOST_ELEMENTS
                and min(dims, default=1) > 0
            ):
                raise Misfit(f"{node.op_type} gives {dims}")
            self.types[info.name] = info

    # Operators whose arguments moved from attributes to inputs.

    def ints(self, op: str, x: str, values, since: int = 13, name: str = "axes", **attributes):
        """Add an operator of x and integers; return its output.

        Args:
            op: the operator.
            x: its first input.
            values: the integers.
            since: first opset in which they are an input.
            name: name of the attribute before.
            **attributes: further attributes.
        """
        if self.opset < since:
            return self.op(op, x, **{name: list(values)}, **attributes)
        return self.op(op, x, np.int64(values), **attributes)

    def squeeze(self, x: str, *axes: int) -> str:
        return self.ints("Squeeze", x, [self.axis(a, len(self.shape(x))) for a in axes])

    def unsqueeze(self, x: str, *axes: int) -> str:
        rank = len(self.shape(x)) + len(axes)
        return self.ints("Unsqueeze", x, [self.axis(a, rank) for a in axes])

    def reduce(self, op: str, x: str, *axes: int, keepdims: int = 1) -> str:
        axes = [self.axis(a, len(self.shape(x))) for a in axes]
        return self.ints(op, x, axes, 13 if op == "ReduceSum" else 18, keepdims=keepdims)

    def split(self, x: str, axis: int, sizes) -> list[str]:
        axis = self.axis(axis, len(self.shape(x)))
        if self.opset < 13:
            result = self.op("Split", x, n=len(sizes), axis=axis, split=list(sizes))
        else:
            result = self.op("Split", x, np.int64(sizes), n=len(sizes), axis=axis)
        return result if isinstance(result, list) else [result]

    def slice(self, x: str, axis: int, start: int, end: int, step: int = 1) -> str:
        axis = self.axis(axis, len(self.shape(x)))
        steps = None if step == 1 and self.chance(0.5) else np.int64([step])
        return self.op("Slice", x, np.int64([start]), np.int64([end]), np.int64([axis]), steps)

    def gather(self, x: str, axis: int, place: int, keeps: bool = False) -> str:
        """Return one index of an axis of x, gathered by a list of one index or by a scalar.

        Args:
            x: the value.
            axis: the axis.
            place: the index.
            keeps: the axis stays, with an extent of 1.
        """
        place = np.int64([place]) if keeps else np.int64(place)
        return self.op("Gather", x, place, axis=self.axis(axis, len(self.shape(x))))

    def reshape(self, x: str, *shape: int) -> str:
        """Return x in another shape, at times with one dim of -1."""
        shape = list(shape)
        if shape and self.chance(0.3):
            shape[self.integer(0, len(shape) - 1)] = -1
        return self.op("Reshape", x, np.asarray(shape, np.int64))

    def transpose(self, x: str, perm) -> str:
        perm = list(perm)
        is_reversal = perm == list(range(len(perm)))[::-1]
        return self.op(
            "Transpose", x, **({} if is_reversal and self.chance(0.5) else {"perm": perm})
        )

    # What lies around a pattern.

    def source(self, shape) -> str:
        """Return a float value of this shape: an input, or the output of a node on one."""
        shape, rank = list(shape), len(shape)
        kind = self.choice(
            "input", "input", "activation", "reshape", "transpose", "slice", "gather"
        )
        if kind == "activation":
            return self.op(self.choice(*SMOOTH), self.input(shape))
        if kind == "reshape":
            return self.reshape(self.input(self.regrouped(shape)), *shape)
        if kind == "transpose" and rank:
            perm = self.order(rank)
            return self.transpose(self.input([shape[perm.index(a)] for a in range(rank)]), perm)
        if kind in ("slice", "gather") and rank:
            axis = self.integer(0, rank - (kind == "slice"))
            if kind == "gather":
                n = self.integer(1, 3)
                more = [*shape[:axis], n, *shape[axis:]]
                return self.gather(self.input(more), axis, self.integer(-n, n - 1))
            start, left = self.integers(0, 2, 2)
            more = [*shape[:axis], shape[axis] + start + left, *shape[axis + 1 :]]
            return self.slice(self.input(more), axis, start, start + shape[axis])
        return self.input(shape)

    def regrouped(self, shape) -> list[int]:
        """Return another shape with as many elements."""
        n, dims = int(np.prod(shape)), []
        for _ in range(self.integer(0, 2)):
            dims.append(self.choice(*(d for d in range(1, n + 1) if n % d == 0)))
            n //= dims[-1]
        return [dims[i] for i in self.order(len(dims))] + [n]

    def behind(self, x: str, most: int = 2) -> str:
        """Add up to `most` nodes behind x, on which no pattern depends; return the last output."""
        for _ in range(self.integer(0, most)):
            try:
                x = self._one_behind(x)
            except Misfit:
                continue
        return x

    def _one_behind(self, x):
        shape = self.shape(x)
        rank = len(shape)
        kinds = ["activation", "add", "mul", "reshape"] + [
            "transpose",
            "gather",
            "slice",
            "largest",
        ] * bool(rank)
        kind, axis = self.choice(*kinds), self.integer(0, max(rank - 1, 0))
        if kind == "activation":
            return self.op(self.choice(*SMOOTH), x)
        if kind in ("add", "mul"):
            own = self.choice([], shape[-1:], [1] * rank, shape)
            return self.op(kind.title(), x, self.factors(*own))
        if kind == "reshape":
            return self.reshape(x, *self.regrouped(shape))
        if kind == "transpose":
            return self.transpose(x, self.order(rank))
        if kind == "largest":  # a mean could be what roundings leave of a sum of zero
            return self.reduce("ReduceMax", x, axis, keepdims=self.choice(0, 1))
        if kind == "gather":
            return self.gather(
                x, axis, self.integer(-shape[axis], shape[axis] - 1), self.chance(0.3)
            )
        return self.slice(x, axis, self.choice(0, -shape[axis]), max(1, shape[axis] - 1))

    # The whole.

    def model(self) -> onnx.ModelProto:
        """Return the model; its outputs are the unread values and at times one in the middle."""
        outputs = self._outputs()
        nodes = self._in_branch(outputs) if self.chance(0.06) else self.nodes
        as_nodes = [c for c in self.constants.values() if self.chance(0.1)]
        before = [helper.make_node("Constant", [], [c.name], value=c) for c in as_nodes]
        graph = helper.make_graph(
            [*before, *nodes],
            "random",
            [self.types[name] for name in self.inputs],
            [self.types[name] for name in outputs],
            [c for c in self.constants.values() if c not in as_nodes],
        )
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)

    def _outputs(self):
        read = {name for node in self.nodes for name in node.input}
        made = [name for node in self.nodes for name in node.output if name not in self.unread]
        outputs = [name for name in made if name not in read]
        middle = [name for name in made if name in read]
        if middle and self.chance(0.25):
            name = self.choice(*middle)
            is_float = self.dtype(name) == onnx.TensorProto.FLOAT
            outputs.append(self.op("Neg", name) if is_float and self.chance(0.5) else name)
        return outputs

    def _in_branch(self, outputs):
        """Return all nodes in a branch of an If, which a run chooses."""
        inner = [f"{name}/inner" for name in outputs]
        nodes = [_renamed(node, dict(zip(outputs, inner, strict=True))) for node in self.nodes]
        infos = [_info(name, self.types[out]) for name, out in zip(inner, outputs, strict=True)]
        others = [onnx.ValueInfoProto.FromString(i.SerializeToString()) for i in infos]
        zeros = []
        for info, out in zip(others, outputs, strict=True):
            info.name = f"{out}/zero"
            dtype = helper.tensor_dtype_to_np_dtype(self.dtype(out))
            zero = numpy_helper.from_array(np.zeros(self.shape(out), dtype))
            zeros.append(helper.make_node("Constant", [], [info.name], value=zero))
        self.inputs["chosen"] = np.asarray(True)
        self._know("chosen", self.inputs["chosen"])
        own = [] if self.chance(0.4) else [*self.constants.values()]
        for proto in own:
            del self.constants[proto.name]
        bodies = {
            "then_branch": helper.make_graph(nodes, "then", [], infos, own),
            "else_branch": helper.make_graph(zeros, "else", [], others),
        }
        return [helper.make_node("If", ["chosen"], outputs, "branch", **bodies)]


def _renamed(node, names):
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for field in (copy.input, copy.output):
        field[:] = [names.get(name, name) for name in field]
    return copy


def _info(name, like):
    copy = onnx.ValueInfoProto()
    copy.CopyFrom(like)
    copy.name = name
    return copy
