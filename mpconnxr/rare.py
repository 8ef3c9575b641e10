"""Methods of a model besides run, imported at the first use of one.

A board that only calls run() holds none of this in its heap. Each method is a function whose
first argument is the model; _PLACES has its module, which is found by name.
"""

from . import turn
from .errors import InputError, MpconnxrError, UnsupportedError, fault

_ABSENT = ("_runtime", "_stream", "_bodies", "_prefer")  # of a program that has no use for them
_PLACES = {
    "reset": "rare",
    "close": "rare",
    "kernels": "inspect.kernels",
    "profile": "inspect.profile",
    "trace": "inspect.trace",
    "benchmark": "inspect.timing",
    "run_until": "inspect.timing",
    "_until": "inspect.timing",
    "run_async": "slices",
    "submit": "queue",
    "poll": "queue",
    "predict": "io.labels",
    "_fail": "rare",
}


def alone(model, function, *args):
    """Call a function within the model's turn. Raises MpconnxrError while the model computes."""
    free = model._free[model._take(False)]
    try:
        if free is turn.none:
            raise turn.fresh(turn.BUSY)
        return function(*args)
    finally:
        free()


def compute(model, x=None):
    """Fill the inputs and compute, as Model.run does, within the model's turn."""
    if x is not None:
        turn.fill(model, x)
    turn.compute(model)


def reset(model):
    """Zero the state, as after load, and end a run of run_async() or submit() that waits.

    Raises MpconnxrError while such a run computes.
    """
    try:
        if "_slices" in model.__dict__:
            _give_up(model)
        alone(model, zero, model)
    except MemoryError:
        raise turn.fresh(turn.SHORT)


def _give_up(model):
    """End the run of run_async() or submit() that waits for its next part, if it does."""
    try:
        model._slices.give_up()
    except ValueError:  # its generator is executing
        return
    if "_queue" in model.__dict__:
        model._queue.drop()


def zero(model):
    """Zero the state, within the model's turn."""
    for i in range(len(model._state)):
        model._state[i] = 0


def _fail(model):
    """Raise the ModelError for an exception in a step, which is being handled."""
    fault()


def on_cores(model, cores):
    """Let a loaded model run on 2 cores. model: None if the board has no program of it.

    Raises InputError for another number, UnsupportedError unless the program is for two cores.
    """
    if cores != 2:
        raise InputError("cores: 1 or 2")
    if model is None:
        raise UnsupportedError("cores=2: only for a program that was made with --cores 2")
    if "_second" not in model.__dict__:
        raise UnsupportedError("cores=2: the program is for one core: make it with --cores 2")
    model.use_cores(2)


def close(model):
    """Close the file that weights are streamed from; the model cannot run any more."""
    try:
        alone(model, _close, model)
    except MemoryError:
        raise turn.fresh(turn.SHORT)


def _close(model):
    if "_second" in model.__dict__:  # of a program for two cores
        model.change_cores(1)
    model._steps = [(1, _closed)]
    model._compute = _closed
    if hasattr(model._stream, "close"):  # a program may read its weights from memory
        model._stream.close()


def _closed(lo=0, hi=1):
    """Raise MpconnxrError, as the only step of a closed model."""
    raise MpconnxrError("the model was closed: load it again")


def method(model, name):
    """Return an attribute that the model lacks, most often a method.

    A method becomes one of the model's class, so that a call makes no dict for it.

    Args:
        model: a Model or a Program.
        name: name of the attribute.

    Raises:
        AttributeError: nothing has this name.
        UnsupportedError: a program has no kernels to list or trace.
    """
    if name in _ABSENT:
        return None
    if name == "state_nbytes":  # of a program
        return len(model._state)
    if name == "labels":
        return __import__("mpconnxr.io.labels", None, None, ("labels",)).labels(model)
    if name.startswith("__"):  # which Python looks for itself, to go over it or compare it
        raise TypeError("a Model is not a sequence or a number")
    if name in ("kernels", "trace") and type(model).__name__ == "Program":
        raise UnsupportedError(name + ": the model is a program, without kernels")
    if name not in _PLACES:
        raise AttributeError("'Model' object has no attribute '{}'".format(name))
    module = __import__("mpconnxr." + _PLACES[name], None, None, (name,))
    setattr(type(model), name, getattr(module, name))
    return getattr(model, name)
