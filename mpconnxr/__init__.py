"""Runs ONNX models, converted by `python -m tools.converter`, on stock MicroPython.

import mpconnxr
model = mpconnxr.load("model.bin")
outputs = model.run(x)
outputs[0].data[0]

What else is here, errors among it, is imported when it is first asked for: see public.
"""

import sys

if sys.implementation.name != "micropython":
    from . import cpython  # what MicroPython has and CPython lacks

from .turn import SHORT, fresh


def load(
    source,
    verify=True,
    arena=None,
    prefer=(),
    stream=True,
    cores=1,
    *,
    sha256=None,
    key=None,
    counter=None,
):
    """Load a model and make it ready to run.

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
    cores: 2 runs the model on both cores of an RP2040 or RP2350, if it is a program for two cores.
        The second one is busy until close(). Outputs are the same, byte for byte.
    sha256, key, counter: where the file must come from, see seal.load.

    Raises ModelError, UnsupportedError, ArenaError; OSError if a path cannot be opened.
    """
    try:
        from . import opening

        origin = None if sha256 is key is counter is None else (sha256, key, counter)
        model = None if prefer or origin else opening.load(source, arena, cores)
        return model or opening.kernels(cores)(source, verify, arena, prefer, stream, origin)
    except MemoryError:
        raise fresh(SHORT)
    except RuntimeError:
        from .errors import UnsupportedError  # which a model with kernels has in memory

        raise UnsupportedError("the model: the stack is too short")


def __getattr__(name):
    module = "mpconnxr." + name
    try:
        if name == "top_k" or name[0] < "a":  # as ModelError, or __version__
            return __import__("mpconnxr.public").public.found(name)
        __import__(module)  # `from . import name` comes here, too
        return sys.modules[module]
    except ImportError:
        raise AttributeError("no " + module)
    except MemoryError:
        raise fresh(SHORT)
