"""A loaded model, and the table of the calls that its run makes."""

from .errors import fault
from .turn import SHORT, fresh, lock, run, turn

ALL = 0x1FFFFFFF  # calls: more than any run has


class Model:
    """A model that is ready to run.

    Attributes:
        inputs, outputs: lists of tensors in the graph's order. Their data are typed views into the
            arena. Fill inputs[i].data and call run(), or pass the values to run(). The shape and
            data of an output whose shape a run decides are those of the last run.
    """

    def __init__(self, loader):
        """Create a model from a build.loader.Loader, which has prepared everything."""
        self._origin, self._prefer = loader.origin, loader.prefer
        self._arena, self.arena_nbytes = loader.arena, loader.arena_nbytes
        self._state, self.state_nbytes = loader.state, len(loader.state)
        self.inputs, self.outputs = loader.inputs, loader.outputs
        self._steps, self._bodies, self._runs = loader.steps, loader.bodies, loader.runs
        self._runtime, self._stream = loader.runtime, loader.stream
        if loader.callers_arena is None:
            self._take, self._free = turn(lock())
        else:
            from .turns import give

            give(self, loader.callers_arena)

    run = run

    def _compute(self):
        if self._runtime:
            self._runtime.start()
        for n, step in self._runs:
            step(0, n)
        if self._runtime:
            self._runtime.resize(self.outputs)

    def _fail(self):  # here, as a stack that ends has no room for an import
        fault()

    def __getattr__(self, name):
        """Find profile, run_async and other methods in rare, which few programs import."""
        try:
            from .rare import method

            return method(self, name)
        except MemoryError:
            raise fresh(SHORT)

    def __repr__(self):
        try:
            from .io import elements

            return elements.text_of_model(self)
        except MemoryError:
            raise fresh(SHORT)


def of_two(p, w, loop, _):
    """Call loop(p, w) from a table, which calls everything with four arguments."""
    loop(p, w)


class Table:
    """The calls of one graph, as loops/program makes them, and the steps that they belong to.

    The steps of a table run in their order: `first`, which begins a run, then `rest` for each of
    the others. The extent of a step is its number of calls.

    Attributes:
        what: argument of the runner.
        words: the runner's words, also in `what`.
        run: the runner.
        held: buffers that the table's views do not keep alive.
        reset: offset in the code of the calls that restore the words a run changes; 0 if none.
    """

    what = words = run = held = None
    reset = 0

    def __init__(self):
        self.first, self.rest = self._first, self._rest  # made once: each has its own object

    def _first(self, lo, hi):
        words = self.words
        if lo == 0:  # a run begins, however the one before has ended
            # counters of repeats; a slice would take heap
            words[3] = words[4] = words[5] = words[6] = words[7] = 0
            if self.reset:
                words[0], words[1] = self.reset, ALL
                self.run(self.what)
            words[0] = 0
        words[1] = hi - lo
        self.run(self.what)

    def _rest(self, lo, hi):
        self.words[1] = hi - lo
        self.run(self.what)
