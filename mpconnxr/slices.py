"""Runs in parts, between which a program does other things: Model.run_async().

A step is cut along the extent of its outermost loop into parts that take about half of the time
of a slice. How much of the extent that is, is measured part by part, and kept for the next run.
Only a program that asks for it imports this module.
"""

from .arguments import integer
from .clock import clock
from .errors import ModelError, MpconnxrError, UnsupportedError
from .feed import filled
from .turn import BUSY, OF_A_RUN, SHORT, fresh, none

_GROWTH = 4  # of a part over the one before, whose elements may have been quick ones
LONGEST_MS = 1 << 18  # of a slice: half of it in microseconds is a time that ticks_diff tells


class Slices:
    """The state of a model's runs in parts.

    Attributes:
        sizes: extent of the next part, by step.
        parts: the generator of the run that began last, or None.
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
        """Compute one run as a generator, which yields between its parts.

        Args:
            x: as for Model.run.
            slice_ms: time between two yields, about.
            ended: a list, to which a run that is complete appends True.

        Raises:
            MpconnxrError: as Model.run does.
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


def _next(extent, us, expected_us):
    """Return the extent of a part of the wanted time, if the last extent took us microseconds."""
    most = extent * _GROWTH
    if us * _GROWTH <= expected_us:
        return most
    # in 16 us, so that the product stays a small integer
    return max(1, min(most, extent * (expected_us >> 4) // max(1, us >> 4)))


def slices(model):
    """Return the Slices of a model, made at the first call."""
    if "_slices" not in model.__dict__:
        model._slices = Slices(model)
    return model._slices


async def run_async(model, x=None, slice_ms=5):
    """Do what Model.run does while other tasks of asyncio go on.

    Until it returns, neither this model nor another one in its arena may run.

    Args:
        model: the model.
        x: as for Model.run.
        slice_ms: longest time between two awaits, about. A step whose smallest part takes longer
            (docs/api.md) is not interrupted.

    Raises:
        MpconnxrError: also if this model computes already, or reset() has ended the run.
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
