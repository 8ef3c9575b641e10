"""Time steps of recurrent kernels whose calls Python makes at run time (see _recurrent).

The calls are those that a table would hold. Words of their blocks that differ between elements are
set before each call.
"""

from array import array

from ..errors import InputError
from ..forms import Board


class Moving(Board):
    """Replacement of mpconnxr.build.calls.Calls that keeps the calls in a list."""

    def place(self, t, code=None, first=0):
        view = t.data if code is None else t.view(code)
        return view[first:] if first else view

    def constants(self, code, numbers):
        return array(code, numbers)

    def part(self, first=0, last=None):
        return _Part(first, last)

    def drive(self, loop, p, w, left=()):
        self.made.append((loop, None, _with_parts(w, p), None, p))

    def pieces(self, n, size):
        return [(first, min(size, n - first)) for first in range(0, n, size)]

    def call(self, loop, x, w, out, p):
        any_one = out if x is None else x
        self.made.append((loop, any_one, any_one if w is None else w, out, p))

    def of(self, emit, *constants):
        """Return the Moved calls that emit(calls, *constants, a, b) emits."""
        made = []
        for a, b in (0, 0), (1, 0), (0, 1):
            self.made = []
            emit(self, *constants, a, b)
            made.append(self.made)
        return Moved(*made)


def _with_parts(value, block):
    if isinstance(value, list):
        return [_with_parts(element, block) for element in value]
    return value.of(block) if isinstance(value, _Part) else value


class _Part:
    """Words of a block. Not imported from mpconnxr.build.held, which would stay in memory."""

    def __init__(self, first, last):
        self.first, self.last = first, last

    def of(self, block):
        """Return a view of the words."""
        return memoryview(block)[self.first : len(block) if self.last is None else self.last]


class Moved:
    """Calls in whose blocks some words grow linearly with a number a or a number b."""

    def __init__(self, first, *others):
        self.calls, self._grown = first, []
        for k in range(2):
            for call, grown in zip(first, others[k]):
                p, q = call[-1], grown[-1]
                for i in range(len(p)):
                    if p[i] != q[i]:
                        self._grown.append((p, i, p[i], q[i] - p[i], k))

    def run(self, a=0, b=0):
        for p, i, first, growth, k in self._grown:
            p[i] = first + growth * (b if k else a)
        for loop, x, w, out, p in self.calls:
            if out is None:
                loop(p, w)
            else:
                loop(x, w, out, p)


class Walked:
    """The steps of a Walk, one per time step."""

    def __init__(self, walk, node):
        moving = Moving()
        self.walk = walk
        walk.bind(node, moving)
        self.lens = walk.lens.data if walk.lens else None
        self.begin = moving.of(lambda calls, a, b: walk.begin(calls))
        self.begin_step = moving.of(lambda calls, a, b: walk.begin_step(calls))
        self.next_state = moving.of(walk.next_state)
        self.end = moving.of(lambda calls, a, b: walk.end(calls))
        if walk.y:
            self.put, self.clear = moving.of(walk.put), self._clears(moving, walk.y)
        self.clears = [self._clears(moving, t) if t else None for t in walk.last]

    def _clears(self, moving, t):
        return moving.of(lambda calls, at, b: self.walk.clear(calls, t, at))

    def step(self, lo, hi):
        walk = self.walk
        if lo == 0:
            self.begin.run()
        while lo < hi:
            self.begin_step.run()
            b = 0
            while b < walk.batch:
                self._advance(lo, b)
                b += 1
            lo += 1
        if hi == walk.n:
            self.end.run()
            b = 0
            while b < walk.batch:
                if self.length(b) == 0:
                    self._clear_states(walk.s_first + b * walk.s_b)
                b += 1

    def _advance(self, i, b):
        """Compute element i of sequence b; behind the end of the sequence, write zeros to Y."""
        walk, length = self.walk, self.length(b)
        y = walk.y_first + i * walk.y_t + b * walk.y_b
        if i >= length:
            if walk.y:
                self.clear.run(y)
            return
        if walk.reverse:
            y += (length - 1 - i - i) * walk.y_t
            i = length - 1 - i
        self.next_state.run(i * walk.x_t + b * walk.x_b, b * walk.hidden)
        if walk.y:
            self.put.run(b * walk.hidden, y)

    def _clear_states(self, at):
        for clear in self.clears:
            if clear:
                clear.run(at)

    def length(self, b):
        """Return the length of sequence b; raise InputError if it lies outside of 0 .. T."""
        n = self.walk.n
        if self.lens is None:
            return n
        length = self.lens[b]
        if not 0 <= length <= n:
            message = "{}: a length is outside 0 .. {}"
            raise InputError(message.format(self.walk.name, n))
        return length
