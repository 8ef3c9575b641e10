"""Typed views where a memoryview cannot be retyped: see tensor.view."""

import struct


def view(buffer, offset, code, n):
    """Return a typed view of n elements of a struct code: a memoryview, or else a StructView."""
    if hasattr(memoryview, "cast"):
        return memoryview(buffer)[offset : offset + n * struct.calcsize(code)].cast(code)
    return StructView(buffer, offset, code, n)


class StructView:
    """A sequence of the elements of a buffer.

    Its length is in elements of the struct code. Indexes and slices read, indexes write.
    """

    def __init__(self, buffer, offset, code, n):
        self._buffer = buffer
        self._offset = offset
        self._code = "<" + code
        self._size = struct.calcsize(self._code)
        self._n = n

    def __len__(self):
        return self._n

    def _at(self, i):
        if i < 0:
            i += self._n
        if not 0 <= i < self._n:
            raise IndexError("index out of range")
        return self._offset + i * self._size

    def __getitem__(self, i):
        if isinstance(i, slice):
            # MicroPython has no slice.indices(); a list of the elements serves.
            return [self[k] for k in range(self._n)][i]
        return struct.unpack_from(self._code, self._buffer, self._at(i))[0]

    def __setitem__(self, i, value):
        struct.pack_into(self._code, self._buffer, self._at(i), value)


class Moving:
    """A view for the runner of a table (loops/program), which sets its start by word 1."""

    def __init__(self, memory, code, origin):
        self.memory, self.code, self.size = memory, code, struct.calcsize(code)
        self.origin = origin  # of the memory, from which places count
        self.place = 0

    def __getitem__(self, i):
        return self.place

    def __setitem__(self, i, place):
        self.place = place

    def now(self):
        """Return the view from its current start."""
        first, memory = (self.place >> 8) * self.size + self.origin, self.memory
        if isinstance(memory, list):
            at, memory = [result for result in memory if result[0] <= first][-1]
            first -= at
        return view(memory, first, self.code, (len(memory) - first) // self.size)


def add_loose(memories, buffer):
    """Add a buffer to the last memory, which all buffers outside of the others share.

    That memory is a list of (start, buffer). Return (number of the memory, start of the buffer).
    """
    if not memories or not isinstance(memories[-1][1], list):
        memories.append((0, [], True, 0))
    result, start = memories[-1][1], 0
    if result:
        start = result[-1][0] + len(result[-1][1]) + 15 & -16
    result.append((start, buffer))
    return len(memories) - 1, start


def run(what):
    """Make the calls of a table as loops/program.run does, with new views for each call."""
    entries, advance, code, words, views = what[2]
    while True:
        k = advance(code, words, views)
        if k > 239:
            return k
        f, x, w, out, p = entries[k]
        f(*_now([x, w, out]), p)


def _now(things):
    """Return a list of arguments with a view at its present start for each Moving."""
    return [
        each.now() if isinstance(each, Moving) else _now(each) if isinstance(each, list) else each
        for each in things
    ]
