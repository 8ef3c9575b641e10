"""What stays of a model that is a program: its one step, its inputs and outputs."""

from .forms import get as _form

_loops = _form("program")  # of a program's own files: the loops themselves
advance, run = _loops.advance, _loops.run

_FIELDS = ("nbytes", "dtype", "shape", "name", "nelem", "scale", "zero_point")


class Program:
    """A model that is ready to run, as a mpconnxr.model.Model is.

    golden: (place in the file, bytes) of its golden vectors.
    """

    def __init__(self, what, calls, chunks):
        """what: see loops/program; calls: their number; chunks: (place in the file, view)."""
        self._what, self._chunks = what, chunks
        self._steps = [(calls, self._step)]

    def run(self, x=None, deadline_us=None):
        """As Model.run."""
        if deadline_us is not None:
            return self.run_until(x, deadline_us)
        if x is not None:
            self._fill(x)
        self._run()
        return self.outputs

    # Frames of more than 11 words are of the heap on some firmware: each of these is smaller.

    def _fill(self, x):
        try:
            from .feed import fill

            fill(self.inputs, x)
        except Exception as e:
            from .rare import not_filled

            not_filled(e)

    def _run(self):
        try:
            n, step = self._steps[0]
            step(0, n)
        except Exception as e:
            from .rare import failed

            failed(e)

    def _step(self, lo, hi):
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
            raise OSError("the model's file is truncated")

    def __getattr__(self, name):
        from .rare import method

        return method(self, name)


class Border:
    """An input or output: a Tensor, of which one is made for what is asked seldom.

    data: its items; of: the values of _FIELDS, then what tensor.of_border takes.
    """

    def __init__(self, data, of):
        self.data, self._of = data, of

    def __getattr__(self, name):
        of = self._of
        if name in _FIELDS:
            return of[_FIELDS.index(name)]
        from .tensor import of_border

        return getattr(of_border(self, *of[len(_FIELDS) :]), name)

    # Short, as they stay in the heap: what they do is Tensor's.

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, i):
        return self.get(i)

    def __repr__(self):
        return self.get(None)
