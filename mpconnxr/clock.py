"""The clock, and the time that a run of a model takes, for benchmarks and golden vectors."""

from .errors import UnsupportedError
from .turn import lock, turn


def clock():
    """Return the module time. Raises UnsupportedError where the firmware has no microseconds."""
    try:
        import time
    except ImportError:
        time = None
    if not hasattr(time, "ticks_us"):
        raise UnsupportedError("this firmware has no time.ticks_us")
    return time


def twin(model):
    """Return a copy of the model with a separate turn, for a caller that has the model's turn.

    Its run() takes as long as the model's, with all work of a call.
    """
    result = object.__new__(type(model))
    for name, value in model.__dict__.items():
        setattr(result, name, value)
    result._take, result._free = turn(lock())
    return result


def us_of(model, time):
    """Return the microseconds that model.run() takes. time: the module that clock() returned."""
    start = time.ticks_us()
    model.run()
    return time.ticks_diff(time.ticks_us(), start)
