"""Find the model of a file. Only mpconnxr.load needs this module; it is dropped after it."""

import gc
import sys

_GARBAGE = const(2048)  # bytes between two collections: a program is for boards of little heap
_NAMES = "opening programs arena"


def load(source, arena, cores=1):
    """Load a model as a program; return None if the board has none: see mpconnxr.load."""
    threshold = gc.threshold()
    gc.threshold(_GARBAGE)
    try:
        model = program(source, arena)
        if cores != 1:
            from .rare import on_cores

            on_cores(model, cores)
        return model
    finally:
        gc.threshold(threshold)
        forget(_NAMES)


def kernels(cores=1):
    """Return the function that loads models with their kernels, build.load.load.

    Raises UnsupportedError on a board that has programs alone.
    """
    if cores != 1:
        from .rare import on_cores

        on_cores(None, cores)
    try:
        __import__("mpconnxr.build.load")
    except ImportError:
        from .errors import UnsupportedError

        raise UnsupportedError("the board has just programs, and none for this call of load")
    return sys.modules["mpconnxr.build.load"].load


def program(source, arena):
    """Return the replay.Program of a file; None if the board has no program of it.

    A program is a module that was made for one file; its name is "m" and the first 16 hexadecimal
    digits of the digest in the file's header. What only loading needs of the module is dropped.
    """
    try:
        file = opened(source)
        name = _name(file)
    except (AttributeError, TypeError, ValueError, OSError):
        return None  # not a file: loading it with kernels says so
    try:
        __import__(name)
    except ImportError:
        if file is not source and hasattr(file, "close"):
            file.close()
        return None
    module = sys.modules.pop(name)
    start, module.load = module.load, None  # loops may hold on to their module
    model = start(file, arena)
    model.__name__ = module.__name__
    if file is not source and hasattr(file, "close") and "_stream" not in model.__dict__:
        file.close()
    return model


def opened(source):
    """Open a path, which may be that of a deployed model; return other sources unchanged."""
    if not isinstance(source, str):
        return source
    try:
        return open(source, "rb")
    except OSError:
        from .io import slots

        return slots.opened(source)


def _name(file):
    """Return the name of the program's module for a file, or for its bytes in memory."""
    if hasattr(file, "readinto"):
        header = bytearray(32)
        file.seek(0)
        file.readinto(header)
    else:
        header = memoryview(file)
    name = "mpconnxr.programs.m"
    for byte in header[24:32]:
        name += "{:02x}".format(byte)
    return name


def forget(names):
    """Drop modules (names below mpconnxr, a room last), so that another load imports them again.

    Modules that were compiled on the board stay: importing them again would compile them again.
    """
    if __file__.endswith(".py"):
        return
    for name in names.split():
        name = "mpconnxr." + name
        if sys.modules.pop(name, None):
            package, _, name = name.rpartition(".")
            delattr(sys.modules[package], name)
