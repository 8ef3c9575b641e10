"""What can go wrong on the device. Everything this package raises is an MpconnxrError."""


class MpconnxrError(Exception):
    """Base class of all errors of this package."""


class ModelError(MpconnxrError):
    """The model file is damaged, truncated, or breaks a rule of the format."""


# What a run may raise. Made once: a tuple takes memory, which may be what has just ended.
OF_A_RUN = (MpconnxrError, OSError)


def fail(what):
    """Raises the ModelError for a file that breaks a rule of the format."""
    raise ModelError("not a valid model file: " + what)


class UnsupportedError(MpconnxrError):
    """The model is well-formed but needs something that this board or version does not have."""


class InputError(MpconnxrError):
    """A value given to a model does not fit: wrong length, shape, dtype, name or index."""


class ArenaError(MpconnxrError):
    """The arena is too small.

    needed, available: bytes.
    """

    def __init__(self, needed, available, why=""):
        self.needed = needed
        self.available = available
        message = "arena needs {} bytes, {} available".format(needed, available)
        super().__init__(message + why)
