"""What mpconnxr has besides load: imported when a program asks for it."""

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


def found(name):
    """Return one of these names, for the package to keep: only the first mention looks for it.

    Raises ImportError, as an import of a module that is not there does.
    """
    if name not in _NAMES.split():
        raise ImportError(name)
    value = globals()[name]
    setattr(sys.modules["mpconnxr"], name, value)
    return value


def InferenceSession(source, verify=True, arena=None):
    """A model with onnxruntime's interface: `.run(["logits"], {"image": x})`."""
    from . import load
    from .session import Session

    return Session(load(source, verify, arena))


def top_k(output, k=1, labels=None, softmax=False, threshold=None):
    """The k largest elements of an output, as (label, value): see classes.top_k."""
    from . import classes

    return classes.top_k(output, k, labels, softmax, threshold)
