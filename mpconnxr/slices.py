"""Runs in parts, between which a program does other things: Model.run_async().

A step is cut along the extent of its outermost loop into parts that take about half of the time
that a slice may take; how many items those are is measured, part by part, and kept for the next
run. Only a program that asks imports this.
"""

from .errors import OF_A_RUN, InputError, ModelError, MpconnxrError, UnsupportedError
from .feed import fill
from .timing import clock

_GROWTH = 4  # of a part over the one before: its first items may have been quick ones


class Slices:
    """How a model's runs are cut. sizes: items of the next part, by step."""

    def __init__(self, model):
        self.model = model
        self.sizes = [1] * len(model._steps)
        self.is_running = False

    def run(self, x, slice_ms):
        """A generator of one run, which yields between its parts. Raises MpconnxrError."""
        if slice_ms < 1:
            raise InputError("slice_ms: at least 1")
        if self.is_running:
            raise MpconnxrError("the model is still computing")
        model, time = self.model, clock()
        ticks, diff, half = time.ticks_us, time.ticks_diff, 500 * slice_ms
        self.is_running = True
        try:
            if x is not None:
                fill(model.inputs, x)
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
        except OF_A_RUN:
            raise
        except MemoryError:
            from .shortage import fail

            fail()
        except Exception as e:  # not the GeneratorExit of a task that was cancelled
            raise ModelError("a run: " + repr(e))
        finally:
            self.is_running = False


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
        from asyncio import sleep
    except ImportError:
        raise UnsupportedError("this firmware has no asyncio")
    parts = slices(model).run(x, slice_ms)
    try:
        for _ in parts:
            await sleep(0)
    finally:
        parts.close()  # also where the task was cancelled
    return model.outputs
