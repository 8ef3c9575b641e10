"""Declare the lowered graph: the steps that the device will run, before they become bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from onnx import helper

from tools.format import objects
from tools.format.dtypes import dtype_name, itemsize, packed_bits

from .file.weights import Weights
from .kernel_parameters import ParameterError, declaration_of, listed
from .shapes import extent


@dataclass(eq=False)
class Tensor:
    """A value.

    Attributes:
        name: its name.
        dtype: ONNX's number.
        shape: its dims; one of strings that only a run decides is OPEN (tools/format/objects.py).
        data: its contents, if they are known at conversion.
        alias: the tensor whose memory this one shares (Reshape and the like), else None.
        offset: bytes into the arena or the file, set by plan and layout; the slot of an object.
        contents: of small integer tensors, `data` with Extents in it (see shapes/contents.py).
        persistent: it lasts from run to run (see plan/state.py).
        halves: a constant of floats that float16 holds without loss, as the file does.
        alias_at: bytes into the memory of `alias`.

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
        """The tensor whose memory this one shares; itself without an alias."""
        return self.alias.root if self.alias else self

    @property
    def start(self) -> int:
        """Bytes into the root's memory."""
        return self.alias.start + self.alias_at if self.alias else 0

    @property
    def nelem(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def is_object(self) -> bool:
        """True for strings and maps, which a board keeps as Python objects."""
        return objects.is_object(self.dtype)

    @property
    def is_open_object(self) -> bool:
        """True for strings of which a run decides the shape."""
        return self.is_object and objects.OPEN in self.shape

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return itemsize(self.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.nelem * self.itemsize

    @property
    def planned_nbytes(self) -> int:
        """Bytes of memory: those of the largest it can be, within what it shares memory with."""
        own = int(extent.bound_of(self.nelem)) * self.itemsize
        return min(own, self.alias.planned_nbytes) if self.alias else own

    @property
    def is_open(self) -> bool:
        """True for numbers of which a run decides the shape."""
        return any(map(extent.is_open, self.shape))

    @property
    def stored_nbytes(self) -> int:
        """Bytes of a constant in the file."""
        if self.is_object:
            return len(objects.string_bytes(self.root.data))
        bits = packed_bits(self.dtype)
        return -(-self.nelem * bits // 8) if bits else self.nbytes

    @property
    def np_dtype(self) -> np.dtype:
        """numpy's dtype, object for strings and maps."""
        if self.is_object:
            return np.dtype(object)
        return helper.tensor_dtype_to_np_dtype(self.dtype)

    def __str__(self):
        return f"{self.name} {dtype_name(self.dtype)} {list(self.shape)}"


@dataclass(eq=False)
class Step:
    """One call of a kernel.

    Attributes:
        kernel: its name.
        inputs: values that it reads.
        outputs: values that it writes.
        params: its parameters in order, as the kernel declares them.
        scratch: temporary memory.
        node: the ONNX node that it is of, for messages.
        macs: nominal multiply-accumulates, without those of the bodies.
        bodies: the steps of its subgraphs (Loop, If, Scan), each run `trips` times at most.
        trips: see bodies.
        in_place: (input, output) pairs that may share memory: where they write, the kernel and the
            others of the same node no longer read the input.
        over: by number of an input that the first output may be written over if it ends with this
            step: the bytes by which the output must start before it (see plan/overlap.py).
        behind: the same of kernels that read windows and write behind them.
        rows: how to cut it into steps for some rows of an image, or None (see steps/rows.py).
        grow: gives it a larger scratch, of so many bytes at most, if that makes it faster; its
            lead of input 0 stays within the last argument (None: any).
        lacks: bytes of scratch with which it is so much faster that the arena may grow for them;
            the first that the arena takes.

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
        """Return a step whose parameters, and any other fields, are named.

        Args:
            kernel: its name.
            inputs: values that it reads.
            outputs: values that it writes.
            named: the kernel's parameters and other fields of the step, by name.

        Raises:
            ParameterError: if the kernel declares other parameters.

        """
        about = {name: named.pop(name) for name in _OTHERS & named.keys()}
        params = listed(declaration_of(kernel), kernel, named, ())
        return cls(kernel, inputs, outputs, list(params), **about)

    def __getitem__(self, name: str) -> Any:
        """Return a parameter by the name that its kernel declares; a list for a group.

        Raises:
            ParameterError: if the kernel declares no such parameter.

        """
        place = self._place(name)
        numbers = self.params[place.at : place.end]
        return numbers if place.field.is_group else numbers[0]

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
        """Set all parameters, by name."""
        self.params[:] = listed(declaration_of(self.kernel), self.kernel, named, ())

    def with_params(self, **named: Any) -> Step:
        """Return a copy with other values of these parameters."""
        step = replace(self, params=list(self.params))
        for name, value in named.items():
            step[name] = value
        return step

    def lead(self, root: Tensor, rows: bool = True) -> int | None:
        """Return how many bytes the first output must start before an input to lie over it.

        Args:
            root: the root of the input; that of the output is meant, too.
            rows: count what is `behind` as well.

        Returns:
            The bytes, or None if the output may not lie over the input.

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
        """Return True if the root of the first output may start where this one of inputs does."""
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
        """Nominal MACs with those of the bodies: of the larger one where there is a choice."""
        inner = max((sum(s.total_macs for s in body) for body in self.bodies), default=0)
        return self.macs + self.trips * inner


_OTHERS = {f.name for f in fields(Step)} - {"kernel", "inputs", "outputs", "params"}


def walk(steps: list[Step]) -> Iterator[Step]:
    """Yield all steps in order, a step before those of its bodies."""
    for step in steps:
        yield step
        for body in step.bodies:
            yield from walk(body)


@dataclass(eq=False)
class Graph:
    """Steps in order, with the inputs and outputs of the model.

    Attributes:
        inputs: values that the user sets.
        outputs: values that the user reads.
        steps: the steps.
        nodes_before: number of the model's nodes.
        nodes_after: number of its nodes after the rewrites.
        states: inputs that a run leaves for the next one; they are not among `inputs` any more.
        weights: how the constants lie in the file; None if a board holds all of them in memory.
        reads: chunks of these that are read before a step.
        overlays: by (value, other value that it may be written over while both are needed): the
            bytes by which it must start before the other.

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
        """Return every tensor once: inputs, outputs, then in order of use."""
        seen = dict.fromkeys(self.inputs + self.outputs)
        for step in walk(self.steps):
            seen.update(dict.fromkeys(step.inputs + step.outputs + step.scratch))
        return list(seen)
