"""A node as its lowering sees it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx
from onnx import helper

from tools.format import objects

from ..context import Context
from ..errors import BlockedProblem, DtypeProblem, Problem
from ..ir import Graph, Step, Tensor, dtype_name
from ..kernel_parameters import declaration_of, listed
from ..numbers.precision import Precision
from ..protos import name_of, operator_of, opset_of
from ..shapes import contents, extent
from ..shapes.infer_extents import NEEDS_BOUND
from ..shapes.signature import Signature
from ..steps.rows import ItemRows, Rows
from .decided import chooser


class Scope(Protocol):
    """The graph that a node is lowered in: see Lowerer."""

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
    """What a lowering sees of an ONNX node, and how it emits steps.

    inputs, outputs: Tensors, None where absent.
    """

    def __init__(self, scope: Scope, proto: onnx.NodeProto, lowering):
        self._scope = scope
        self._temps = 0
        module = sys.modules[lowering.lower.__module__]
        self._own_kernels = Path(str(module.__file__)).parent / "device"  # see own
        self.steps = scope.graph.steps  # where emit adds to
        self.name = f"{operator_of(proto)} {name_of(proto)}"
        super().__init__(proto, opset_of(scope.model, proto.domain), ())
        self.inputs = self._values("input", proto.input)
        self.outputs = self._values("output", proto.output)
        for i in lowering.fixes_shape:
            if self.input(i) is not None and i not in lowering.at_run_time:
                self.const(i)

    def _values(self, kind, names):
        return [self._value(n, f"{kind} {i}") if n else None for i, n in enumerate(names)]

    def _value(self, name, what):
        t = self._scope.values.get(name)
        if t is None and name in self._scope.blocked:
            raise BlockedProblem(f"{what} ({name}) is unknown")
        if t is None:
            bound = f"--bound {name}=N says how many items there can be"
            todo = bound if self.op in NEEDS_BOUND and what.startswith("output") else ""
            if self.op == "If" and (choice := chooser(self._scope.model, self.proto.input[0])):
                todo = f"--bind {choice}=FILE.npy chooses the branch"
            reason = self._scope.unknown.get(name, "shape unknown")
            raise Problem(f"{what} ({name}): {reason}", todo)
        return t

    def const(self, i: int, name: str = "") -> np.ndarray:
        """Contents of the i-th input. Raises Problem where only run time knows them."""
        t = self.inputs[i]
        if t.data is None:
            raise Problem(
                f"input {name or i} ({t.name}) is not known at conversion",
                f"fix it with --bind {t.name}=FILE.npy if it is a graph input",
            )
        return t.data

    @property
    def is_exact(self) -> bool:
        """True if its float32 products are those of block floating point (see precision)."""
        return self._scope.precision.is_exact(name_of(self.proto))

    @property
    def is_short(self) -> bool:
        """True if the known weights of its exact products are to be short mantissas."""
        return self._scope.precision.is_short(name_of(self.proto))

    def is_raw(self, x: Tensor) -> bool:
        """True for inputs of the graph and their squares, whose items may be of any units."""
        if any(x is t for t in self._scope.graph.inputs):
            return True
        made = [s for s in self.steps if s.kernel == "binary" and s.outputs[0] is x]
        squares = [s for s in made if s.inputs[0] is s.inputs[1]]
        return bool(squares) and self.is_raw(squares[0].inputs[0])

    @property
    def onnx_opset(self) -> int:
        """The version of ONNX's own operators in the model."""
        return opset_of(self._scope.model, "")

    @property
    def is_kept(self) -> bool:
        """True where the device is to compute what the converter could (--optimize 0)."""
        return self._scope.context.keeps_operators

    @property
    def held_bits(self) -> int:
        """Bits of the weights of its float32 products, if that many hold them without loss."""
        return self._scope.precision.bits

    @property
    def bounds(self) -> Mapping[str, int]:
        """What --bound gives, by name of a value."""
        return self._scope.context.bounds

    def contents(self, i: int) -> np.ndarray | None:
        """The i-th input as ints and Extents, as far as they follow from shapes; else None."""
        t = self.input(i)
        if t is None or t.data is None:
            return None if t is None else t.contents
        return contents.of_constant(t.data)

    def require_dtype(self, *dtypes: int) -> int:
        """dtype of the first input; DtypeProblem unless it is one of these ONNX numbers."""
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
        scratch: Iterable[Tensor] = (),
        macs: int = 0,
        bodies: Sequence[list[Step]] = (),
        trips: int = 1,
        in_place: Sequence[tuple[Tensor, Tensor]] = (),
        over: Mapping[int, int] | None = None,
        behind: Mapping[int, int] | None = None,
        rows: Rows | ItemRows | None = None,
        grow: Callable[[Step, int, int | None], None] | None = None,
        lacks: int = 0,
        **named: Any,
    ) -> None:
        """Adds a step. Several steps may write parts of one output.

        named: all the parameters that the kernel declares (see kernel_parameters); a user's kernel
        that declares none takes params, a list. in_place, over, behind, rows, grow, lacks: see
        Step.
        Raises ParameterError for names that are not the kernel's.
        """
        declared = declaration_of(kernel) or declaration_of(kernel, self._own_kernels)
        params = listed(declared, kernel, named, params)
        step = Step(
            kernel,
            list(inputs),
            list(outputs),
            [extent.kept(p) for p in params],
            list(scratch),
            self.name,
            int(macs),
            list(bodies),
            trips,
            in_place,
            over or {},
            behind or {},
            rows,
            grow,
            lacks,
        )
        if any(not -(1 << 31) <= p < 1 << 31 for p in step.params):
            what = "a run-time extent" if extent.any_open(step.params) else "a parameter"
            raise Problem(f"{what} of kernel {kernel} exceeds 32 bits")
        self.steps.append(step)

    def temp(self, dtype: int, shape: Iterable[int]) -> Tensor:
        """A new intermediate value (also for scratch)."""
        self._temps += 1
        name = f"{self.proto.output[0]}/{self._temps}"
        return Tensor(name, dtype, tuple(map(extent.kept, shape)))

    def constant(self, data: np.ndarray) -> Tensor:
        """A new constant; its numpy dtype decides the ONNX one."""
        data = np.asarray(data, order="C")
        is_text = data.dtype.kind in "OUS"
        dtype = objects.STRING if is_text else helper.np_dtype_to_tensor_dtype(data.dtype)
        t = self.temp(dtype, data.shape)
        t.data = data
        return t

    def alias(self, out: Tensor, x: Tensor) -> None:
        """Declares that out is x with another shape: no step, no copy."""
        if x.data is not None:
            out.data = x.data.reshape(out.shape)
            return
        out.alias = x
        wide = self._scope.wide.get(x)
        if wide is not None:
            self._scope.wide[out] = self.reshaped(wide, out.shape)

    def reshaped(self, x: Tensor, shape: Iterable[int]) -> Tensor:
        """x with another shape, for use as a step's input."""
        t = self.temp(x.dtype, shape)
        self.alias(t, x)
        return t

    @contextmanager
    def emitting_to(self, steps: list[Step]):
        """While it lasts, emit adds to these steps, of a body."""
        outer, self.steps = self.steps, steps
        try:
            yield
        finally:
            self.steps = outer

    def lower_body(
        self, attribute: str, inputs: Sequence[Tensor]
    ) -> tuple[list[Step], list[Tensor]]:
        """Steps and outputs of the subgraph in an attribute, with these Tensors as its inputs."""
        return self._scope.lower_body(self.attr(attribute), inputs)
