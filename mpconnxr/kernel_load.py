"""How a model is loaded with its kernels; needed for that alone, and let go of after it."""

import gc

from .opening import forget

# While a model is loaded the heap is collected whenever so many bytes were allocated: what the
# model keeps would else come to lie between garbage all over it, and leave no large piece. In a
# large heap, which takes longer to collect, it is a part of what is free.
_GARBAGE = const(10240)
_PART = const(5)  # 1 / 2**5
# What only loading needs, a quarter of the code.
LOADING = (
    "opening kernel_load loading reader records graph numbers borders node arena source written"
)


def load(source, verify, arena, prefer, stream, origin):
    """mpconnxr.load. origin: sha256, key and counter, if any was given, else None."""
    if origin:
        from . import seal

        return seal.load(source, verify, arena, prefer, stream, *origin)
    usual = gc.threshold()
    gc.threshold(max(_GARBAGE, gc.mem_free() >> _PART))
    try:  # not by way of load_all: kernels may need the rest of the stack
        return _load(source, bool(verify), arena, prefer, stream)
    finally:
        gc.threshold(usual)
        forget(LOADING)


def load_all(sources, verify, arena, prefer, stream):
    """Models of all these sources, in one arena if it is given."""
    usual = gc.threshold()
    gc.threshold(max(_GARBAGE, gc.mem_free() >> _PART))
    try:
        return [_load(source, verify, arena, prefer, stream) for source in sources]
    finally:
        gc.threshold(usual)
        forget(LOADING)


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
