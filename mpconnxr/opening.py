"""How a model is loaded; needed for that alone, and let go of after it."""

import gc
import sys

_GARBAGE = const(2048)  # bytes between two collections: a program is for boards of little heap
_NAMES = "opening programs arena"


def load(source, arena, cores=1):
    """The model if it is here as a program, else None. cores: as for mpconnxr.load."""
    usual = gc.threshold()
    gc.threshold(_GARBAGE)
    try:
        model = program(source, arena)
        if cores != 1:
            from .rare import on_cores

            on_cores(model, cores)
        return model
    finally:
        gc.threshold(usual)
        forget(_NAMES)


def kernels(cores=1):
    """What loads models with their kernels. Raises UnsupportedError where that is absent."""
    if cores != 1:
        from .rare import on_cores

        on_cores(None, cores)
    try:
        from .kernel_load import load
    except ImportError:
        from .errors import UnsupportedError

        raise UnsupportedError("the board has just programs, and none for this call of load")
    return load


def program(source, arena):
    """The model of a file that is here as a program: a replay.Program; None if it is not.

    The program is a module that was made for this one file. Its name is "m" and the first 16
    hexadecimal digits of the digest in the file's header. What only loading needs of it is let go
    of.
    """
    try:
        file = opened(source)
        name = _name(file)
    except (AttributeError, TypeError, ValueError, OSError):
        return None  # this is not a file, which others say better
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
    """Opens a path, that of a deployed model too; any other source is returned as it is."""
    if not isinstance(source, str):
        return source
    try:
        return open(source, "rb")
    except OSError:
        from .slots import opened as in_a_slot

        return in_a_slot(source)


def _name(file):
    """Of the module for a file, or for what is in memory of it."""
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
    """Lets go of modules that a model needs no more. Another load imports them again, for which
    they have to be compiled: sources stay.
    """
    if __file__.endswith(".py"):
        return
    for name in names.split():
        name = "mpconnxr." + name
        if sys.modules.pop(name, None):
            package, _, name = name.rpartition(".")
            delattr(sys.modules[package], name)
