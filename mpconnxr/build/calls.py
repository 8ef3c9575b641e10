"""Collect the calls that kernels emit into one table for all steps of a graph.

A kernel says which calls a run makes, and which fields grow from one to the next:

    for i in calls.repeat(n):
        calls.call(loop, x, w, out, block("qdot", x_start=i * row, ...))

The body of a repeat runs twice here, with i = 0 and 1. What differs in round 1 grows by as much in
each of the n rounds, so kernels compute it with sums and products of i alone. Repeats may be
nested.

Needed while a model is loaded, and dropped after it; the table that stays is in mpconnxr.model.
"""

from array import array

try:
    from uctypes import addressof, bytearray_at
except ImportError:  # views are not retyped then
    pass

from .. import tensor
from ..model import of_two
from .emission import NONE, zeros
from .repeats import Level, Repeats

_LEVELS = const(5)  # of repeats: the runner's counters
_MOST_WALKED = const(4)  # repeats in one another, as parts() takes one
_MOST_ROUNDS = const(32768)  # of one repeat
_WORK = const(8192)  # of a call
_REACH = const(1 << 24)  # of a view, in elements
_PART = const(1 << 24)  # bytes, of a memory that is larger
_NBYTES = const(128)  # of a buffer of constants
_ALIGNMENT = const(8)
_UINT8 = const(2)  # dtype


class Memories:
    """The buffers of a model, grouped into memories with a number each.

    The arena, the state and the model's file, if that is in memory, are a memory each. Other
    buffers share a memory if they lie within reach of its first buffer.

    Attributes:
        spans: (address, buffer, takes_others, origin) of each memory: takes_others is True if
            other buffers may share it; origin is its start in a larger memory of which it is a
            part.
        buffers: all buffers.
        constants: arrays that kernels make for their loops.
    """

    def __init__(self, arena, state, reader):
        """Begin with the arena, the state and the reader's file; with nothing without a reader."""
        self.spans, self.buffers, self._parts = [], [], {}  # place of a part, by its id
        self.constants = Constants()
        if reader is None:
            return
        start = 0
        for buffer in (arena, state, reader.memory):
            if buffer is not None and len(buffer):
                address = start = 0
                if tensor.RETYPES:
                    start = tensor.words(memoryview(buffer))[1] >> 8
                    address = addressof(buffer) - start
                self._part(buffer, len(self.spans), start)
                self.spans.append((address, buffer, False, 0))
        number, apart = len(self.spans) - 1, []
        for buffer, offset in reader.parts():
            if offset is None:
                apart.append(buffer)
            else:
                self._part(buffer, number, start + offset)
        if tensor.RETYPES:
            apart.sort(key=addressof)
        for buffer in apart:
            self.place(buffer)

    def fork(self):
        """Return a copy, to which buffers can be added without changing these."""
        made = Memories(None, None, None)
        made.spans, made.buffers, made._parts = self.spans[:], self.buffers[:], self._parts.copy()
        return made

    def place(self, buffer):
        """Return (number of the buffer's memory, start of the buffer in it)."""
        part = self._parts.get(id(buffer))
        return part or self._part(buffer, *self._memory_of(buffer))

    def _part(self, buffer, number, start):
        self.buffers.append(buffer)
        self._parts[id(buffer)] = part = number, start
        return part

    def _memory_of(self, buffer):
        """Return (number, start) of a new buffer's memory; add a memory if it is in none."""
        if not tensor.RETYPES:
            from ..structview import add_loose

            return add_loose(self.spans, buffer)
        start = tensor.words(memoryview(buffer))[1] >> 8  # in the buffer that it is a view of
        address = addressof(buffer) - start
        for number in range(len(self.spans)):
            known, _, stands_for_others, _ = self.spans[number]
            more = address - known if isinstance(known, int) else -1
            if more == 0 or stands_for_others and 0 < more < _REACH and not more & 7:
                return number, start + more
        self.spans.append((address, buffer, True, 0))
        return len(self.spans) - 1, start

    def far(self, number, start):
        """Return (number, start) for a place that no view of its memory reaches.

        The part of the memory around it becomes a memory of its own.
        """
        address, buffer, _, _ = self.spans[number]
        origin = start & -_PART
        for i in range(len(self.spans)):
            if self.spans[i][0] == (number, origin):
                return i, start - origin
        if tensor.RETYPES:
            buffer = bytearray_at(address + origin, _PART)
        self.spans.append(((number, origin), buffer, False, origin))
        return len(self.spans) - 1, start - origin


