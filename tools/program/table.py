"""Encode a program: the calls of a run as bytes, with their arguments.

`table` takes the calls from the kernels of a model file, `table_of` from a Recording;
tools.program.build calls both. The encoder is mpconnxr.build.calls, which boards use as well. A
board would hand it buffers. Here are only addresses, so memory is a Memory or a Place, and an
argument stays a View, Slice, Constant or Loop, which tools.program.bundle writes by name.
"""

from __future__ import annotations

import io
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from mpconnxr.build import calls, emission, held
from mpconnxr.build.emission import _AT, _CHANGE, _END, _HOW, _IS_ABSOLUTE, _WORDS
from mpconnxr.build.loader import Loader
from mpconnxr.build.repeats import _REPEAT
from mpconnxr.errors import MpconnxrError
from mpconnxr.tensor import Tensor

from .call import (
    UNKNOWN,
    Argument,
    Call,
    CannotRecord,
    Constant,
    Loop,
    Part,
    Place,
    Read,
    Recording,
    StartArgument,
    Value,
)
from .cores import MEET
from .emitted import Family
from .memory import Memory
from .record import Operand, Reader, loop_of

OF_TWO = Loop("program", "of_two")
READ = 253  # see mpconnxr/loops/program
MEMORIES = "arena", "state", "file", "constants"  # numbered as in start.load
_LEVELS = 2  # of nested repeats
_MAX_REPEATED = 64  # calls in the body of a repeat, at most
_REACH = 1 << 24  # elements that a view spans, at most
_ALIGNMENT = 16
_WORD_CODE_NBYTES = 8  # bytes of code for a word, at most


@dataclass(frozen=True)
class View:
    """The view with this number in Table.views."""

    number: int


