"""Record the calls of loops that a run of a model makes, from the kernels themselves."""

from __future__ import annotations

import io
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from mpconnxr.build import reader
from mpconnxr.build.calls import Constants
from mpconnxr.build.loader import Loader
from mpconnxr.errors import MpconnxrError
from mpconnxr.ops import _inline
from mpconnxr.tensor import Tensor, is_object

from . import changes
from .call import (
    INLINE,
    INPUT,
    OUTPUT,
    SCRATCH,
    UNKNOWN,
    Argument,
    Call,
    CannotRecord,
    Constant,
    DependsOnData,
    InterfaceTensor,
    Loop,
    Part,
    Place,
    Read,
    Recording,
    StepCalls,
    Value,
)
from .emitted import Unrolled, Words
from .memory import Memory, Region, view

# Exceptions of kernels whose checks were not tight enough.
_KERNEL_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError)


class _TooManyCalls(Exception):
    """A step makes more calls than Share.most_calls."""


class _Recorder:
    """Collect the calls that kernels emit, step by step."""

    def __init__(self) -> None:
        self.most_calls: int | None = None  # in a step
        self.steps: list[StepCalls] = []
        self.kernel: str | None = None  # of the current step
        self._blocks: dict[int, int] = {}  # number of a block in its step, by id
        self._held: list[Any] = []  # keeps ids unique while a step is recorded
        self._unknown: dict[int, set[int]] = {}  # indices of words that loops wrote, by block

    def begin(self, name: str, number: int | None = None, kernel: str | None = None) -> None:
        """Begin a step.

        Args:
            name: name of the step's node.
            number: number of the step in the file, if it has one.
            kernel: name of the step's kernel.
        """
        self.kernel = kernel
        self.steps.append(StepCalls(name, [], number, kernel))
        self._blocks, self._held, self._unknown = {}, [], {}

    def add(self, call: Call | Read) -> None:
        """Add a call to the current step."""
        calls = self.steps[-1].calls
        if len(calls) == self.most_calls:
            raise _TooManyCalls
        calls.append(call)

    def make(self, loop: Any, arguments: tuple, p: Any, origin: tuple[int, int]) -> None:
        """Add a call that a kernel emits.

        Args:
            loop: the loop.
            arguments: its arguments.
            p: its block.
            origin: see Call.origin.
        """
        number = self._blocks.setdefault(id(p), len(self._blocks))
        self._held.append(p)
        unknown = self._unknown.setdefault(number, set())
        words = [UNKNOWN if i in unknown else word for i, word in enumerate(p)]
        made = tuple(_argument(thing, p, number) for thing in arguments)
        call = Call(loop_of(loop), made, {number: words}, origin=origin)
        self.add(call)
        for part, indexes in changes.writes_of(call):
            n = part.last - part.first
            written = range(n) if indexes == changes.ALL else indexes
            unknown |= {part.first + i for i in written if i < n}
        call.changed[number] = sorted(unknown)


def _argument(thing: Any, p: Any, block: int) -> Argument:
    """Return the argument of a call for an object that a kernel passes.

    Args:
        thing: the object.
        p: parameter block of the call.
        block: number of the block.
    """
    if isinstance(thing, Region):
        return Place(thing.memory, thing.offset, thing.code, thing.n, thing.role)
    if isinstance(thing, Words):
        return Part(block, thing.first, len(p) if thing.last is None else thing.last)
    if thing is p:
        return Part(block, 0, len(p))
    if thing is None or isinstance(thing, str):
        return Value(thing)
    if isinstance(thing, list | tuple):
        return tuple(_argument(each, p, block) for each in thing)
    if isinstance(thing, array):
        return Constant(thing.typecode, thing.tobytes())
    if isinstance(thing, memoryview | bytes | bytearray):
        held = memoryview(thing)
        return Constant(held.format, held.tobytes())
    if isinstance(thing, Loop) or callable(thing):
        return loop_of(thing)
    raise DependsOnData(f"a loop takes {type(thing).__name__}")


def loop_of(loop: Any) -> Loop:
    """Return the Loop for a function of the package; a Loop as it is."""
    if isinstance(loop, Loop):
        return loop
    family = loop.__module__.rpartition(".")[2]
    if loop.__module__.startswith("mpconnxr.loops."):
        return Loop(family, loop.__name__)
    [source] = [source for (_, source), made in _inline.compiled.items() if made is loop]
    return Loop(INLINE + family, source)


