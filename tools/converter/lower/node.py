"""Node: an ONNX node as its lowering sees it.

It is the only way in which tools/converter/ops reaches the graph.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx
from onnx import helper

from tools.format import objects

from ..context import Context
from ..errors import BlockedProblem, DtypeProblem, Problem
from ..ir import STEP_ATTRIBUTES, Graph, Step, Tensor, dtype_name
from ..kernel_parameters import declaration_of, listed
from ..numbers.precision import Precision
from ..protos import free_inputs, name_of, operator_of, opset_of
from ..shapes import contents, extent
from ..shapes.infer_extents import NEEDS_BOUND
from ..shapes.signature import Signature

_MAX_CHOOSER_NELEM = 8  # elements of an input that chooses: a sampling rate, a switch


class Scope(Protocol):
    """The graph in which a node is lowered: see Lowerer."""

    model: onnx.ModelProto
    context: Context
    precision: Precision
    graph: Graph
    values: Mapping[str, Tensor]
    blocked: Collection[str]
    unknown: Mapping[str, str]
    wide: MutableMapping[Tensor, Tensor]

    def lower_body(
        self, graph: onnx.GraphProto, inputs: Sequence[Tensor]
    ) -> tuple[list[Step], list[Tensor]]:
        """Return the steps and outputs of a subgraph."""


class Node(Signature):
    """An ONNX node, with its tensors, for a lowering that emits steps for it.

    Attributes:
        inputs: its input tensors, None for each that is absent.
        outputs: its output tensors, None for each that is absent.
        steps: the list that `emit` adds to.
    """

    def __init__(self, scope: Scope, proto: onnx.NodeProto, lowering):
        self._scope = scope
        self._temps = 0
        module = sys.modules[lowering.lower.__module__]
        self._own_kernels = Path(str(module.__file__)).parent / "device"  # see own
        self.steps = scope.graph.steps
        self.name = f"{operator_of(proto)} {name_of(proto)}"
        super().__init__(proto, opset_of(scope.model, proto.domain), ())
        self.inputs = self._values("input", proto.input)
        self.outputs = self._values("output", proto.output)
        for i in lowering.fixes_shape:
            if self.input(i) is not None and i not in lowering.at_run_time:
                self.const(i)

    def _values(self, which, names):
        return [self._value(n, f"{which} {i}") if n else None for i, n in enumerate(names)]

    def _value(self, name, what):
        t = self._scope.values.get(name)
        if t is None and name in self._scope.blocked:
            raise BlockedProblem(f"{what} ({name}) is unknown")
        if t is None:
            bound = f"--bound {name}=N says how many elements there can be"
            remedy = bound if self.op in NEEDS_BOUND and what.startswith("output") else ""
            if self.op == "If" and (choice := _chooser(self._scope.model, self.proto.input[0])):
                remedy = f"--bind {choice}=FILE.npy chooses the branch"
            reason = self._scope.unknown.get(name, "shape unknown")
            raise Problem(f"{what} ({name}): {reason}", remedy)
        return t

    def const(self, i: int, name: str = "") -> np.ndarray:
        """Return the contents of the i-th input.

        Args:
            i: index of the input.
            name: its name in ONNX, for the message.

        Raises:
            Problem: if only a run knows the contents.
        """
        t = self.inputs[i]
        if t.data is None:
            raise Problem(
                f"input {name or i} ({t.name}) is not known at conversion",
                f"fix it with --bind {t.name}=FILE.npy if it is a graph input",
            )
        return t.data

    @property
    def is_exact(self) -> bool:
        """Return True if float32 products use block floating point (see numbers/precision.py)."""
        return self._scope.precision.is_exact(name_of(self.proto))

    @property
    def is_short(self) -> bool:
        """Return True if known weights of its exact products shall have short mantissas."""
        return self._scope.precision.is_short(name_of(self.proto))

    def is_raw(self, x: Tensor) -> bool:
        """Return True for graph inputs and their squares, whose elements may have any unit."""
        if any(x is t for t in self._scope.graph.inputs):
            return True
        made = [s for s in self.steps if s.kernel == "binary" and s.outputs[0] is x]
        squares = [s for s in made if s.inputs[0] is s.inputs[1]]
        return bool(squares) and self.is_raw(squares[0].inputs[0])

    @property
    def onnx_opset(self) -> int:
        """Return the version of ONNX's own operators in the model."""
        return opset_of(self._scope.model, "")

    @property
    def is_kept(self) -> bool:
        """Return True if the device has to compute even what is constant (--optimize 0)."""
        return self._scope.context.keeps_operators

    @property
    def held_bits(self) -> int:
        """Return the bits that store weights of float32 products without loss (Precision.bits)."""
        return self._scope.precision.bits

    @property
    def bounds(self) -> Mapping[str, int]:
        """Return the bounds of --bound, by name of the value."""
        return self._scope.context.bounds

    def contents(self, i: int) -> np.ndarray | None:
        """Return the i-th input as ints and Extents, or None if shapes do not determine it."""
        t = self.input(i)
        if t is None or t.data is None:
            return None if t is None else t.contents
        return contents.of_constant(t.data)

    def require_dtype(self, *dtypes: int) -> int:
        """Return the dtype of the first input.

        Raises:
            DtypeProblem: if it is not one of these ONNX numbers.
        """
        dtype = self.inputs[0].dtype
        if dtype not in dtypes:
            raise DtypeProblem(f"dtype {dtype_name(dtype)}")
        return dtype

    def emit(
        self,
        kernel: str,
        inputs: Iterable[Tensor],
        outputs: Iterable[Tensor],
        params: Iterable[int] = (),
        **named: Any,
    ) -> None:
        """Add a step. Several steps may write parts of one output.

        Args:
            kernel: its name.
            inputs: the step's inputs.
            outputs: the step's outputs.
            params: the parameters of a user's kernel that declares none.
            **named: other attributes of Step (scratch, macs, ...), and all parameters that the
                kernel declares (see kernel_parameters).

        Raises:
            ParameterError: if the names are not those that the kernel declares.
        """
        attributes = {name: named.pop(name) for name in STEP_ATTRIBUTES & named.keys()}
        declared = declaration_of(kernel) or declaration_of(kernel, self._own_kernels)
        values = [extent.kept(p) for p in listed(declared, kernel, named, params)]
        if any(not -(1 << 31) <= p < 1 << 31 for p in values):
            what = "a run-time extent" if extent.any_open(values) else "a parameter"
            raise Problem(f"{what} of kernel {kernel} exceeds 32 bits")
        step = Step(kernel, list(inputs), list(outputs), values, node=self.name, **attributes)
        step.macs = int(step.macs)
        self.steps.append(step)

    def temp(self, dtype: int, shape: Iterable[int]) -> Tensor:
        """Return a new intermediate value, also for use as scratch."""
        self._temps += 1
        name = f"{self.proto.output[0]}/{self._temps}"
        return Tensor(name, dtype, tuple(map(extent.kept, shape)))

    def constant(self, data: np.ndarray) -> Tensor:
        """Return a new constant of the ONNX dtype that corresponds to numpy's."""
        data = np.asarray(data, order="C")
        is_text = data.dtype.kind in "OUS"
        dtype = objects.STRING if is_text else helper.np_dtype_to_tensor_dtype(data.dtype)
        t = self.temp(dtype, data.shape)
        t.data = data
        return t

    def alias(self, out: Tensor, x: Tensor) -> None:
        """Make `out` a view of x with another shape: no step, no copy."""
        if x.data is not None:
            out.data = x.data.reshape(out.shape)
            return
        out.alias = x
        wide = self._scope.wide.get(x)
        if wide is not None:
            self._scope.wide[out] = self.reshaped(wide, out.shape)

    def reshaped(self, x: Tensor, shape: Iterable[int]) -> Tensor:
        """Return x with another shape, for use as an input of a step."""
        t = self.temp(x.dtype, shape)
        self.alias(t, x)
        return t

    @contextmanager
    def emitting_to(self, steps: list[Step]):
        """Let `emit` add steps to a body's list until the context ends."""
        outer, self.steps = self.steps, steps
        try:
            yield
        finally:
            self.steps = outer

    def lower_body(
        self, attribute: str, inputs: Sequence[Tensor]
    ) -> tuple[list[Step], list[Tensor]]:
        """Lower the subgraph in an attribute.

        Args:
            attribute: the name of the attribute.
            inputs: tensors that the subgraph's inputs stand for.

        Returns:
            The subgraph's steps and outputs.
        """
        return self._scope.lower_body(self.attr(attribute), inputs)


def _chooser(model: onnx.ModelProto, name: str) -> str:
    """Return the only graph input that a value depends on, if it is small; else ""."""
    makers = {output: node for node in model.graph.node for output in node.output}
    inputs = {info.name: info for info in free_inputs(model.graph)}
    pending, seen = [name], set()
    while pending:
        value = pending.pop()
        if value and value not in seen:
            seen.add(value)
            pending += makers[value].input if value in makers else ()
    sources = [inputs[value] for value in seen if value in inputs]
    return sources[0].name if len(sources) == 1 and _is_small(sources[0]) else ""


def _is_small(info):
    t = info.type.tensor_type
    dims = [d.dim_value for d in t.shape.dim]
    return t.HasField("shape") and 0 < math.prod(dims) <= _MAX_CHOOSER_NELEM