@dataclass(frozen=True)
class Slice:
    """Words first to last - 1 of the table's blocks."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    def __getitem__(self, part: slice) -> Slice:
        return Slice(self.first + part.start, self.first + part.stop)


@dataclass(frozen=True)
class Table:
    """Calls as mpconnxr/loops/program makes them.

    Attributes:
        code: code of a run, from its beginning.
        views: (number of the memory, struct code) of each view.
        before: code that sets all views and words as the first call finds them; a program runs it
            once when it is loaded.
        n_words: number of words of all blocks.
        entries: (loop, four arguments) of each kind of call; an argument is a View, Slice, Loop,
            Constant, Value, StartArgument, or a list of such.
        constants: contents of memory 3.
        calls: number of calls of each step.
    """

    code: bytes
    views: list[tuple[int, str]]
    before: bytes
    n_words: int
    entries: list[tuple[Any, ...]]
    constants: bytes
    calls: list[int]


def table(data: bytes, has_form: Callable[[str, str], bool], stream: bool) -> Table:
    """Encode the calls of a model file.

    Args:
        data: the model file.
        has_form: returns True if the board runs a family of loops in a form.
        stream: weights are read while it runs.

    Raises:
        CannotRecord: if a table has no room for it.
    """

    def made(*most_views: int) -> tuple[_Calls, list[bytes], list[int]]:
        read = Reader(io.BytesIO(data) if stream else data, stream=stream)
        if read.stream:
            read.stream = _Reads()
        loader = _Loader(read, has_form, most_views)
        codes = iter(loader.made.step_codes)
        steps = [step for _, step in loader.steps]
        return (
            loader.made,
            [_read(step) if isinstance(step, Read) else next(codes) for step in steps],
            [n for n, step in loader.steps if not isinstance(step, Read)],
        )

    return _fitted(made)


def table_of(recording: Recording) -> Table:
    """Encode calls that were recorded one by one.

    Raises:
        CannotRecord: if a table has no room for them.
    """

    def made(*most_views: int) -> tuple[_Calls, list[bytes], list[int]]:
        emitted = _Recorded(*most_views)
        codes = [code for step in recording.steps for code in emitted.emitted(step.calls)]
        emitted.settle()
        for level in range(_LEVELS):
            codes = _repeated(codes, level)
        counts = [sum(isinstance(call, Call) for call in s.calls) for s in recording.steps]
        return emitted, codes, counts

    return _fitted(made)


def _fitted(made: Callable[..., tuple[_Calls, list[bytes], list[int]]]) -> Table:
    """Encode twice: views come before the blocks, and their number is known after the first time.

    Args:
        made: encodes all calls, with room for this many views, and returns the encoder, the code
            of each step and its number of calls.
    """
    try:
        emitted, *_ = made()
        emitted, codes, counts = made(len(emitted.kinds))
    except MpconnxrError as e:
        raise CannotRecord(str(e)) from e
    return emitted.of_run(codes, counts)


class _Calls(calls.Calls):
    """Receive and encode calls that kernels emit for another machine.

    Attributes:
        step_codes: code of each step, once the table is complete.
        resets: code that begins a run.
    """

    def __init__(self, *most_views: int):
        super().__init__(_Memories(), *most_views)
        self.step_codes: list[bytes] = []
        self.resets = b""

    def is_full(self) -> bool:
        """Return False: a program is one table."""
        return False

    def later(self, family: str, name: str) -> Loop:
        """Return a loop that is imported when it is first called."""
        return _same(Loop(family, name, True))

    def parts(self, n: int, work: int = 1) -> Iterator[tuple[int, int]]:
        """Yield all elements at once: a program is interrupted between steps only."""
        if n:
            yield 0, n

    def _bind(self, code: bytes, words: Any) -> None:
        *self.step_codes, _, resets = self._codes
        self.resets = resets[:-1]

    def of_run(self, codes: Iterable[bytes], counts: list[int]) -> Table:
        """Return the table of a run with this code."""
        return Table(
            self.resets + b"".join(codes) + bytes([_END]),
            [(kind >> 8, chr(kind & 255)) for kind in self.kinds],
            self._before(),
            len(self.first) - self.unused,
            [self._arguments(entry) for entry in self.entries],
            self.memories.contents(),
            counts,
        )

    def _before(self) -> bytes:
        """Return the code that sets all words and views from zeros to their first values."""
        words = self.first[_WORDS:]
        known = emission.zeros(_WORDS) + words
        known[_AT], known[_HOW] = 0, _IS_ABSOLUTE
        code = bytearray(_WORD_CODE_NBYTES * len(words) + 3)
        unused = emission.Entry(None, (self.unused,) * 3, _CHANGE, _WORDS, words)
        marks = bytes(_WORDS) + bytes(word != 0 for word in words)
        self._put(code, known, unused.head, words, bytearray(marks))
        return bytes(code[: known[_AT]]) + bytes([_END])

    def _arguments(self, entry: Any) -> tuple[Any, ...]:
        """Return the loop of an entry and its four arguments."""
        owner = entry.owner or entry
        start = owner.word - self.unused
        block = Slice(start, start + owner.n)
        used = [View(word - _WORDS) for word in entry.views if word < self.unused]
        kinds = entry.kinds or (0, 0, 0)
        arguments: list[Any] = []
        listed = [View(word - _WORDS) for word in entry.listed]
        for kind, word in zip(kinds, entry.views, strict=True):
            if kind < 0:
                arguments.append(held.filled(self._held[-1 - kind], block, listed))
            elif word < self.unused:
                arguments.append(View(word - _WORDS))
            else:  # passing a number would take more time
                arguments.append(used[0] if used else Value(0))
        arguments = [_thing(each) for each in arguments]
        if entry.loop is calls.of_two:
            return OF_TWO, *arguments, Value(0)
        return loop_of(entry.loop), *arguments, StartArgument("i") if entry.loop == MEET else block


class _Loader(Loader):
    """A loader that lets kernels emit their calls and encodes these, without memory for tensors.

    Tensors are Operands and memory is a Memory: both have addresses and no contents.
    """

    def __init__(self, read: Reader, has_form: Callable[[str, str], bool], most_views: Any):
        self.made = _Kernels(has_form, *most_views)
        super().__init__(read)
        self._calls = self.made

    def _allocated(self, nbytes: int, *own_arena: Any) -> Memory:
        return Memory("arena" if own_arena else "state", nbytes)

    def _tensor(self, reader: Any, i: int, info: Any, name: str | None = None) -> Any:
        t = super()._tensor(reader, i, info, name)
        return Operand(t) if type(t) is Tensor else t

    def _emitted(self, module: ModuleType, node: Any) -> tuple[int, Any]:
        self._calls = self.made
        return super()._emitted(module, node)


class _Kernels(_Calls):
    """Encode the calls that kernels emit."""

    def __init__(self, has_form: Callable[[str, str], bool], *most_views: int):
        super().__init__(*most_views)
        self._has_form = has_form

    def fpu(self, name: str, exact: str) -> Any:
        """Return the loops of a family for an FPU; None if the board takes others."""
        return Family(name) if self._has_form(name, "vfp") else None


class _Recorded(_Calls):
    """Encode calls that were recorded."""

    def drive(self, loop: Any, p: Any, w: Any, left: tuple[int, ...] = ()) -> None:
        """Encode a call loop(p, w). All indices count that `left` has in any call of its kind."""
        known = self.left.get((self.hold(w)[0], self.hold(loop)[0]), ())
        super().drive(loop, p, w, tuple({*known, *left}))

    def emitted(self, some: Iterable[Call | Read]) -> Iterator[bytes]:
        """Yield the code of each of a step's calls."""
        block = None
        for call in some:
            if isinstance(call, Read):
                yield _read(call)
                continue
            self._emit(call, block)
            block = next(iter(call.words), block)
            self.step()
            yield self._codes[-1]

    def _emit(self, call: Call, before: int | None) -> None:
        """Encode a call. `before` is the block of the call before it."""
        arguments = [self._argument(a) for a in call.arguments]
        if call.loop == MEET:  # which has no block
            last, self._last = self._last, None
            self.call(call.loop, *map(self.hold, arguments[:3]), None)
            self._last = last
            return
        [(block, words)] = call.words.items()
        if block != before and any(word is UNKNOWN for word in words):
            raise CannotRecord("a call takes a word that another call's loop wrote")
        p = None if block == before else array("i", words)
        if len(arguments) == 2:
            self.drive(_same(call.loop), p, arguments[1], tuple(call.changed[block]))
            return
        buffers = [a if _is_place(a) else self.hold(a) for a in arguments[:3]]
        # Buffers at the same address share a view.
        if _is_place(arguments[0]):
            buffers = [buffers[0], *(None if b == buffers[0] else b for b in buffers[1:])]
        self.call(call.loop, *buffers, p)

    def _argument(self, a: Argument) -> Any:
        """Return an argument as the encoder takes it: a place, an object, or a list."""
        if isinstance(a, Place):
            return self.memories.at(a)
        if isinstance(a, Part):
            return self.part(a.first, a.last)
        return [self._argument(each) for each in a] if isinstance(a, tuple) else _same(a)