class Share:
    """The part of a run to record: all of it. Subclasses choose the part of one core."""

    more_nbytes = 0  # added to the arena, for the other core's scratch
    most_calls: int | None = None  # a step with more is recorded without calls

    def recorded(self, step: int | None, n: int | None) -> None:
        """Take note of the number of calls of a step; None if it exceeds most_calls."""

    def parameters(self, step: int, params: Any) -> Any:
        """Return the parameters of a step, which may make its kernel work in smaller chunks."""
        return params

    def moved(self, step: int, scratch: list[Any]) -> list[int]:
        """Return the offsets of its scratch in the arena, if they differ from the file's."""
        return []

    def moved_outputs(self, step: int, outputs: list[Any]) -> list[int]:
        """Return the offsets of its outputs in the arena, if they differ from the file's."""
        return []

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        """Return parts of a step's extent, or of a read (None), between which the cores meet."""
        return [(0, n)]

    def meeting(self) -> Call | None:
        """Return the call that lets the cores meet; None for one core."""
        return None


def record(
    data: bytes,
    has_form: Callable[[str, str], bool],
    stream: bool = False,
    share: Share | None = None,
) -> Recording:
    """Record the calls of a run of a model file.

    Args:
        data: the model file.
        has_form: returns True if the board runs a family of loops in a form.
        stream: weights are read from a file while the model runs.
        share: the part of the run that one of two cores computes; None for all.

    Raises:
        CannotRecord: if the model cannot be a program.
    """
    share, recorder = share or Share(), _Recorder()
    try:
        read = Reader(io.BytesIO(data) if stream else data, stream=stream)
        if read.runtime_dims():
            raise CannotRecord("shapes that a run decides")
        if any(is_object(t.dtype) for t in read.tensors):
            raise CannotRecord("strings or maps")
        reads: tuple[tuple[int, int, int], ...] = ()
        if read.stream:
            reads = tuple((c.offset, c.nbytes, c.place or 0) for c in read.chunks)
            read.stream = _Stream(recorder)
        if any(c.widens > 1 for c in read.chunks):
            _refuse_unpacking()
        read.arena_nbytes += share.more_nbytes
        loader = _Loader(read, recorder, has_form, share)
        for i, (n, step) in enumerate(loader.steps):
            _record_step(recorder, share, str(i), n, step)
    except DependsOnData as e:
        raise CannotRecord(f"{_where(e)}: {e}", recorder.kernel) from e
    except MpconnxrError as e:
        raise CannotRecord(str(e)) from e
    except _KERNEL_ERRORS as e:
        raise CannotRecord(f"{recorder.kernel}: {type(e).__name__}: {e}") from e
    return Recording(
        recorder.steps,
        len(loader.arena),
        len(loader.state),
        read.resident,
        reads,
        tuple(_interface_tensor(t) for t in loader.inputs + loader.outputs),
        len(loader.inputs),
    )


def _record_step(recorder: _Recorder, share: Share, name: str, n: int, step: Any) -> None:
    """Record the calls of a step.

    Args:
        recorder: collects the calls.
        share: chooses the parts of the extent to record.
        name: name of the step.
        n: extent of the step.
        step: an _Emits, or a read of weights.

    Raises:
        CannotRecord: if the kernel computes in Python, without calls.
    """
    node = (step.number, step.kernel) if isinstance(step, _Emits) else (None, None)
    recorder.begin(name, *node)
    if isinstance(step, _Emits) and step.emit is None:
        raise CannotRecord(f"Python computes {step.kernel}", step.kernel)
    recorder.most_calls = share.most_calls
    try:
        for k, part in enumerate(share.parts(node[0], n)):
            meeting = share.meeting() if k else None
            if meeting:
                recorder.add(meeting)
            if part[0] < part[1]:
                step(*part)
    except _TooManyCalls:
        recorder.steps[-1].calls.clear()
        share.recorded(node[0], None)
    else:
        share.recorded(node[0], len(recorder.steps[-1].calls))


class Reader(reader.Reader):
    """Reader of a model file whose tensors have addresses instead of data, see memory.py."""

    @property
    def resident(self) -> tuple[int, int]:
        """Offset and size of the part of the file that must be in memory."""
        if not self.stream:
            return 0, self._source.nbytes
        held = [c for c in self.chunks if c.kind == reader.CHUNK_DATA]
        first = min([c.offset for c in held], default=0)
        return first, max([c.offset + c.nbytes for c in held], default=0) - first

    def buffer(self, t: Any, arena: Any, state: Any = None) -> tuple[Any, int]:
        """Return the memory that holds a tensor, and the tensor's offset in it."""
        buffer, within = super().buffer(t, arena, state)
        if isinstance(buffer, Memory):
            return buffer, within
        if t.packed:
            _refuse_unpacking()
        first, _ = self.resident
        return Memory("file", len(buffer), t.chunk.offset - first, buffer), within


