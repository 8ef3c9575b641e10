"""A loaded model: every node prepared once, then run in order."""

from .errors import fault
from .turn import SHORT, fresh, lock, run, turn


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
        if loader.given is None:
            self._take, self._free = turn(lock())
        else:
            from .turns import give

            give(self, loader.given)

    run = run

    def _compute(self):
        if self._runtime:
            self._runtime.start()
        for n, step in self._steps:
            step(0, n)
        if self._runtime:
            self._runtime.resize(self.outputs)

    def _fail(self):  # here, as a stack that ends has no room for an import
        fault()

    def __getattr__(self, name):
        """profile, run_async and others: see rare, which most programs never import."""
        try:
            from .rare import method

            return method(self, name)
        except MemoryError:
            raise fresh(SHORT)

    def __repr__(self):
        try:
            from .items import text_of_model

            return text_of_model(self)
        except MemoryError:
            raise fresh(SHORT)
