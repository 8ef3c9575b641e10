"""The calls of loops that a run of a model makes, recorded from the kernels themselves."""

from __future__ import annotations

import inspect
import io
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tools import access, store

from .emitted import Unrolled
from .memory import INPUT, OUTPUT, SCRATCH, UNKNOWN, Block, DependsOnData, Memory, Region, flat
from .package import recorded
from .writes import ALL, inner_calls, written

_TRIED = (0, 1, 5)  # in words of which only a run, or a driver, knows what they are
INLINE = "inline:"
# What kernels raise beside their own errors, where a check was not tight enough.
_OF_A_FILE = (ArithmeticError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Loop:
    """A function of a family of loops; is_rare: it is imported when it is first called.

    One that a kernel makes of a source (ops/_inline) has that as its name, and as its family
    INLINE with the module of the kernel.
    """

    family: str
    name: str
    is_rare: bool = False


def _has_plain(family: str) -> bool:
    return "plain" in store.loops().modules(family)


@cache
def declaration(loop: Loop) -> access.Loop | None:
    """Return what a loop declares of its accesses; None where it has no declaration of its own."""
    declared = access.loops(loop.family) if _has_plain(loop.family) else {}
    found = declared.get(loop.name)
    return None if found is None or found.of_others or not found.is_declared else found


@dataclass(frozen=True)
class Part:
    """A part of a block: which of those of its step, and which of its words."""

    block: int
    first: int
    last: int


@dataclass(frozen=True)
class Table:
    """Constants that a kernel makes: an array of this struct code."""

    code: str
    contents: bytes


@dataclass(frozen=True)
class Place:
    """Items in the arena, the state, or the model file.

    role: what the tensor they belong to is to the step: INPUT, OUTPUT, SCRATCH, or "" if unknown.
    """

    memory: str
    offset: int
    code: str
    n: int
    role: str = field(default="", compare=False)


@dataclass(frozen=True)
class Value:
    """What a loop takes besides: a text that a rare one says, a number, or None."""

    value: str | int | None


@dataclass(frozen=True)
class Given:
    """What a program's start gives loops/handover: "h", words that two cores share; "w", those of
    a core's own program; "i", idle.
    """

    name: str


Argument = Loop | Part | Table | Place | Value | Given | tuple


@dataclass
class Call:
    """A call: its loop and arguments; words: of each block among them when it is made, UNKNOWN
    where a loop wrote; changed: which of them are so when it has returned; origin: which of the
    calls that the step's kernel emitted this is, in whatever part of the step it was recorded;
    None of a kernel that emits none.
    """

    loop: Loop
    arguments: tuple[Argument, ...]
    words: dict[int, list[Any]]
    changed: dict[int, list[int]] = field(default_factory=dict)
    origin: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Read:
    """A streamed chunk comes into the arena."""

    chunk: int


@dataclass
class Step:
    """What a step does in a run.

    number: its place in the file, and kernel: its own; None for a read of weights.
    """

    name: str
    calls: list[Call | Read] = field(default_factory=list)
    number: int | None = None
    kernel: str | None = None


class CannotRecord(Exception):
    """A model stays with the kernels; the text is why.

    kernel: that of the step that depends on data, if it is because of one.
    """

    def __init__(self, why: str, kernel: str | None = None):
        super().__init__(why)
        self.kernel = kernel


Border = tuple  # memory, offset, nbytes, dtype, shape, name, (scale, zero point) or None


@dataclass
class Recording:
    """resident: first byte and bytes of what has to be in memory of the file; reads: of each
    streamed chunk where it lies in the file, its bytes, its place in the arena; borders: inputs,
    then outputs.
    """

    steps: list[Step]
    arena_nbytes: int
    state_nbytes: int
    resident: tuple[int, int]
    reads: tuple[tuple[int, int, int], ...]
    borders: tuple[Border, ...]
    n_inputs: int

    @property
    def n_reads(self) -> int:
        """Those of a run."""
        return sum(isinstance(call, Read) for step in self.steps for call in step.calls)


class _TooManyCalls(Exception):
    """A step makes more calls than are asked for."""


class _Recorder:
    def __init__(self, has_form: Callable[[str, str], bool], flat: bool):
        self.flat = flat
        self.most_calls: int | None = None  # of a step
        self.steps: list[Step] = []
        self.kernel: str | None = None  # of the step at hand
        self._has_form = has_form
        self._families: dict[str, Any] = {}
        self._blocks: dict[int, int] = {}  # number, in its step, of a block by its words' id
        self._held: list[Any] = []  # so that no id is another's while a step is recorded
        self._origin: tuple[int, ...] | None = None  # of the next call

    def mark(self, *origin: int) -> None:
        """Take where the calls to come were emitted; nothing: they were not."""
        self._origin = (*origin, 0) if origin else None

    def begin(self, name: str, number: int | None = None, kernel: str | None = None) -> None:
        self.kernel = kernel
        self.steps.append(Step(name, [], number, kernel))
        self._blocks, self._held, self._origin = {}, [], None

    def add(self, call: Call | Read) -> None:
        calls = self.steps[-1].calls
        if len(calls) == self.most_calls:
            raise _TooManyCalls
        calls.append(call)
        if self._origin and isinstance(call, Call):  # a loop that calls others makes several
            call.origin = self._origin
            self._origin = (*self._origin[:-1], self._origin[-1] + 1)

    @contextmanager
    def tried(self, arguments: tuple) -> Iterator[list[bool]]:
        """Runs a loop that calls others, which are recorded in its place. What it gives is true
        unless that depends on data: then all is as before.
        """
        calls = self.steps[-1].calls
        n, blocks = len(calls), [a.words for a in flat(arguments) if isinstance(a, Block)]
        words = [list(w) for w in blocks]
        is_known: list[bool] = []
        try:
            yield is_known
            is_known.append(True)
        except DependsOnData:
            del calls[n:]
            for block, before in zip(blocks, words, strict=True):
                block[:] = before

    def family(self, name: str, plain: Callable[[str], ModuleType]) -> Any:
        if name not in self._families:
            self._families[name] = _Family(self, name, plain)
        return self._families[name]

    def number_of(self, block: Block) -> int:
        """Of a block among those of its step."""
        self._held.append(block.words)
        return self._blocks.setdefault(id(block.words), len(self._blocks))

    def argument(self, thing: Any, words: dict[int, list[Any]]) -> Argument:
        if isinstance(thing, _Stub):
            return thing.loop
        if isinstance(thing, Region):
            return Place(thing.memory, thing.offset, thing.code, thing.n, thing.role)
        if isinstance(thing, Block):
            number = self.number_of(thing)
            words[number] = list(thing.words)
            return Part(number, thing.first, thing.last)
        if thing is None or isinstance(thing, str):
            return Value(thing)
        if isinstance(thing, list | tuple):
            return tuple(self.argument(t, words) for t in thing)
        if isinstance(thing, array):
            return Table(thing.typecode, thing.tobytes())
        if isinstance(thing, memoryview | bytes | bytearray):
            held = memoryview(thing)
            return Table(held.format, held.tobytes())
        raise DependsOnData(f"a loop takes {type(thing).__name__}")

    def inline(self, source: str, scope: str) -> _Stub:
        """What a kernel makes of an expression, among the names of its module."""
        return _Stub(self, Loop(INLINE + scope.rpartition(".")[2], source), None)

    def rare(self, family: str, name: str, plain: Callable[[str], ModuleType]) -> _Stub:
        """What mpconnxr.forms.later gives."""
        return _Stub(self, Loop(family, name, True), getattr(plain(family), name))


class _Family:
    """A family's loops as stubs, made when a kernel asks for them."""

    def __init__(self, recorder: _Recorder, name: str, plain: Callable[[str], ModuleType]):
        self._recorder, self._name, self._plain = recorder, name, plain

    def __getattr__(self, name: str) -> Any:
        if _has_plain(self._name):
            function = getattr(self._plain(self._name), name)
            if not inspect.isfunction(function):
                return function
        else:  # of the forms that compute with floats
            function = None
        stub = _Stub(self._recorder, Loop(self._name, name), function)
        setattr(self, name, stub)
        return stub


class _Stub:
    """A loop, for kernels. With what only a run knows among its arguments it is recorded, else
    it runs.
    """

    def __init__(self, recorder: _Recorder, loop: Loop, function: Callable | None):
        self._recorder, self.loop, self.function = recorder, loop, function

    def __call__(self, *arguments: Any) -> Any:
        if not self.function:
            return self._recorded(arguments)
        if not any(_is_of_a_run(a) for a in flat(arguments)):
            with self._recorder.tried(arguments) as is_known:
                return self.function(*arguments)
        elif self._recorder.flat and any(isinstance(a, _Stub) for a in flat(arguments)):
            with self._recorder.tried(arguments) as is_known:
                self.function(*arguments)
            if is_known:
                return UNKNOWN
        return self._recorded(arguments)

    def _recorded(self, arguments: tuple) -> Any:
        words: dict[int, list[Any]] = {}
        made = tuple(self._recorder.argument(a, words) for a in arguments)
        call = Call(self.loop, made, words)
        self._recorder.add(call)
        for thing, indexes in self._changed(arguments):
            _forget(thing, indexes)
        for block in [a for a in flat(arguments) if isinstance(a, Block)]:
            unknown = [i for i, word in enumerate(block.words) if word is UNKNOWN]
            call.changed[self._recorder.number_of(block)] = unknown
        return UNKNOWN

    def _declared(self, arguments: tuple) -> list[tuple[Any, frozenset[int]]] | None:
        """The same as its declaration has it; None where it has none, or that cannot tell."""
        loop = declaration(self.loop)
        if loop is None:
            return None
        named = dict(zip(loop.args, arguments, strict=True))
        lengths = {name: len(thing) for name, thing in named.items()}
        try:
            found = loop.accesses(list(named["p"]), lengths)
        except (access.AccessError, DependsOnData):
            return None
        written = [a for a in found if a.kind == "writes"]
        return [
            (named[a.argument], frozenset(range(a.low, a.high)))
            for a in written
            if isinstance(named.get(a.argument), Block | array)
        ]

    def _changed(self, arguments: tuple) -> list[tuple[Any, frozenset[int]]]:
        """Blocks that the call writes to, and where."""
        if self.loop.family.startswith(INLINE):
            return []  # the templates of ops/_inline write to out alone
        if self.function is None:  # its source has no plain form to look at
            return [(a, ALL) for a in flat(arguments) if isinstance(a, Block)]
        declared = self._declared(arguments)
        if declared is not None:
            return declared
        return list(self._written(arguments))

    def _written(self, arguments: tuple) -> Iterator[tuple[Any, frozenset[int]]]:
        """The same as the sources have it, also those of the loops that it calls."""
        own = [
            (arguments[i], indexes)
            for i, indexes in written(self.function).items()
            if isinstance(arguments[i], Block | array)
        ]
        yield from own
        for items in arguments:
            if isinstance(items, list | tuple):
                yield from _Inner(items, own).written(self.function)


class _Inner:
    """What the loops in a driver's list write to blocks when it calls them.

    items: the list; own: what the driver itself writes, (block, indexes).
    """

    def __init__(self, items: Sequence[Any], own: list[tuple[Any, frozenset[int]]]):
        self._items = items
        self._set = {(id(b.words), b.first + i) for b, w in own for i in w if i >= 0}
        self._is_open = any(w == ALL for _, w in own)

    def written(self, driver: Callable) -> Iterator[tuple[Any, frozenset[int]]]:
        items = self._items
        try:
            calls = inner_calls(driver)
        except LookupError:
            yield from ((a, ALL) for a in items if isinstance(a, Block))
            return
        for at, places in calls:
            stub = items[at]
            if not isinstance(stub, _Stub) or stub.loop.is_rare:
                continue  # rare loops write to tensors alone
            given = [items[p] if p is not None and p >= 0 else None for p in places]
            yield from self._of_call(stub, given)
            if -1 in places:
                yield from self.written(stub.function)

    def _of_call(self, stub: _Stub, given: list[Any]) -> Iterator[tuple[Any, frozenset[int]]]:
        if stub.function is None:
            yield from ((a, ALL) for a in given if isinstance(a, Block))
            return
        for i, indexes in written(stub.function).items():
            if isinstance(given[i], Block):
                yield given[i], self._declared(stub, given, i) if indexes == ALL else indexes

    def _declared(self, stub: _Stub, given: list[Any], position: int) -> frozenset[int]:
        """By the loop's declaration, if that says the same whatever is in the words that the
        driver sets: they are tried with some numbers.
        """
        loop, block = declaration(stub.loop), given[-1]
        if loop is None or self._is_open or not isinstance(block, Block):
            return ALL
        lengths = {n: len(g) for n, g in zip(loop.args, given, strict=True) if g is not None}
        found = set()
        for number in _TRIED:
            words = [
                number if (id(block.words), block.first + i) in self._set or w is UNKNOWN else w
                for i, w in enumerate(block)
            ]
            try:
                accesses = loop.accesses(words, lengths)
            except access.AccessError:
                return ALL
            name = loop.args[position]
            of = [a for a in accesses if a.kind == "writes" and a.argument == name]
            found.add(frozenset(i for a in of for i in range(a.low, a.high)))
        return found.pop() if len(found) == 1 else ALL


def _is_of_a_run(thing: Any) -> bool:
    return isinstance(thing, Region) and thing.contents is None


def _forget(thing: Any, indexes: frozenset[int]) -> None:
    if not isinstance(thing, Block):
        raise DependsOnData("a loop writes to an array of the kernel's own")
    for i in range(len(thing)) if indexes == ALL else indexes:
        if i < len(thing):
            thing.forget(i)


class Share:
    """What a core does of a run: here all of it."""

    more_nbytes = 0  # of the arena, for what another core has there besides
    most_calls: int | None = None  # of a step: one that makes more is recorded without calls

    def recorded(self, step: int | None, n: int | None) -> None:
        """Take note that a step made so many calls, or None: more than most_calls."""

    def parameters(self, step: int, params: Any) -> Any:
        """Those of a step; they may have its kernel work in smaller pieces."""
        return params

    def moved(self, step: int, scratch: list[Any]) -> list[int]:
        """Where in the arena its scratch lies, if it is elsewhere than in the file."""
        return []

    def moved_outputs(self, step: int, outputs: list[Any]) -> list[int]:
        """Return where in the arena its outputs lie, if that is elsewhere than in the file."""
        return []

    def parts(self, step: int | None, n: int) -> list[tuple[int, int]]:
        """Of the extent of a step, or of a read (None): the cores meet between them."""
        return [(0, n)]

    def meeting(self) -> Call | None:
        """The call that has them do so."""
        return None


def record(
    data: bytes,
    has_form: Callable[[str, str], bool],
    stream: bool = False,
    flat: bool = False,
    share: Share | None = None,
) -> Recording:
    """The calls of a run of a model file.

    has_form: whether the board runs a family of loops in a form; stream: its weights come from a
    file while it runs; flat: of loops that call others, those calls, where these do not depend
    on data; share: what one of two cores does of it. Raises CannotRecord.
    """
    share = share or Share()
    recorder = _Recorder(has_form, flat)
    with recorded(recorder, has_form):
        from mpconnxr import loading, reader, widen
        from mpconnxr.calls import Constants
        from mpconnxr.errors import MpconnxrError
        from mpconnxr.tensor import is_object

        widen.widened = _refuse_unpacking

        class Operand(loading.Tensor):
            """A tensor of one step, whose views say what it is to that step."""

            def __init__(self, t: Any, role: str):
                vars(self).update(vars(t), _data=None, role=role)

            def view(self, code: str) -> Any:
                made = loading.Tensor.view(self, code)
                if isinstance(made, Region):
                    made.role = self.role
                return made

        class Loader(loading.Loader):
            def _prepare(self, reader: Any, index: int, node: Any) -> tuple[int, Any]:
                recorder.kernel, inputs, outputs, scratch = node[:4]
                node = *node[:4], share.parameters(index, node[4]), *node[5:]
                places = share.moved_outputs(index, [reader.tensors[i] for i in outputs])
                self._moved = {(OUTPUT, i): at for i, at in zip(outputs, places, strict=False)}
                places = share.moved(index, [reader.tensors[i] for i in scratch])
                self._moved |= {(SCRATCH, i): at for i, at in zip(scratch, places, strict=False)}
                # in the order in which a Loader makes a step's tensors
                self._roles = [INPUT] * len(inputs) + [OUTPUT] * len(outputs)
                self._roles += [SCRATCH] * len(scratch)
                n, step = loading.Loader._prepare(self, reader, index, node)
                return n, _Named(index, node[0], step)

            def _emitted(self, module: ModuleType, node: Any) -> tuple[int, Any]:
                constants = Constants()
                counted = Unrolled(constants, 0, 0)
                step = module.prepare(node, counted)

                def emit(low: int, high: int) -> None:
                    module.prepare(node, Unrolled(constants, low, high, recorder.mark))
                    recorder.mark()

                return step or (counted.extent, emit)

            def _tensor(self, reader: Any, i: int, info: Any, name: str | None = None) -> Any:
                role = self._roles.pop(0) if self._roles else ""
                at = self._moved.get((role, i))
                if at is not None:
                    t = loading.Tensor(self.arena, at, info.nbytes, info.dtype, info.shape)
                else:
                    t = loading.Loader._tensor(self, reader, i, info, name)
                return Operand(t, role) if role and type(t) is loading.Tensor else t

            _moved: dict[tuple[str, int], int] = {}
            _roles: list[str] = []

        class Reader(reader.Reader):
            def buffer(self, t: Any, arena: Any, state: Any = None) -> tuple[Any, int]:
                buffer, within = reader.Reader.buffer(self, t, arena, state)
                if isinstance(buffer, Memory):
                    return buffer, within
                if t.packed or t.chunk.widens > 1:
                    _refuse_unpacking()
                offset = t.chunk.offset - resident[0]
                return Memory("file", len(buffer), offset, buffer), within

        try:
            source = io.BytesIO(data) if stream else data
            read = Reader(source, stream=stream)
            if read.runtime_dims():
                raise CannotRecord("shapes that a run decides")
            resident, reads = (0, len(data)), ()
            if any(is_object(t.dtype) for t in read.tensors):
                raise CannotRecord("strings or maps")
            if read.stream:
                held = [c for c in read._chunks if c.kind == reader.CHUNK_DATA]
                first = min([c.offset for c in held], default=0)
                resident = first, max([c.offset + c.nbytes for c in held], default=0) - first
                reads = tuple((c.offset, c.nbytes, c.place or 0) for c in read._chunks)
                read.stream = _Stream(recorder)
            read.arena_nbytes += share.more_nbytes
            recorder.begin("load")
            loader = Loader(read, None)
            if recorder.steps.pop().calls:
                raise CannotRecord("its kernels compute with tensors before a run")
            for i, (n, step) in enumerate(loader.steps):
                whose = (step.number, step.kernel) if isinstance(step, _Named) else ()
                recorder.begin(str(i), *whose)
                number = whose[0] if whose else None
                recorder.most_calls = share.most_calls
                try:
                    for k, part in enumerate(share.parts(number, n)):
                        meeting = share.meeting() if k else None
                        if meeting:
                            recorder.add(meeting)
                        if part[0] < part[1]:
                            step(*part)
                except _TooManyCalls:
                    recorder.steps[-1].calls.clear()
                    share.recorded(number, None)
                else:
                    share.recorded(number, len(recorder.steps[-1].calls))
        except DependsOnData as e:
            raise CannotRecord(f"{_where(e)}: {e}", recorder.kernel) from e
        except MpconnxrError as e:
            raise CannotRecord(str(e)) from e
        except _OF_A_FILE as e:
            raise CannotRecord(f"{recorder.kernel}: {type(e).__name__}: {e}") from e
        tensors = loader.inputs + loader.outputs
        return Recording(
            recorder.steps,
            len(loader.arena),
            len(loader.state),
            resident,
            reads,
            tuple(_border(t) for t in tensors),
            len(loader.inputs),
        )


def _refuse_unpacking(*_: Any) -> None:
    raise CannotRecord("weights that are unpacked at load")


def _border(t: Any) -> Border:
    place = t._buffer.name[0]
    grid = None if t.scale is None else (t.scale, t.zero_point)
    return (place, t._buffer.offset + t._offset, t.nbytes, t._dtype, t.shape, t.name, grid)


@dataclass(frozen=True)
class _Named:
    """A step that says whose it is."""

    number: int
    kernel: str
    step: Callable

    def __call__(self, lo: int, hi: int) -> None:
        self.step(lo, hi)


class _Stream:
    """In the place of mpconnxr.stream.Stream."""

    def __init__(self, recorder: _Recorder):
        self._recorder = recorder

    def read(self, chunk: int, arena: Any) -> Callable:
        return lambda lo, hi: self._recorder.add(Read(chunk))

    def settle(self) -> None:
        pass


def _where(e: BaseException) -> str:
    """The innermost line of the package that an exception came from."""
    where, at = "", e.__traceback__
    while at:
        name = at.tb_frame.f_code.co_filename
        if "/mpconnxr/" in name:
            where = f"{Path(name).stem}:{at.tb_lineno}"
        at = at.tb_next
    return where
