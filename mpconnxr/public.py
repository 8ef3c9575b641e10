"""The names that mpconnxr has besides load, imported at their first use."""

import sys

from .errors import (  # noqa: F401
    ArenaError,
    InputError,
    ModelError,
    MpconnxrError,
    UnsupportedError,
)

__version__ = "0.1.0"
_NAMES = "ArenaError InputError InferenceSession ModelError MpconnxrError UnsupportedError "
_NAMES += "__version__ top_k"


def resolve(name):
    """Import a public name, or a module of a room, and store it in the package."""
    value = globals()[name] if name in _NAMES.split() else _module(name)
    setattr(sys.modules["mpconnxr"], name, value)
    return value


def _module(name):
    """Return the module of this name from the rooms that programs import from."""
    for room in ("inspect", "io", "signal"):
        try:
            return __import__("mpconnxr." + room + "." + name, None, None, (name,))
        except ImportError:
            pass
    raise ImportError(name)


def InferenceSession(source, verify=True, arena=None):
    """Return a model with onnxruntime's interface: `.run(["logits"], {"image": x})`."""
    from . import load
    from .io.session import Session

    return Session(load(source, verify, arena))


def top_k(output, k=1, labels=None, softmax=False, threshold=None):
    """Return the k largest elements of an output as [(label, value)].

    Args:
        output: a tensor of scores.
        k: number of elements.
        labels: names of the classes, as for classes.top_k.
        softmax: as for classes.top_k.
        threshold: as for classes.top_k.
    """
    from .io import classes

    return classes.top_k(output, k, labels, softmax, threshold)
