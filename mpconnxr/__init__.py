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
        if not (prefer or origin):
            from . import programs

            model = programs.load(source, arena)
            if model:
                return model
        from . import opening

        return opening.load(source, verify, arena, prefer, stream, origin)
    except MemoryError:
        from .shortage import fail

        fail()
    except RuntimeError:
        raise UnsupportedError("the model: the stack is too short")


def InferenceSession(source, verify=True, arena=None):
    """A model with onnxruntime's interface: `.run(["logits"], {"image": x})`."""
    from .session import Session

    return Session(load(source, verify, arena))


def top_k(output, k=1, labels=None):
    """The k largest elements of an output, as (label, value): see classes.top_k."""
    from . import classes

    return classes.top_k(output, k, labels)