class _Memories:
    """Replacement for mpconnxr.build.calls.Memories."""

    def __init__(self) -> None:
        self.constants = calls.Constants()
        self._constants: list[Any] = []
        self._starts: dict[int, int] = {}  # offsets of constants, by id
        self._nbytes = 0

    def place(self, buffer: Any) -> tuple[int, int]:
        """Return the number of a buffer's memory, and the buffer's offset in it."""
        if isinstance(buffer, Memory):
            return MEMORIES.index(buffer.name), buffer.offset
        if id(buffer) not in self._starts:
            self._starts[id(buffer)] = self._nbytes
            self._constants.append(buffer)
            self._nbytes += len(buffer) + -len(buffer) % _ALIGNMENT
        return MEMORIES.index("constants"), self._starts[id(buffer)]

    def contents(self) -> bytes:
        """Return the contents of memory 3."""
        return b"".join(bytes(b) + bytes(-len(b) % _ALIGNMENT) for b in self._constants)

    def at(self, a: Place) -> tuple[int, int]:
        """Return the (kind, start) of a place, as Calls.place does for a tensor."""
        first, rest = divmod(a.offset, struct.calcsize(a.code))
        if rest:
            raise CannotRecord("a tensor that is not aligned")
        if first >= _REACH:
            self.far()
        start = first << 8
        kind = MEMORIES.index(a.memory) << 8 | ord(a.code)
        return kind, start - (1 << 32) if start >> 31 else start

    def far(self, *_: int) -> None:
        """Raise CannotRecord for memory that no view reaches."""
        raise CannotRecord("more memory than a program reaches")


class _Reads:
    """Replacement for mpconnxr.stream.Stream."""

    def read(self, chunk: int, arena: Any) -> Read:
        """Return the step that reads a chunk."""
        return Read(chunk)

    def settle(self) -> None:
        """Do nothing."""


def _is_place(thing: Any) -> bool:
    return isinstance(thing, tuple)


@cache
def _same(thing: Any) -> Any:
    """Return one object for all that are equal, as calls compare by identity."""
    return thing


def _thing(thing: Any) -> Any:
    """Return the form of an argument that a bundle can write."""
    if isinstance(thing, list | tuple):
        return [_thing(each) for each in thing]
    if isinstance(thing, View | Slice | Constant | Value | StartArgument):
        return thing
    if thing is None or isinstance(thing, str | int):
        return Value(thing)
    if isinstance(thing, array | memoryview | bytes | bytearray):
        held = memoryview(thing)
        return Constant(held.format, held.tobytes())
    return loop_of(thing)


def _read(step: Read) -> bytes:
    """Return the code that reads a chunk of streamed weights."""
    return bytes([READ]) + step.chunk.to_bytes(2, "little")


def _repeated(codes: list[bytes], level: int) -> list[bytes]:
    """Return the code of calls, with each repetition written once and followed by its count.

    Args:
        codes: code of each call, or of what an earlier level made of it.
        level: number of the counter that the repetitions use.
    """
    made: list[bytes] = []
    i = 0
    while i < len(codes):
        saved, period, count = max(_repeats(codes, i), default=(0, 1, 1))
        body = b"".join(codes[i : i + period])
        if saved > 0:
            tail = bytes([_REPEAT, level]) + len(body).to_bytes(2, "little")
            made.append(body + tail + (count - 1).to_bytes(2, "little"))
            i += period * count
        else:
            made.append(codes[i])
            i += 1
    return made


def _repeats(codes: list[bytes], i: int) -> Iterator[tuple[int, int, int]]:
    """Yield (bytes saved, period, count) of the repetitions that start at a call."""
    for period in range(1, min(_MAX_REPEATED, (len(codes) - i) // 2) + 1):
        if codes[i] != codes[i + period]:
            continue
        count, body = 1, codes[i : i + period]
        while codes[i + count * period : i + (count + 1) * period] == body and count < 1 << 16:
            count += 1
        nbytes = sum(map(len, body))
        if count > 1 and nbytes < 1 << 16:
            yield (count - 1) * nbytes - 6, period, count
