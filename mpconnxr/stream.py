"""Weights that the model reads from its file during a run, before the steps that use them.

Imported only for a model in an ordinary file. A read is `seek` and `readinto` a view of the arena
that load has made: it allocates nothing, except in the first run, which checks the digests.
"""

from .errors import MpconnxrError, check_digest, fail


class Stream:
    """The streamed chunks of a model file."""

    def __init__(self, source, chunks, tables):
        """Stream chunks of a build.source.Source. `tables` have the digests; None checks none."""
        self._file, self._is_ours = source.file, source.is_ours
        self._chunks = chunks
        self._tables = tables
        self._steps = {}

    def read(self, i, arena):
        """Return the step of a run that reads chunk i of the file into the arena."""
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
            from .build import widen

            read.widen = widen.Widening(arena, chunk.place, chunk.nbytes).step
        return read.step

    def settle(self):
        """Drop what only read() needs, once all steps are made."""
        self._chunks = self._tables = self._steps = None

    def close(self):
        """Close the file if the package opened it."""
        if self._is_ours:
            self._file.close()


class _Read:
    """The step that reads a chunk.

    Attributes:
        digest: SHA-256 until it was checked, then None.
        widen: function that makes float32 of float16, or None.
    """

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
