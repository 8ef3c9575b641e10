"""Measure the time of each step: Model.profile(). Only a program that calls it imports this."""

import gc
import sys
from array import array

from ..arguments import integer
from ..errors import MpconnxrError, UnsupportedError
from ..rare import alone, compute
from ..turn import SHORT, fresh
from .timing import MOST_RUNS, Held, clock

_NAME_WIDTH = 28


class StepTime:
    """A step of a run.

    Attributes:
        step: number of the step in the file; '3/0' is a step in a body of step 3.
        name: name of its ONNX node, '' if unknown.
        kernel: name of its kernel; 'read weights' for a read from the file.
        forms: forms of its loops, by family.
        us: microseconds in a whole run, the median of several runs.
    """

    def __init__(self, step, name, kernel, forms):
        self.step, self.name, self.kernel, self.forms = step, name, kernel, forms
        self.us = 0


class Profile:
    """The steps of a model with their times; str() is a table.

    Attributes:
        steps: list of StepTime in the order of the file.
        us: time of all steps; a step in a body counts with the step that runs it.
    """

    def __init__(self, steps):
        self.steps = steps
        self.us = sum([s.us for s in steps if "/" not in s.step])

    def rows(self):
        """Return (step, name, kernel, forms, us, share) of each step, as text."""
        texts = []
        for s in self.steps:
            name = s.name
            if len(name) > _NAME_WIDTH:  # the end: there the names of one model differ
                name = "..." + name[3 - _NAME_WIDTH :]
            share = "{:.1f}%".format(100 * s.us / (self.us or 1))
            texts.append((s.step, name, s.kernel, " ".join(s.forms), str(s.us), share))
        return texts

    def __str__(self):
        rows = [("step", "name", "kernel", "loops", "us", "share")] + self.rows()
        rows.append(("", "", "all", "", str(self.us), ""))
        widths = [max([len(row[i]) for row in rows]) for i in range(6)]
        return "\n".join([_line(row, widths) for row in rows])


def text(name):
    """Return a node's name as text, with marks for bytes that are not UTF-8."""
    try:
        return str(name, "utf-8")
    except UnicodeError:
        return "".join([chr(byte) if byte < 128 else "\ufffd" for byte in name])


def _line(row, widths):
    fields = []
    for i in range(6):
        gap = " " * (widths[i] - len(row[i]))
        fields.append(gap + row[i] if i >= 4 else row[i] + gap)
    return "  ".join(fields)


class _Timed:
    """A step that sums the time it takes in each of several runs; one run may contain it often."""

    def __init__(self, inner, time, runs):
        self.inner, self.ticks, self.diff = inner, time.ticks_us, time.ticks_diff
        self.times = array("I", [0] * runs)

    def begin(self, run):
        self.run = run
        self.times[run] = 0

    def step(self, lo, hi):
        start = self.ticks()
        self.inner(lo, hi)
        self.times[self.run] += self.diff(self.ticks(), start)

    def median(self):
        return sorted(self.times)[len(self.times) // 2]


def profile(model, x=None, runs=1):
    """Measure the time of each step in several runs; return a Profile.

    An additional first run is not counted, as it checks digests. The times include two readings of
    the clock. A step that runs others, such as an If, has their times in its own; they follow it.
    In a program a step's time includes reading its weights. The model's state is afterwards what
    it was.

    Args:
        model: the model.
        x: as for Model.run; without it each run gets the inputs' present data.
        runs: number of runs.

    Raises:
        InputError, UnsupportedError: an argument does not fit, or the board cannot measure.
    """
    try:
        integer("runs", runs, 1, MOST_RUNS)
        measure = _measured_program if type(model).__name__ == "Program" else _measured
        return Profile(alone(model, measure, model, x, runs, clock()))
    except MemoryError:
        raise fresh(SHORT)


def _measured(model, x, runs, time):
    """Return the StepTimes of a model with kernels."""
    from ..build.reader import CHUNK_NODES
    from .kernels import Listing

    listing = Listing(model, (CHUNK_NODES,))
    lists = [model._steps] + model._bodies
    timed = [_Timed(step, time, runs) for steps in lists for _, step in steps]
    default, model._runs = model._runs, model._steps
    exchange(lists, [t.step for t in timed])
    try:
        _run(model, x, runs, timed)
    finally:
        model._runs = default
        exchange(lists, [t.inner for t in timed])
    names = bytes(listing.chunk(CHUNK_NODES) or b"").split(b"\0")[:-1]
    return _described(listing, names, timed)


def _measured_program(model, x, runs, time):
    """Return the StepTimes of a program. Its module NAME_steps lists the steps."""
    name = model.__name__ + "_steps"
    try:
        __import__(name)
    except ImportError:
        raise UnsupportedError("profile: the list of the program's steps is not here")
    listed = sys.modules.pop(name).steps
    steps = model._steps
    n, inner = steps[0]
    timed = [_Timed(inner, time, runs) for _ in listed]

    def step(lo, hi):
        for i in range(len(listed)):
            calls = listed[i][-1]
            timed[i].step(lo, lo + calls)
            lo += calls

    steps[0] = n, step
    try:
        _run(model, x, runs, timed)
    finally:
        steps[0] = n, inner
    made = [StepTime(*row[:-1]) for row in listed]
    for i in range(len(made)):
        made[i].us = timed[i].median()
    return made


def _run(model, x, runs, timed):
    """Run the model once uncounted, then `runs` times, each time from the same state."""
    held = Held(model, x)
    try:
        for i in range(-1, runs):
            for t in timed:
                t.begin(max(i, 0))
            gc.collect()
            held.restore()
            compute(model, x)
    finally:
        held.restore()


def exchange(lists, replacements):
    """Replace the function of each step in these lists of (n, step), in order."""
    k = 0
    for steps in lists:
        for i in range(len(steps)):
            steps[i] = steps[i][0], replacements[k]
            k += 1


def _described(listing, names, timed):
    """Return a StepTime for each timed step, in the file's order, after its reads of weights."""
    places = sum(listing.bodies, listing.steps)
    if len(places) != len(timed):
        raise MpconnxrError("the file is another one than when it was loaded")
    if len(names) != len(listing.rows):
        names = [b""] * len(listing.rows)
    steps = []
    for k in sorted(range(len(places)), key=lambda k: (places[k][0], not places[k][1], k)):
        at, is_read = places[k]
        number, kernel, taken = listing.rows[at]
        forms = [] if is_read else sorted(set(taken.values()))
        kernel = "read weights" if is_read else kernel
        steps.append(StepTime(number, text(names[at]), kernel, forms))
        steps[-1].us = timed[k].median()
    return steps
