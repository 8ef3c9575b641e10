"""How a model is loaded; needed for that alone, and let go of after it."""

import gc
import sys

# While a model is loaded the heap is collected whenever so many bytes were allocated: what the
# model keeps would else come to lie between garbage all over it, and leave no large piece.
_GARBAGE = 10240
# What only loading needs.
LOADING = (
    "opening",
    "loading",
    "reader",
    "records",
    "graph",
    "numbers",
    "borders",
    "node",
    "arena",
    "source",
)


def load(source, verify, arena, prefer, stream, origin):
    """mpconnxr.load. origin: sha256, key and counter, those of them that were given."""
    if origin:
        from . import seal

        return seal.load(source, verify, arena, prefer, stream, **origin)
    return load_all((source,), verify, arena, prefer, stream)[0]


def load_all(sources, verify, arena, prefer, stream):
    """Models of all these sources, in one arena if it is given."""
    usual = gc.threshold()
    gc.threshold(_GARBAGE)
    try:
        return [_load(source, verify, arena, prefer, stream) for source in sources]
    finally:
        gc.threshold(usual)
        _forget()


def _load(source, verify, arena, prefer, stream):
    from .model import Model
    from .reader import Reader

    # a seal.Origin where the program asks for one
    reader = getattr(verify, "reader", Reader)(source, verify, stream=stream)
    if prefer:
        from .kernels import Preferring

        return Model(Preferring(reader, arena, prefer))
    from .loading import Loader

    return Model(Loader(reader, arena))


def _forget():
    """Lets go of modules that the model needs no more: a quarter of its code. Another load
    imports them again, for which they have to be compiled: sources stay.
    """
    if __file__.endswith(".py"):
        return
    package = sys.modules["mpconnxr"]
    for name in LOADING:
        if sys.modules.pop("mpconnxr." + name, None):
            delattr(package, name)
