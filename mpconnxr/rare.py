"""What a model can do besides running, imported when a program first asks for it.

A board that only calls run() holds none of this in its heap. Each name is that of a function
whose first argument is the model, in the module named here.
"""

from .errors import OF_A_RUN, InputError, ModelError, MpconnxrError, UnsupportedError

_ABSENT = ("_runtime", "_stream", "_bodies", "_prefer")  # of a program that has no use for them
_PLACES = {
    "reset": "rare",
    "close": "rare",
    "kernels": "kernels",
    "profile": "profile",
    "trace": "trace",
    "benchmark": "timing",
    "run_until": "timing",
    "run_async": "slices",
    "submit": "queue",
    "poll": "queue",
    "predict": "labels",
}


def reset(model):
    """Forgets what the last run left for the next one: zeros, as after load."""
    for i in range(len(model._state)):
        model._state[i] = 0


def not_filled(error):
    """Raises what a run does for this exception while inputs are filled."""
    if isinstance(error, RuntimeError):
        raise InputError("a value lies too deep in others, or the stack is too short")
    if isinstance(error, MemoryError):
        from .shortage import fail

        fail()
    raise error


def failed(error):
    """Raises what a run does for this exception in a step of a program."""
    if isinstance(error, MemoryError):
        from .shortage import fail

        fail()
    if isinstance(error, OF_A_RUN):
        raise error
    raise ModelError("a step cannot compute what the file asks for; or a short stack")


def on_cores(model, cores):
    """Has a model that was loaded run on them. Raises InputError, UnsupportedError."""
    if cores != 2:
        raise InputError("cores: 1 or 2")
    if model is None:
        raise UnsupportedError("cores=2: only for a program that was made with --cores 2")
    if "_second" not in model.__dict__:
        raise UnsupportedError("cores=2: the program is for one core: make it with --cores 2")
    model.use_cores(2)


def close(model):
    """Closes the file that weights are streamed from; the model cannot run after it."""
    if "_second" in model.__dict__:  # of a program for two cores
        model.use_cores(1)
    model._steps = [(1, _closed)]
    if model._stream:
        model._stream.close()


def _closed(lo, hi):
    """The only step of a model that was closed."""
    raise MpconnxrError("the model was closed: load it again")


def method(model, name):
    """The function as a method of the model. Raises AttributeError for any other name."""
    if name in _ABSENT:
        return None
    if name == "state_nbytes":  # of a program
        return len(model._state)
    if name == "labels":
        from .labels import labels

        return labels(model)
    if name.startswith("__"):  # which Python looks for itself, to go over it or compare it
        raise TypeError("a Model is not a sequence or a number")
    if name in ("kernels", "trace") and type(model).__name__ == "Program":
        raise UnsupportedError(name + ": the model is a program, without kernels")
    if name not in _PLACES:
        raise AttributeError("'Model' object has no attribute '{}'".format(name))
    module = __import__("mpconnxr." + _PLACES[name], None, None, (name,))
    function = getattr(module, name)

    def bound(*args, **keywords):
        return function(model, *args, **keywords)

    return bound