class Operand(Tensor):
    """A tensor of one step, whose views carry its role in that step."""

    def __init__(self, t: Any, role: str = ""):
        vars(self).update(vars(t), _data=None, role=role)

    def view(self, code: str) -> Any:
        """Return its elements: their addresses, without contents."""
        if not isinstance(self._buffer, Memory):
            return super().view(code)
        made = view(self._buffer, self._offset, code, self.nbytes)
        made.role = self.role
        return made


class _Loader(Loader):
    """A loader whose steps record what kernels emit. Its memory has addresses, but no contents."""

    def __init__(
        self,
        read: Reader,
        recorder: _Recorder,
        has_form: Callable[[str, str], bool],
        share: Share,
    ):
        self._recorder, self._has_form, self._share = recorder, has_form, share
        self._moved: dict[tuple[str, int], int] = {}
        self._roles: list[str] = []
        super().__init__(read)

    def _allocated(self, nbytes: int, *own_arena: Any) -> Memory:
        # Loader passes the caller's arena here, and nothing for the state.
        return Memory("arena" if own_arena else "state", nbytes)

    def _prepare(self, reader: Any, index: int, node: Any) -> tuple[int, Any]:
        share = self._share
        self._recorder.kernel, inputs, outputs, scratch = node[:4]
        node = *node[:4], share.parameters(index, node[4]), *node[5:]
        places = share.moved_outputs(index, [reader.tensors[i] for i in outputs])
        self._moved = {(OUTPUT, i): at for i, at in zip(outputs, places, strict=False)}
        places = share.moved(index, [reader.tensors[i] for i in scratch])
        self._moved |= {(SCRATCH, i): at for i, at in zip(scratch, places, strict=False)}
        # in the order in which Loader creates a step's tensors
        self._roles = [INPUT] * len(inputs) + [OUTPUT] * len(outputs)
        self._roles += [SCRATCH] * len(scratch)
        n, emit = super()._prepare(reader, index, node)
        return n, _Emits(index, node[0], emit)

    def _follow(self, module: ModuleType, node: Any, place: Any) -> tuple[int, Any]:
        n, emit = super()._follow(module, node, place)
        return (n, emit) if isinstance(emit, _Emit) else (n, None)

    def _emitted(self, module: ModuleType, node: Any) -> tuple[int, Any]:
        constants = Constants()

        def emit(low: int, high: int) -> tuple[Any, int]:
            calls = Unrolled(constants, low, high, self._recorder.make, self._has_form)
            return module.prepare(node, calls), calls.extent

        step, n = emit(0, 0)
        return step or (n, _Emit(emit))

    def _tensor(self, reader: Any, i: int, info: Any, name: str | None = None) -> Any:
        role = self._roles.pop(0) if self._roles else ""
        at = self._moved.get((role, i))
        if at is not None:
            t = Tensor(self.arena, at, info.nbytes, info.dtype, info.shape)
        else:
            t = super()._tensor(reader, i, info, name)
        return Operand(t, role) if role and type(t) is Tensor else t


def _refuse_unpacking(*_: Any) -> None:
    raise CannotRecord("weights that are unpacked at load")


def _interface_tensor(t: Any) -> InterfaceTensor:
    grid = None if t.scale is None else (t.scale, t.zero_point)
    return (
        t._buffer.name,
        t._buffer.offset + t._offset,
        t.nbytes,
        t._dtype,
        t.shape,
        t.name,
        grid,
    )


@dataclass(frozen=True)
class _Emit:
    """Emits the calls of a part of a step's extent."""

    emit: Callable[[int, int], Any]

    def __call__(self, lo: int, hi: int) -> None:
        self.emit(lo, hi)


@dataclass(frozen=True)
class _Emits:
    """A step that knows its node. `emit` is None if Python computes it."""

    number: int
    kernel: str
    emit: _Emit | None

    def __call__(self, lo: int, hi: int) -> None:
        self.emit(lo, hi)


class _Stream:
    """Replacement for mpconnxr.stream.Stream."""

    def __init__(self, recorder: _Recorder):
        self._recorder = recorder

    def read(self, chunk: int, arena: Any) -> Callable:
        return lambda lo, hi: self._recorder.add(Read(chunk))

    def settle(self) -> None:
        pass


def _where(e: BaseException) -> str:
    """Return the innermost line of the package that raised an exception."""
    where, at = "", e.__traceback__
    while at:
        name = at.tb_frame.f_code.co_filename
        if "/mpconnxr/" in name:
            where = f"{Path(name).stem}:{at.tb_lineno}"
        at = at.tb_next
    return where
