"""A loaded model: every node prepared once, then run in order."""


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
        Raises InputError.
        """
        if deadline_us is not None:
            return self.run_until(x, deadline_us)
        if x is not None:
            from .feed import fill

            fill(self.inputs, x)
        return self._compute()

    def _compute(self):
        """By itself, so that its frame needs no heap on firmware that lends large ones."""
        if self._runtime:
            self._runtime.start()
        for n, step in self._steps:
            step(0, n)
        if self._runtime:
            self._runtime.resize(self.outputs)
        return self.outputs

    def reset(self):
        """Forgets what the last run left for the next one: zeros, as after load."""
        for i in range(len(self._state)):
            self._state[i] = 0

    def close(self):
        """Closes the file that weights are streamed from; the model cannot run after it."""
        if self._stream:
            self._stream.close()

    def __getattr__(self, name):
        """profile, benchmark, run_async and others: see rare, which most programs never import."""
        from .rare import method

        return method(self, name)
