"""Where the bytes of a model file come from."""

from . import tensor
from .errors import ModelError, UnsupportedError


class Source:
    """Bytes of the file: in memory that can be addressed, or behind a file object."""

    def __init__(self, source):
        self.memory = None
        self._file = None
        if isinstance(source, str):
            self._file = open(source, "rb")
            try:
                source = memoryview(self._file)  # ROMFS and the like: used in place
            except TypeError:
                self._file.seek(0, 2)
                self.nbytes = self._file.tell()
                return
        try:
            self.memory = memoryview(source)
        except TypeError:
            raise TypeError("a path or a buffer is needed")
        self.nbytes = len(self.memory)

    def fetch(self, offset, nbytes):
        """Bytes of the file, aligned for every dtype: in place if they are so, else a copy."""
        if self.memory is not None:
            piece = tensor.view(self.memory, offset, "B", nbytes)
            if tensor.is_aligned(piece):
                return piece
            copy = _allocate(nbytes)
            copy[:] = piece
            return copy
        self._file.seek(offset)
        buffer = _allocate(nbytes)
        if self._file.readinto(buffer) != nbytes:
            raise ModelError("not a valid model file: truncated")
        return buffer

    def close(self):
        if self._file:
            self._file.close()


def _allocate(nbytes):
    try:
        return bytearray(nbytes)
    except MemoryError:
        raise UnsupportedError("not enough memory for {} bytes of the model".format(nbytes))