class Constants:
    """Arrays of numbers that kernels pass to loops. Equal arrays are stored once."""

    def __init__(self):
        self._known, self._buffer, self._free = {}, b"", 0

    def tensor(self, code, numbers):
        """Return an array of these numbers as a Tensor of bytes. code: struct code."""
        data = bytes(array(code, numbers))
        n = len(data)
        if data not in self._known:
            if self._free + n > len(self._buffer):
                self._buffer, self._free = bytearray(max(_NBYTES, n)), 0
            first = self._free
            self._buffer[first : first + n] = data
            self._known[data] = tensor.Tensor(self._buffer, first, n, _UINT8, (n,))
            self._free = first + n + _ALIGNMENT - 1 & -_ALIGNMENT
        return self._known[data]


class Calls(Repeats):
    """Receive the calls that the kernels of a graph emit, one after another."""

    def place(self, t, code=None, first=0):
        """Return (kind, start) of a tensor's elements from index `first` on, as call() takes it.

        code: struct code by which the loop reads them; by default the tensor's own.
        """
        code = code or tensor.code_of(t._dtype)
        size = 1 if code == "B" else tensor.struct.calcsize(code)
        memory, base = self.memories.place(t._buffer)
        start = base + t._offset + first * size
        if start >> 24:
            memory, start = self.memories.far(memory, start)
        if start % size:
            raise ValueError("misaligned")
        start = start // size << 8
        return memory << 8 | ord(code), start - 0x100000000 if start >> 31 else start

    def constants(self, code, numbers):
        """Return (kind, start) of an array of numbers, as call() takes it. code: struct code."""
        return self.place(self.memories.constants.tensor(code, numbers), code)

    def hold(self, thing):
        """Return an argument for call() that a run passes on unchanged.

        Args:
            thing: text, a loop, or a list of loops, of such lists, and of results of place(),
                constants() and part(). Its places are the same in all rounds of a repeat.
        """
        from .held import is_same, kinds_of  # which most models do not need

        places = []
        thing, i = kinds_of(thing, places), 0
        while i < len(self._held) and not is_same(self._held[i], thing):
            i += 1
        if i == len(self._held):
            self._held.append(thing)
        return (-1 - i, 0) + tuple(places)

    def part(self, first=0, last=None):
        """Return a placeholder for words of a call's own block, for hold()."""
        from .held import Part

        return Part(first, last)

    def drive(self, loop, p, w, left=()):
        """Emit a call loop(p, w) of a driver, a loop that calls other loops.

        Args:
            loop: the driver.
            p: its block, as for call().
            w: a list, as for hold().
            left: indices of words in the block that the loop may leave changed, also if it is
                ended early, and that a later call reads before it sets them. The table sets them
                again.
        """
        w, out = self.hold(w), self.hold(loop)
        self.left[w[0], out[0]] = left
        self.call_with(
            of_two, (self.hold(self.part()), w, out) + w[2:], zeros(0) if p is None else p
        )

    def call(self, loop, x, w, out, p):
        """Emit a call loop(x, w, out, p), which a run then makes.

        Args:
            loop: the loop.
            x: result of place() or hold(); None for a buffer that the loop does not use.
            w: like x.
            out: like x.
            p: a block, which the table owns from now on: no other call may have it. None: the
                block of the call before, with what that call has written to it.
        """
        x = NONE if x is None else x
        w = NONE if w is None else w
        out = NONE if out is None else out
        if p is None:
            p = zeros(0)
        if len(x) + len(w) + len(out) > 6:  # some are lists
            self.call_with(loop, (x, w, out) + x[2:] + w[2:] + out[2:], p)
        elif self._levels:
            self._in_repeat(loop, (x, w, out), p)
        else:  # most calls
            entry = self._entry(loop, (x, w, out), p)
            self._n += 1
            self.add(entry, entry.number, x[1], w[1], out[1], p)

    def call_with(self, loop, buffers, p):
        """Emit a call loop(x, w, out, p). buffers: x, w, out, and the places in their lists."""
        if self._levels:
            self._in_repeat(loop, buffers, p)
            return
        from .held import view_numbers

        listed = buffers[3:]
        entry = self._entry(loop, buffers, p, 0, (0, 0, 0), view_numbers(listed, {}))
        self._n += 1
        self.put(entry, entry.number, [b[1] for b in buffers[:3]], p, listed)

    def repeat(self, n):
        """Emit the calls of the body of a for statement n times: for i in calls.repeat(n).

        A body that is too long for a repeat, with the repeats in it, is emitted round by round.
        """
        if n > _MOST_ROUNDS:
            for high in self.repeat(n // _MOST_ROUNDS):
                for low in self.repeat(_MOST_ROUNDS):
                    yield high * _MOST_ROUNDS + low
            for low in self.repeat(n % _MOST_ROUNDS):
                yield n - n % _MOST_ROUNDS + low
        elif n < 2 or len(self._levels) == _LEVELS:
            yield from range(n)
        elif self._round:  # of another level
            self._levels.append(self._levels[-1].next())
            yield 0
            self._levels.pop()
        else:
            level = Level(n, self._levels[-1].counts if self._levels else ())
            self._levels.append(level)
            yield 0
            self._round = len(self._levels)
            yield 1
            self._round = 0
            self._levels.pop()
            if self._levels:
                self._levels[-1].members.append(level)
            else:
                self._emit(level)

    def pieces(self, n, size):
        """Yield (first, size) of chunks that cover n elements; the last one may be smaller."""
        for i in self.repeat(n // size):
            yield i * size, size
        if n % size:
            yield n - n % size, n % size

    def parts(self, n, work=1):
        """Yield (first, end) of calls that together compute n elements.

        A run can be interrupted between two calls, so each gets some thousand products. A program
        has one call for all elements, or one for each core.

        Args:
            n: number of elements.
            work: products, or the like, of one element.
        """
        for first, size in self.pieces(n, max(1, _WORK // max(1, work))):
            yield first, first + size


def prepared(module, node, memories):
    """Return (n, step) of a node that is prepared in a run, apart from the model's own table."""
    if not hasattr(module, "CALLS"):
        return module.prepare(node)
    calls = Calls(memories.fork())
    spans = module.prepare(node, calls) or calls.step()
    calls.settle()
    return spans


def walk(calls, dims, *strides):
    """Yield, for all indices below dims, the sum of index * stride for each list of strides.

    The last index is the fastest.
    """
    rest = [k for k in range(len(dims)) if dims[k] != 1]
    if not rest:
        yield [0] * len(strides)
        return
    k = rest[0]
    # With too many, this walks the outermost one: inner repeats would take views of their own.
    for i in range(dims[k]) if len(rest) > _MOST_WALKED else calls.repeat(dims[k]):
        for starts in walk(calls, dims[k + 1 :], *[each[k + 1 :] for each in strides]):
            yield [i * strides[n][k] + starts[n] for n in range(len(strides))]


def last(counts, strides):
    """Return the distance of the last element from the first, if axis i has counts[i] elements."""
    return sum([(counts[i] - 1) * strides[i] for i in range(len(counts))])


def wrap_bits(limits):
    """Return the two numbers by which a loop wraps integers of a dtype with these limits.

    They are a = bits of the dtype if it is signed, else 0, and b = its bits. The loop computes
    half and mask from them: 1 << a >> 1 and (1 << b) - 1. The number v becomes (v + half & mask) -
    half.
    """
    bits = 0
    while limits[1] - limits[0] >> bits:
        bits += 1
    return [bits if limits[0] else 0, bits]
