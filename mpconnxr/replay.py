"""A model that is a program: the part that stays in memory, with its one step."""

from .forms import get as _form
from .turn import SHORT, fresh, lock, turn
from .turn import run as run_of_model

_loops = _form("program")  # of a program's own files: the loops themselves
advance, run = _loops.advance, _loops.run
HOW = getattr(_loops, "HOW", 0)

_ALL = const(0x1FFFFFFF)  # calls: more than any program has


class Program:
    """A program that is ready to run, with the interface of mpconnxr.model.Model."""

    def __init__(self, what, calls, chunks):
        """Create a program; tools/program/start.py sets its other attributes.

        Args:
            what: the runner's argument, see loops/program.
            calls: number of calls of a run.
            chunks: (offset in the file, view of the arena) of each chunk of weights that a run
                reads.
        """
        self._what, self._chunks = what, chunks
        self._steps = [(calls, self._compute)]
        self._take, self._free = turn(lock())

    run = run_of_model

    def _compute(self, lo=0, hi=_ALL):
        """Make the calls lo to hi of a run: see loops/program."""
        what = self._what
        words = what[1]
        if lo == 0:
            words[0] = words[3] = words[4] = words[5] = words[6] = words[7] = 0
        words[1] = hi - lo
        while True:
            i = run(what) - 256
            if i < 0:
                return
            self._read(*self._chunks[i])

    def _read(self, offset, view):
        """Read a chunk of weights into the arena."""
        source = self._stream
        if not hasattr(source, "seek"):
            view[:] = source[offset : offset + len(view)]
            return
        source.seek(offset)
        if source.readinto(view) != len(view):
            raise OSError("truncated model")

    def __getattr__(self, name):
        try:
            from .rare import method

            return method(self, name)
        except MemoryError:
            raise fresh(SHORT)
