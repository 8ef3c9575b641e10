"""A loaded model: every node prepared once, then run in order."""

from .errors import OF_A_RUN, ModelError


class Model:
    """A model that is ready to run.

    inputs, outputs: lists of Tensor, in the graph's order; their data are typed views into the
    arena. Fill inputs[i].data and call run(), or pass the values to run(). The shape and data of
    an output whose shape a run decides are those of the last run.
    """

    def __init__(self, loader):
        """loader: a loading.Loader, which has prepared everything."""
        self._origin, self._prefer = loader.origin, loader.prefer
        self._arena, self.arena_nbytes = loader.arena, loader.arena_nbytes
        self._state, self.state_nbytes = loader.state, len(loader.state)
        self.inputs, self.outputs = loader.inputs, loader.outputs
        self._steps, self._bodies = loader.steps, loader.bodies
        self._runtime, self._stream = loader.runtime, loader.stream

    def run(self, x=None, deadline_us=None):
        """Computes the outputs.

        x: nothing if the inputs' data were filled; the value of the only input (array, bytes in C
           order, list, nested list, or a number for a scalar); a list or tuple of such values if
           there are several inputs; or a dict by input name. Of an input whose shape the caller
           decides also (value, shape).
        deadline_us: microseconds before which not to return, so that the time a run takes does
           not tell what it computed.
        Returns self.outputs; their data hold until the next run of a model in this arena. The
        inputs' memory may be overwritten: fill it before each run.
        Raises InputError; what else goes wrong in a step is an MpconnxrError, too, or an OSError
        of the file that weights are streamed from.
        """
        if deadline_us is not None:
            return self.run_until(x, deadline_us)
        if x is not None:
            self._fill(x)
        self._guarded()
        return self.outputs

    # Frames of more than 11 words are of the heap on some firmware: each of these is smaller. An
    # `except ... as e` takes one beyond that, and so do four clauses.

    def _fill(self, x):
        try:
            from .feed import fill

            fill(self.inputs, x)
        except MemoryError:
            self._short()
        except RuntimeError:
            from .errors import InputError

            raise InputError("a value lies too deep in others, or the stack is too short")

    def _short(self):
        from .shortage import fail

        fail()

    def _guarded(self):
        try:
            self._compute()
        except OF_A_RUN:
            raise
        except MemoryError:
            self._short()
        except Exception:  # a kernel's check was not tight enough: still the file's fault
            raise ModelError("a step cannot compute what the file asks for; or a short stack")

    def _compute(self):
        if self._runtime:
            self._runtime.start()
        for n, step in self._steps:
            step(0, n)
        if self._runtime:
            self._runtime.resize(self.outputs)

    def __getattr__(self, name):
        """profile, run_async and others: see rare, which most programs never import."""
        from .rare import method

        return method(self, name)

    def __repr__(self):
        from .items import text_of_model

        return text_of_model(self)
