"""Weights that are read from the file while the model runs, before the steps that use them.

Imported only for a model in an ordinary file. A read is `seek` and `readinto` a view of the arena
that was made at load: it allocates nothing, but in the first run, which checks the digests.
"""

from .errors import MpconnxrError, check_digest, fail


class Stream:
    """The streamed chunks of a model file. tables: the digests; None where they do not matter."""

    def __init__(self, source, chunks, tables):
        self._file, self._is_ours = source.file, source.is_ours
        self._chunks = chunks
        self._tables = tables
        self._steps = {}

    def read(self, i, arena):
        """A step, for a run, that reads chunk i of the file into its place in the arena."""
        if not 0 <= i < len(self._chunks) or self._chunks[i].place is None:
            fail("chunk {} is not one to stream".format(i))
        if i not in self._steps:
            self._steps[i] = self._made(self._chunks[i], arena)
        return self._steps[i]

    def _made(self, chunk, arena):
        from .tensor import view  # which a run does not need

        place = chunk.place + chunk.nbytes * (chunk.widens - 1)
        read = _Read(self._file, chunk.offset, view(arena, place, "B", chunk.nbytes))
        if self._tables is not None:
            read.digest = chunk.digest(self._tables)
        if chunk.widens > 1:
            from .widen import Widening

            read.widen = Widening(arena, chunk.place, chunk.nbytes).step
        return read.step

    def settle(self):
        """Let go of what only read() needs, once all reads are made."""
        self._chunks = self._tables = self._steps = None

    def close(self):
        """Close the file if it was opened here."""
        if self._is_ours:
            self._file.close()


class _Read:
    """A chunk. digest: until it was checked; widen: makes floats of halves, where these are."""

    digest = widen = None

    def __init__(self, file, offset, view):
        self.file, self.offset, self.view = file, offset, view

    def read(self):  # by itself: step() would need a frame of the heap
        try:
            self.file.seek(self.offset)
            return self.file.readinto(self.view)
        except ValueError:
            raise MpconnxrError("the model's file was closed")

    def step(self, lo, hi):
        if self.read() != len(self.view):
            fail("truncated")
        if self.digest is not None:
            check_digest(self.digest, self.view)
            self.digest = None
        if self.widen:
            self.widen()
