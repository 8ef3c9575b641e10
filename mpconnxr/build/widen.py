"""Convert chunks of float16 to float32. Imported only by models with such chunks."""

from .. import forms, tensor
from ..parameters import block


class Widening:
    """Convert float16 to float32 in place.

    The buffer has nbytes * 2 bytes at the offset. Their second half holds nbytes of float16;
    step() turns them into float32, which fill all of it.
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
    """Fill a buffer with the float32 values of float16 `contents`, and return it."""
    n = len(contents)
    buffer[n:] = contents
    Widening(buffer, 0, n).step()
    return buffer
