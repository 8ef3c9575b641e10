"""How long each step of a model takes: Model.profile(). Only a program that asks imports this."""

import gc
from array import array

from .errors import InputError
from .kernels import Listing
from .reader import CHUNK_NODES
from .timing import Held, clock

_NAME_WIDTH = 28


class Step:
    """A step of a run. step: its number in the file; name: of the ONNX node, '' where unknown;
    kernel: 'read weights' for a read from the file; forms: of its loops; us: of one run, the
    median."""

    def __init__(self, step, name, kernel, forms):
        self.step, self.name, self.kernel, self.forms = step, name, kernel, forms
        self.us = 0


class Profile:
    """steps: list of Step in the order of the run; us: of all of them; str() is a table."""

    def __init__(self, steps):
        self.steps = steps
        self.us = sum([s.us for s in steps])

    def rows(self):
        """(step, name, kernel, forms, us, share) of each step, as text."""
        found = []
        for s in self.steps:
            name = s.name
            if len(name) > _NAME_WIDTH:  # its end: that is where names of one model differ
                name = "..." + name[3 - _NAME_WIDTH :]
            share = "{:.1f}%".format(100 * s.us / (self.us or 1))
            found.append((s.step, name, s.kernel, " ".join(s.forms), str(s.us), share))
        return found

    def __str__(self):
        rows = [("step", "name", "kernel", "loops", "us", "share")] + self.rows()
        rows.append(("", "", "all", "", str(self.us), ""))
        widths = [max([len(row[i]) for row in rows]) for i in range(6)]
        return "\n".join([_line(row, widths) for row in rows])


def _line(row, widths):
    fields = []
    for i in range(6):
        gap = " " * (widths[i] - len(row[i]))
        fields.append(gap + row[i] if i >= 4 else row[i] + gap)
    return "  ".join(fields)


class _Timed:
    """A step that notes its time in each of some runs."""

    def __init__(self, inner, time, runs):
        self.inner, self.ticks, self.diff = inner, time.ticks_us, time.ticks_diff
        self.times = array("I", [0] * runs)
        self.run = 0

    def step(self, lo, hi):
        start = self.ticks()
        self.inner(lo, hi)
        self.times[self.run] = self.diff(self.ticks(), start)

    def median(self):
        return sorted(self.times)[len(self.times) // 2]


def profile(model, x=None, runs=1):
    """Times each step of some runs: a Profile.

    x: as for Model.run; left out, each run gets what the inputs hold now. A first run is not
    counted: it checks digests. The times contain what it takes to read the clock twice; a step
    that runs others, such as an If, has theirs in its own. The model's state is afterwards what
    it was. Raises InputError, UnsupportedError.
    """
    if runs < 1:
        raise InputError("runs: at least one")
    time = clock()
    described = _described(model)
    held = Held(model, x)
    usual = model._steps
    timed = [_Timed(step, time, runs) for _, step in usual]
    model._steps = [(usual[i][0], timed[i].step) for i in range(len(usual))]
    try:
        for i in range(-1, runs):
            for t in timed:
                t.run = max(i, 0)
            gc.collect()
            held.restore()
            model.run(x)
    finally:
        model._steps = usual
        held.restore()
    for i in range(len(timed)):
        described[i].us = timed[i].median()
    return Profile(described)


def _described(model):
    """A Step for each one of the model's runs."""
    listing = Listing(model, (CHUNK_NODES,))
    names = bytes(listing.chunk(CHUNK_NODES) or b"").split(b"\0")[:-1]
    if len(names) != len(listing.found):
        names = [b""] * len(listing.found)
    steps = []
    for at, is_read in listing.taken:
        number, kernel, taken = listing.found[at]
        forms = [] if is_read else sorted(set(taken.values()))
        kernel = "read weights" if is_read else kernel
        steps.append(Step(number, str(names[at], "utf-8"), kernel, forms))
    return steps
