"""Give access to the bytes of a model file: in memory, or behind a file object."""

from .. import tensor
from ..errors import InputError, UnsupportedError, fail


class Source:
    """The bytes of a model file.

    Attributes:
        memory: a view of all of them if they can be addressed, else None.
        file: the file object, or None.
        is_ours: True if the package opened the file.
        nbytes: size of the file.
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
        """Return bytes of the file, aligned for every dtype: in place if possible, else a copy."""
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
        """Close the file if the package opened it."""
        if self.is_ours:
            self.file.close()


def _opened(path):
    try:
        return open(path, "rb")
    except OSError:
        from ..io import slots

        return slots.opened(path)


def allocate(nbytes):
    """Return a bytearray. Raises UnsupportedError without memory for it."""
    try:
        return bytearray(nbytes)
    except MemoryError:
        raise UnsupportedError("not enough memory for {} bytes of the model".format(nbytes))
