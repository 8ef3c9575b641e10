"""What mpconnxr has besides load: imported when a program asks for it."""

from .errors import (  # noqa: F401
    ArenaError,
    InputError,
    ModelError,
    MpconnxrError,
    UnsupportedError,
)

__version__ = "0.1.0"


def InferenceSession(source, verify=True, arena=None):
    """A model with onnxruntime's interface: `.run(["logits"], {"image": x})`."""
    from . import load
    from .session import Session

    return Session(load(source, verify, arena))


def top_k(output, k=1, labels=None):
    """The k largest elements of an output, as (label, value): see classes.top_k."""
    from . import classes

    return classes.top_k(output, k, labels)
