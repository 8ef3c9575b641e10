"""Model.benchmark() and runs with a deadline. Only a program that calls one imports this."""

from ..arguments import integer, number
from ..clock import clock, twin, us_of
from ..rare import alone, compute
from ..turn import SHORT, fresh

_LONGEST = 1 << 28  # us; ticks_diff tells times apart up to 2**29
MOST_RUNS = 1 << 20


def run_until(model, x, deadline_us):
    """Do what Model.run does, but return no earlier than deadline_us after the call."""
    return model.run(x, deadline_us)


def _until(model, x, deadline_us):
    """Compute, and return no earlier than deadline_us after the call, within the model's turn."""
    try:
        time = clock()
        start = time.ticks_us()
        integer("deadline_us", deadline_us, 0, _LONGEST)
        compute(model, x)
        left = deadline_us - time.ticks_diff(time.ticks_us(), start)
        while left > 0:
            time.sleep_us(left)
            left = deadline_us - time.ticks_diff(time.ticks_us(), start)
    except MemoryError:
        raise fresh(SHORT)


class Held:
    """The state and inputs that each of several runs starts from."""

    def __init__(self, model, x=None):
        self._parts = [(model._state, bytes(model._state))]
        self._x = x
        if x is None:
            views = [t.view("B") for t in model.inputs if hasattr(t, "view")]
            self._parts += [(view, bytes(view)) for view in views]

    def restore(self):
        """Restore the state; and the inputs, unless x is given to each run."""
        for view, kept in self._parts:
            view[:] = kept


class Benchmark:
    """Microseconds of a model's runs.

    Attributes:
        n: number of timed runs.
        min_us, max_us: least and longest time.
        p50_us, p95_us, p99_us: time that this percentage of runs did not exceed.
    """

    def __init__(self, times):
        self._times = sorted(times)
        self.n = len(times)
        self.min_us, self.max_us = self._times[0], self._times[-1]
        self.p50_us, self.p95_us, self.p99_us = [self.percentile(p) for p in (50, 95, 99)]

    def percentile(self, p):
        """Return the least time that p percent of the runs did not exceed. Raises InputError."""
        at = -(-self.n * number("p", p, 0, 100) // 100)
        return self._times[max(0, int(at) - 1)]

    def __str__(self):
        return "{} runs: min {}, p50 {}, p95 {}, p99 {}, max {} us".format(
            self.n, self.min_us, self.p50_us, self.p95_us, self.p99_us, self.max_us
        )


def benchmark(model, n=100, x=None, warm_up=3):
    """Measure the time of n runs; return a Benchmark.

    The model's state is afterwards what it was.

    Args:
        model: the model.
        n: number of timed runs.
        x: as for Model.run; filling it in is not timed. Without x each run gets the inputs'
            present data.
        warm_up: number of runs before the timed ones.

    Raises:
        InputError, UnsupportedError: an argument does not fit, or the board has no clock.
    """
    try:
        integer("n", n, 1, MOST_RUNS)
        integer("warm_up", warm_up, 0, MOST_RUNS)
        return Benchmark(alone(model, _times, model, n, x, warm_up, clock()))
    except MemoryError:
        raise fresh(SHORT)


def _times(model, n, x, warm_up, time):
    """Return the microseconds of each of n runs after the warm-up, within the model's turn."""
    from ..feed import filled

    held = Held(model, x)
    timed = twin(model)
    times = []
    for i in range(warm_up + n):
        held.restore()
        if x is not None:
            filled(model, x)
        us = us_of(timed, time)
        if i >= warm_up:
            times.append(us)
    held.restore()
    return times
