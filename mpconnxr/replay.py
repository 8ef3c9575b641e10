"""What stays of a model that is a program: its one step, its inputs and outputs."""

from .forms import get as _form
from .turn import SHORT, fresh, lock, turn
from .turn import run as run_of_model

_loops = _form("program")  # of a program's own files: the loops themselves
advance, run = _loops.advance, _loops.run
HOW = getattr(_loops, "HOW", 0)

_ALL = const(0x1FFFFFFF)  # calls: more than any program has
_FIELDS = ("nbytes", "dtype", "shape", "name", "nelem", "scale", "zero_point")


class Program:
    """A model that is ready to run, as a mpconnxr.model.Model is.

    golden: (place in the file, bytes) of its golden vectors.
    """

    def __init__(self, what, calls, chunks):
        """what: see loops/program; calls: their number; chunks: (place in the file, view)."""
        self._what, self._chunks = what, chunks
        self._steps = [(calls, self._compute)]
        self._take, self._free = turn(lock())

    run = run_of_model

    def _compute(self, lo=0, hi=_ALL):
        """The extent is calls of loops: see loops/program."""
        what = self._what
        words = what[1]
        if lo == 0:
            words[0] = words[3] = words[4] = 0
        words[1] = hi - lo
        while True:
            i = run(what) - 256
            if i < 0:
                return
            self._read(*self._chunks[i])

    def _read(self, offset, view):
        """Weights come into the arena."""
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


class Border:
    """An input or output: a Tensor, of which one is made for what is asked seldom.

    data: its items; of: the values of _FIELDS, then what tensor.of_border takes.
    """

    fed = None  # see feed

    def __init__(self, data, of):
        self.data, self._of = data, of

    def __getattr__(self, name):
        of = self._of
        if name in _FIELDS:
            return of[_FIELDS.index(name)]
        try:
            from .tensor import of_border

            return getattr(of_border(self, *of[len(_FIELDS) :]), name)
        except MemoryError:
            raise fresh(SHORT)

    # Short, as they stay in the heap: what they do is Tensor's.

    def __len__(self):
        return self.get("len")

    def __getitem__(self, i):
        return self.get(i)

    def __repr__(self):
        return self.get(None)
