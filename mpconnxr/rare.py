"""What a model can do besides running, imported when a program first asks for it.

A board that only calls run() holds none of this in its heap. Each name is that of a function
whose first argument is the model, in the module named here.
"""

from .errors import MpconnxrError

_PLACES = {
    "kernels": "kernels",
    "profile": "profile",
    "benchmark": "timing",
    "run_until": "timing",
    "run_async": "slices",
    "submit": "queue",
    "poll": "queue",
}


def closed(lo, hi):
    """The only step of a model that was closed."""
    raise MpconnxrError("the model was closed: load it again")


def method(model, name):
    """The function as a method of the model. Raises AttributeError for any other name."""
    if name.startswith("__"):  # which Python looks for itself, to go over it or compare it
        raise TypeError("a Model is no sequence or number")
    if name not in _PLACES:
        raise AttributeError("'Model' object has no attribute '{}'".format(name))
    module = __import__("mpconnxr." + _PLACES[name], None, None, (name,))
    function = getattr(module, name)

    def bound(*args, **keywords):
        return function(model, *args, **keywords)

    return bound
