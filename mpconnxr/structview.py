"""Typed views where a memoryview cannot be retyped: see tensor.view."""

import struct


def view(buffer, offset, code, n):
    """A memoryview that was cast, as CPython's can be, or else a StructView."""
    if hasattr(memoryview, "cast"):
        return memoryview(buffer)[offset : offset + n * struct.calcsize(code)].cast(code)
    return StructView(buffer, offset, code, n)


class StructView:
    """len() is in items of the struct code; indexes and slices read, indexes write."""

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
            # MicroPython has no slice.indices(); a list of the items serves.
            return [self[k] for k in range(self._n)][i]
        return struct.unpack_from(self._code, self._buffer, self._at(i))[0]

    def __setitem__(self, i, value):
        struct.pack_into(self._code, self._buffer, self._at(i), value)
