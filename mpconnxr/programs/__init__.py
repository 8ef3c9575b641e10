"""Models as programs: modules that are made each for one model file and one board.

A module's name is "m" and the first 16 hexadecimal digits of the digest in its file's header.
"""

import gc
import sys

_GARBAGE = 2048  # bytes between two collections while a model is loaded: boards have little heap


def load(source, arena):
    """The model of a file that is here as a program: a replay.Program; None if it is not.

    source, arena: as for mpconnxr.load. What only loading needs is let go of.
    """
    name = _name(source)
    if not name:
        return None
    try:
        __import__(name)
    except ImportError:
        return None
    usual = gc.threshold()
    gc.threshold(_GARBAGE)
    try:
        module = sys.modules.pop(name)
        return module.load(source, arena, module)
    finally:
        gc.threshold(usual)


def _name(source):
    """Of the module for a file; None where this is no file, which others say better."""
    try:
        name = __name__ + ".m"
        for byte in _digest(source):
            name += "{:02x}".format(byte)
        return name
    except (TypeError, ValueError, OSError):
        return None


def _digest(source):
    """The first bytes of that of a file's tables."""
    file = source
    if isinstance(source, str):
        try:
            file = open(source, "rb")
        except OSError:
            from ..slots import opened

            file = opened(source)
    if not hasattr(file, "readinto"):
        return bytes(memoryview(file)[24:32])
    file.seek(0)
    head = file.read(32)
    if file is not source:
        file.close()
    return head[24:]
