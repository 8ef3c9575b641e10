"""What stays of a model that is a program: its one step, its inputs and outputs."""


class Program:
    """A model that is ready to run, as a mpconnxr.model.Model is."""

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
            from ..feed import fill

            fill(self.inputs, x)
        except Exception as e:
            from ..rare import not_filled

            not_filled(e)

    def _run(self):
        try:
            n, step = self._steps[0]
            step(0, n)
        except Exception as e:
            from ..rare import failed

            failed(e)

    def _step(self, lo, hi):
        """The extent is calls of loops: see loops/program."""
        words = self._words
        if lo == 0:
            words[0] = words[3] = words[4] = 0
        words[1] = hi - lo
        while self._plays():
            pass

    def _plays(self):
        """Goes on to where weights have to be read, and reads them; False at the end."""
        i = self._play(self._what) - 256
        if i < 0:
            return False
        self._read(*self._chunks[i])
        return True

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
        from ..rare import method

        return method(self, name)


class Border:
    """An input or output: a Tensor, of which one is made for what is asked seldom.

    of: buffer, offset, nbytes, dtype number, shape, name: as for Tensor; grid: None, or scale and
    zero point.
    """

    def __init__(self, of, dtype, data, grid):
        self._of, self.dtype, self.data = of, dtype, data
        self.nbytes, self.shape, self.name = of[2], of[4], of[5]
        self.nelem = len(data)
        self.scale, self.zero_point = grid or (None, None)

    def __getattr__(self, name):
        from ..tensor import Tensor

        t = Tensor(*self._of)
        t.scale, t.zero_point = self.scale, self.zero_point
        return getattr(t, name)
