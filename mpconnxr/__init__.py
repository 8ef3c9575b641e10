"""Runs ONNX models, converted by `python -m tools.converter`, on stock MicroPython.

import mpconnxr
model = mpconnxr.load("model.bin")
outputs = model.run(x)
outputs[0].data[0]
"""

import sys

if sys.implementation.name != "micropython":
    from . import cpython  # what MicroPython has and CPython lacks
from .errors import ArenaError, InputError, ModelError, MpconnxrError, UnsupportedError

__version__ = "0.1.0"
# While a model is loaded the heap is collected whenever so many bytes were allocated: what the
# model keeps would else come to lie between garbage all over it, and leave no large piece.
_GARBAGE = 10240
# What only loading needs.
_LOADING = (
    "loading",
    "reader",
    "records",
    "graph",
    "numbers",
    "borders",
    "node",
    "arena",
)


def load(source, verify=True, arena=None, prefer=(), stream=True, **origin):
    """Loads a model and makes it ready to run.

    source: path of a .bin, a file opened with "rb", or its bytes (bytes, bytearray, memoryview of
        bytes): its weights are then used in place if it starts at a multiple of 8, else copied. A
        file on a memory-mapped file system is used in place too.
    verify: check the SHA-256 digests. The structure is always checked in full. Those of weights
        that are streamed are checked in the first run, which may so raise ModelError.
    stream: weights in any other file are read whenever a step needs them, into the arena. False:
        they are held in RAM, which takes more of it and makes runs faster.
    arena: writable buffer of at least the model's arena bytes, 8-byte aligned. Several models may
        share one: a run of one ends the life of another's inputs and outputs.
    prefer: forms of loops to take before the best one, such as ("plain",), where they exist.
    sha256, key, counter: where the file must come from, see seal.load.

    Raises ModelError, UnsupportedError, ArenaError; OSError if a path cannot be opened.
    """
    try:
        if origin:
            from . import seal

            return seal.load(source, verify, arena, prefer, stream, **origin)
        return _load_all((source,), verify, arena, prefer, stream)[0]
    except MemoryError:
        from .shortage import fail

        fail()
    except RuntimeError:
        raise UnsupportedError("the model: the stack is too short")


def _load_all(sources, verify, arena, prefer, stream):
    import gc

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
    package = sys.modules[__name__]
    for name in _LOADING:
        if sys.modules.pop(__name__ + "." + name, None):
            delattr(package, name)


def InferenceSession(source, verify=True, arena=None):
    """A model with onnxruntime's interface: `.run(["logits"], {"image": x})`."""
    from .session import Session

    return Session(load(source, verify, arena))


def top_k(output, k=1, labels=None):
    """The k largest elements of an output, as (label, value): see classes.top_k."""
    from . import classes

    return classes.top_k(output, k, labels)
