"""Make float32 of chunks of float16. Imported only by models that have some."""

from .. import forms, tensor
from ..parameters import block


class Widening:
    """Widen float16 in place.

    The buffer has nbytes * 2 bytes at the offset; their second half holds nbytes of float16, and
    all of them then hold the float32.
    """

    def __init__(self, buffer, offset, nbytes):
        self._x = tensor.view(buffer, offset + nbytes, "H", nbytes // 2)
        self._out = tensor.view(buffer, offset, "H", nbytes)
        self._p = block(nbytes // 2)
        self._widen = forms.get("loading").widen

    def step(self):
        """Convert the chunk's float16 values, which were just read, to float32 in place."""
        self._widen(self._x, self._x, self._out, self._p)


def widened(contents, buffer):
    """Fill a buffer with the float32 of these bytes, and return it."""
    n = len(contents)
    buffer[n:] = contents
    Widening(buffer, 0, n).step()
    return buffer
