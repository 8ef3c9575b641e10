"""Chunks of float16 that a model uses as float32. Imported only by models that have some."""

from . import forms, tensor
from .parameters import block
from .source import allocate


class Widening:
    """Makes float32 in nbytes * 2 bytes of a buffer of nbytes of float16 in their second half."""

    def __init__(self, buffer, offset, nbytes):
        self._x = tensor.view(buffer, offset + nbytes, "H", nbytes // 2)
        self._out = tensor.view(buffer, offset, "H", nbytes)
        self._p = block(nbytes // 2)
        self._widen = forms.get("loading").widen

    def step(self):
        """Widens what was read."""
        self._widen(self._x, self._x, self._out, self._p)


def widened(contents):
    """A new buffer with the float32 of these bytes."""
    n = len(contents)
    buffer = allocate(2 * n)
    buffer[n:] = contents
    Widening(buffer, 0, n).step()
    return buffer
