"""Runs in parts, between which a program does other things: Model.run_async().

A step is cut along the extent of its outermost loop into parts that take about half of the time
that a slice may take; how many items those are is measured, part by part, and kept for the next
run. Only a program that asks imports this.
"""

from .arguments import integer
from .errors import ModelError, MpconnxrError, UnsupportedError
from .feed import filled
from .timing import clock
from .turn import BUSY, OF_A_RUN, SHORT, fresh, none

_GROWTH = 4  # of a part over the one before: its first items may have been quick ones
LONGEST_MS = 1 << 18  # of a slice: half of it in microseconds is a time that ticks_diff tells


class Slices:
    """How a model's runs are cut.

    sizes: items of the next part, by step; parts: the run that began last, a generator.
    """

    def __init__(self, model):
        self.model = model
        self.sizes = [1] * len(model._steps)
        self.parts = None

    def begin(self, x, slice_ms, ended=None):
        """Return run(x, slice_ms, ended), which give_up() ends."""
        parts = self.run(x, slice_ms, ended)
        if not self.parts:
            self.parts = parts
        return parts

    def give_up(self):
        """End a run that waits between its parts. Raises ValueError for one that computes."""
        if self.parts:
            self.parts.close()
            self.parts = None

    def run(self, x, slice_ms, ended=None):
        """A generator of one run, which yields between its parts. Raises MpconnxrError.

        ended: a list, which gets an item if the run came to its end.
        """
        integer("slice_ms", slice_ms, 1, LONGEST_MS)
        model, time = self.model, clock()
        ticks, diff, half = time.ticks_us, time.ticks_diff, 500 * slice_ms
        is_filled = False
        free = model._free[model._take(False)]
        try:
            if free is none:
                raise fresh(BUSY)
            if x is not None:
                filled(model, x)
            is_filled = True
            if model._runtime:
                model._runtime.start()
            began = ticks()
            for k in range(len(model._steps)):
                n, step = model._steps[k]
                lo = 0
                while lo < n:
                    if diff(ticks(), began) >= half:
                        yield
                        began = ticks()
                    hi = min(n, lo + self.sizes[k])
                    at = ticks()
                    step(lo, hi)
                    self.sizes[k] = _next(hi - lo, diff(ticks(), at), half)
                    lo = hi
            if model._runtime:
                model._runtime.resize(model.outputs)
            if ended is not None:
                ended.append(True)
        except OF_A_RUN:
            raise
        except MemoryError:
            raise fresh(SHORT)
        except Exception as e:  # not the GeneratorExit of a task that was cancelled
            if not is_filled:  # by an object of the caller's
                raise
            raise ModelError("a run: " + repr(e))
        finally:
            free()
            if free is not none:
                self.parts = None


def _next(items, us, wanted_us):
    """How many items make a part of the wanted time, if these took us."""
    most = items * _GROWTH
    if us * _GROWTH <= wanted_us:
        return most
    # in 16 us, so that the product stays a small integer
    return max(1, min(most, items * (wanted_us >> 4) // max(1, us >> 4)))


def slices(model):
    """The Slices of a model, made at the first call."""
    if "_slices" not in model.__dict__:
        model._slices = Slices(model)
    return model._slices


async def run_async(model, x=None, slice_ms=5):
    """Model.run for asyncio: other tasks go on while the model computes.

    slice_ms: about the longest time for which it keeps the processor; a single item of a step
    that takes longer (docs/api.md) is not interrupted. Until it returns, neither this model nor
    another one in its arena may run. Raises MpconnxrError also where this model computes already.
    """
    try:
        try:
            from asyncio import sleep
        except ImportError:
            raise UnsupportedError("this firmware has no asyncio")
        ended = []
        parts = slices(model).begin(x, slice_ms, ended)
        try:
            for _ in parts:
                await sleep(0)
        finally:
            parts.close()  # also where the task was cancelled
        if not ended:
            raise MpconnxrError("reset() has ended the run")
        return model.outputs
    except MemoryError:
        raise fresh(SHORT)
