"""Where the bytes of a model file come from."""

from . import tensor
from .errors import InputError, UnsupportedError, fail


class Source:
    """Bytes of the file: in memory that can be addressed, or behind a file object.

    memory: a view of all of them, or None; file: where there is one; is_ours: it was opened here.
    """

    def __init__(self, source):
        self.memory = self.file = None
        self.is_ours = isinstance(source, str)
        if self.is_ours:
            source = _opened(source)
        if hasattr(source, "readinto"):
            self.file = source
        try:
            self.memory = memoryview(source)  # of a file: on ROMFS and the like
            self.nbytes = len(self.memory)
        except TypeError:
            if self.file is None:
                raise InputError("source: a path, a buffer or a file is needed")
            try:
                self.nbytes = self.file.seek(0, 2)
            except (AttributeError, TypeError, ValueError):
                raise InputError("source: the file is closed, or is none")

    def fetch(self, offset, nbytes):
        """Bytes of the file, aligned for every dtype: in place if they are so, else a copy."""
        if self.memory is not None:
            piece = tensor.view(self.memory, offset, "B", nbytes)
            if tensor.is_aligned(piece):
                return piece
            copy = allocate(nbytes)
            copy[:] = piece
            return copy
        self.file.seek(offset)
        buffer = allocate(nbytes)
        if self.file.readinto(buffer) != nbytes:
            fail("truncated")
        return buffer

    def close(self):
        """Closes the file if it was opened here."""
        if self.is_ours:
            self.file.close()


def _opened(path):
    try:
        return open(path, "rb")
    except OSError:
        from . import slots

        return slots.opened(path)


def allocate(nbytes):
    """A bytearray; UnsupportedError where there is no room for it."""
    try:
        return bytearray(nbytes)
    except MemoryError:
        raise UnsupportedError("not enough memory for {} bytes of the model".format(nbytes))
