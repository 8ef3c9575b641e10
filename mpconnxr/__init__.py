"""Run ONNX models, converted by `mpconnxr convert`, on stock MicroPython.

    import mpconnxr
    model = mpconnxr.load("model.bin")
    outputs = model.run(x)
    outputs[0].data[0]

Everything else that the package offers, such as its errors, is imported at its first use: see
public.
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

    Args:
        source: path of a .bin, a file opened with "rb", or the file's bytes (bytes, bytearray,
            memoryview of bytes). Weights are used in place where the file is in memory: bytes that
            start at a multiple of 8, or a memory-mapped file system. Other bytes are copied.
        verify: check the SHA-256 digests. The structure is always checked in full. Digests of
            streamed weights are checked in the first run, which may then raise ModelError.
        arena: writable buffer of at least the model's arena bytes, 8-byte aligned. Several models
            may share one: a run of one ends the life of another's inputs and outputs.
        prefer: forms of loops to take before the best one, such as ("plain",), where they exist.
        stream: read weights that are not in memory whenever a step needs them, into the arena.
            False holds them in RAM, which takes more of it and makes runs faster.
        cores: 2 runs the model on both cores of an RP2040 or RP2350, if it is a program for two
            cores. The second core is busy until close(). Outputs are the same, byte for byte.
        sha256: digest that the file must have, as the converter printed it: 64 hexadecimal digits
            or 32 bytes.
        key: 16 bytes or more; the file must be sealed with this key (`--hmac`).
        counter: path of a file that counts the sealed releases that were loaded. A release older
            than the last one is refused. Needs key.

    Raises:
        ModelError, UnsupportedError, ArenaError: the model cannot be used.
        OSError: a path cannot be opened, or the counter cannot be written.
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
        if name[0] >= "a":  # unlike ModelError and __version__
            try:
                __import__(module)  # `from . import name` comes here, too
                return sys.modules[module]
            except ImportError:
                pass
        return __import__("mpconnxr.public").public.resolve(name)
    except ImportError:
        raise AttributeError("no " + module)
    except MemoryError:
        raise fresh(SHORT)


if sys.implementation.name != "micropython":
    load, __getattr__ = cpython.on_computers(load, __getattr__)
