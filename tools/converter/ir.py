"""The lowered graph: tensors and kernel steps, before the planner and the file writer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from onnx import helper

from tools.format import objects
from tools.format.dtypes import ITEMSIZES, dtype_name, packed_bits

from .file.weights import Weights
from .kernel_parameters import ParameterError, declaration_of, listed
from .shapes import extent


@dataclass(eq=False)
class Tensor:
    """A value of the lowered graph: an input, a constant, or a result of a step.

    Attributes:
        name: its name.
        dtype: ONNX's number of the dtype.
        shape: numbers or Extents; OPEN (see tools/format/objects.py) for a dimension of strings
            that only a run decides.
        data: its contents, if known at conversion.
        alias: the tensor whose memory this one shares (after Reshape, for instance), or None.
        offset: bytes into the arena or the file, set by the plan and the file writer; for an
            object its slot.
        contents: like `data`, with Extents among the numbers (see shapes/contents.py); only for
            small integer tensors.
        persistent: it keeps its value from run to run (see plan/state.py).
        halves: a float constant that float16 holds without loss, and that the file stores as
            float16.
        alias_at: bytes from the start of `alias` to the start of this tensor.
    """

    name: str
    dtype: int
    shape: tuple[int, ...]
    data: np.ndarray | None = None
    alias: Tensor | None = None
    offset: int = 0
    contents: np.ndarray | None = None
    persistent: bool = False
    halves: bool = False
    alias_at: int = 0

    @property
    def root(self) -> Tensor:
        """Return the tensor that owns this tensor's memory."""
        return self.alias.root if self.alias else self

    @property
    def start(self) -> int:
        """Return the offset of this tensor in the memory of its root [bytes]."""
        return self.alias.start + self.alias_at if self.alias else 0

    @property
    def nelem(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    @property
    def is_object(self) -> bool:
        """Return True for strings and maps, which a board keeps as Python objects."""
        return self.dtype in objects.OBJECTS

    @property
    def is_open_object(self) -> bool:
        """Return True for strings whose shape only a run decides."""
        return self.is_object and objects.OPEN in self.shape

    @property
    def itemsize(self) -> int:
        """Return the bytes of one element."""
        return ITEMSIZES[self.dtype]

    @property
    def nbytes(self) -> int:
        """Return the bytes of all elements."""
        return self.nelem * self.itemsize

    @property
    def planned_nbytes(self) -> int:
        """Return the bytes that the arena reserves for the largest shape that a run may decide.

        A view never needs more than the tensor whose memory it shares.
        """
        nelem = self.nelem
        if isinstance(nelem, extent.Extent):
            nelem = int(extent.bound_of(nelem))
        own = nelem * self.itemsize
        return min(own, self.alias.planned_nbytes) if self.alias else own

    @property
    def is_open(self) -> bool:
        """Return True for a tensor of numbers whose shape only a run decides."""
        return any(isinstance(d, extent.Extent) and extent.is_open(d) for d in self.shape)

    @property
    def stored_nbytes(self) -> int:
        """Return the bytes that a constant takes in the file."""
        if self.is_object:
            return len(objects.string_bytes(self.root.data))
        bits = packed_bits(self.dtype)
        return -(-self.nelem * bits // 8) if bits else self.nbytes

    @property
    def np_dtype(self) -> np.dtype:
        """Return numpy's dtype, object for strings and maps."""
        if self.is_object:
            return np.dtype(object)
        return helper.tensor_dtype_to_np_dtype(self.dtype)

    def __str__(self):
        return f"{self.name} {dtype_name(self.dtype)} {list(self.shape)}"


@dataclass(eq=False)
class Step:
    """One call of a kernel.

    Attributes:
        params: the kernel's parameters in the order that it declares; use step[name] to access
            them.
        node: the ONNX node that the step came from, for messages.
        macs: nominal multiply-accumulates, without those in the bodies.
        bodies: the steps of each subgraph (Loop, If, Scan).
        trips: how often a body runs, at most.
        in_place: (input, output) pairs that may share memory: when the kernel writes an element of
            the output, neither it nor another step of the node still reads the input there.
        over: inputs whose last reader is this step and which its first output may overwrite. Maps
            the input's index to its lead: the bytes by which the output must start before the
            input, at least (see steps/overlap.py).
        behind: like `over`, for kernels that read windows and write behind them.
        rows: how to cut the step into steps for some rows of an image, or None (see
            steps/rows.py).
        grow: grow(step, bytes, lead) enlarges the scratch to that many bytes at most, if the
            kernel is faster with it. The lead of input 0 stays within `lead` (None: any).
        lacks: sizes of scratch [bytes] that speed the kernel up so much that the arena may grow
            for them. The first that the arena takes is used.
    """

    kernel: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    params: list[int]
    scratch: list[Tensor] = field(default_factory=list)
    node: str = ""
    macs: int = 0
    bodies: list[list[Step]] = field(default_factory=list)
    trips: int = 1
    in_place: Sequence[tuple[Tensor, Tensor]] = ()
    over: Mapping[int, int] = field(default_factory=dict)
    behind: Mapping[int, int] = field(default_factory=dict)
    rows: Any = None
    grow: Callable[[Step, int, int | None], None] | None = None
    lacks: Sequence[int] = ()

    @classmethod
    def of(cls, kernel: str, inputs: list[Tensor], outputs: list[Tensor], **named: Any) -> Step:
        """Make a step with parameters by name.

        Args:
            kernel: the name of the kernel.
            inputs: the step's inputs.
            outputs: the step's outputs.
            **named: the kernel's parameters, and any other attributes of Step.

        Raises:
            ParameterError: if the names are not those that the kernel declares.
        """
        attributes = {name: named.pop(name) for name in STEP_ATTRIBUTES & named.keys()}
        params = listed(declaration_of(kernel), kernel, named, ())
        return cls(kernel, inputs, outputs, list(params), **attributes)

    def __getitem__(self, name: str) -> Any:
        """Return a parameter by its declared name: a number, or the list of a group.

        Raises:
            ParameterError: if the kernel declares no parameter of that name.
        """
        place = self._place(name)
        values = self.params[place.at : place.end]
        return values if place.field.is_group else values[0]

    def __setitem__(self, name: str, value: Any) -> None:
        place = self._place(name)
        values = list(value) if place.field.is_group else [value]
        if len(values) != place.n:
            raise ParameterError(f"kernel {self.kernel}: {len(values)} numbers of {name}")
        self.params[place.at : place.end] = values

    def _place(self, name):
        declared = declaration_of(self.kernel)
        if declared is None:
            raise ParameterError(f"kernel {self.kernel} declares no parameters")
        return declared.place(self.params, name)

    def set_params(self, **named: Any) -> None:
        """Replace all parameters, by name."""
        self.params[:] = listed(declaration_of(self.kernel), self.kernel, named, ())

    def with_params(self, **named: Any) -> Step:
        """Return a copy of the step with some parameters changed."""
        step = replace(self, params=list(self.params))
        for name, value in named.items():
            step[name] = value
        return step

    def lead(self, root: Tensor, rows: bool = True) -> int | None:
        """Return the lead with which the first output may overwrite an input.

        Args:
            root: root of the input.
            rows: also allow leads of `behind`, not only of `over`.

        Returns:
            By how many bytes the root of the output must start before `root`; None if the two must
            not share memory.
        """
        leads = []
        allowed = {**self.behind, **self.over} if rows else self.over
        for i, t in enumerate(self.inputs):
            if t.root is root:
                if i not in allowed:
                    return None
                leads.append(allowed[i] + self.outputs[0].start - t.start)
        if any(t.root is root for t in self.outputs + self.scratch):
            return None
        return max(0, *leads) if leads else None

    def is_same_place(self, root: Tensor) -> bool:
        """Return True if the root of the first output may start where `root` of an input does."""
        if not self.outputs or not all(t.start == 0 for t in self.inputs if t.root is root):
            return False
        if sum(t.root is root for t in self.inputs + self.outputs + self.scratch) != 1:
            return False
        out = self.outputs[0]
        return out.start == 0 and any(
            x.root is root and y.root is out.root for x, y in self.in_place
        )

    @property
    def total_macs(self) -> int:
        """Return the nominal MACs, with those in the bodies; an If counts its larger branch."""
        inner = max((sum(s.total_macs for s in body) for body in self.bodies), default=0)
        return self.macs + self.trips * inner


STEP_ATTRIBUTES = {f.name for f in fields(Step)} - {"kernel", "inputs", "outputs", "params"}


def walk(steps: list[Step]) -> Iterator[Step]:
    """Yield all steps in order, each followed by the steps of its bodies."""
    for step in steps:
        yield step
        for body in step.bodies:
            yield from walk(body)


@dataclass(eq=False)
class Graph:
    """Steps in the order of execution, with the inputs and outputs of the model.

    Attributes:
        states: inputs that one run leaves for the next, which are not among `inputs`.
        weights: the chunks of the constants; None if a board holds all of them in memory.
        reads: the chunks of `weights` to read before a step.
        overlays: {(value, overwritten value): lead} of values that are both needed at some time,
            while the first gradually overwrites the second; the lead is in bytes.
    """

    inputs: list[Tensor]
    outputs: list[Tensor]
    steps: list[Step]
    nodes_before: int = 0
    nodes_after: int = 0
    states: list[Tensor] = field(default_factory=list)
    weights: Weights | None = None
    reads: dict[Step, list[int]] = field(default_factory=dict)
    overlays: dict[tuple[Tensor, Tensor], int] = field(default_factory=dict)

    def tensors(self) -> list[Tensor]:
        """Return every tensor once: inputs, outputs, then all others in order of use."""
        seen = dict.fromkeys(self.inputs + self.outputs)
        for step in walk(self.steps):
            seen.update(dict.fromkeys(step.inputs + step.outputs + step.scratch))
        return list(seen)
