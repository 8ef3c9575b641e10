"""Weights that are read from the file while the model runs, before the steps that use them.

Imported only for a model in an ordinary file. A read is `seek` and `readinto` a view of the arena
that was made at load: it allocates nothing, but in the first run, which checks the digests.
"""

from . import tensor
from .errors import MpconnxrError, fail
from .source import check_digest


class Stream:
    """The streamed chunks of a model file. tables: the digests; None where they do not matter."""

    def __init__(self, source, chunks, tables):
        self._source = source
        self._chunks = chunks
        self._tables = tables
        self._reads = {}

    def read(self, i, arena):
        """A step, for a run, that reads chunk i of the file into its place in the arena."""
        if not 0 <= i < len(self._chunks) or self._chunks[i].place is None:
            fail("chunk {} is not one to stream".format(i))
        if i not in self._reads:
            self._reads[i] = _Read(self._source.file, self._chunks[i], self._tables, arena)
        return self._reads[i].step

    def settle(self):
        """Lets go of what only read() needs, once all reads are made."""
        self._chunks = self._tables = self._reads = None

    def close(self):
        """Closes the file."""
        self._source.close()


class _Read:
    def __init__(self, file, chunk, tables, arena):
        self.seek, self.readinto = file.seek, file.readinto
        self.offset, self.nbytes = chunk.offset, chunk.nbytes
        place = chunk.place + chunk.nbytes * (chunk.widens - 1)
        self.view = tensor.view(arena, place, "B", chunk.nbytes)
        self.digest = None if tables is None else chunk.digest(tables)
        self.widen = None
        if chunk.widens > 1:
            from .widen import Widening

            self.widen = Widening(arena, chunk.place, chunk.nbytes).step

    def read(self):  # by itself: step() would need a frame of the heap
        try:
            self.seek(self.offset)
            return self.readinto(self.view)
        except ValueError:
            raise MpconnxrError("the model's file was closed")

    def step(self, lo, hi):
        if self.read() != self.nbytes:
            fail("truncated")
        if self.digest is not None:
            check_digest(self.digest, self.view)
            self.digest = None
        if self.widen:
            self.widen()
