"""Errors of the device. Everything that this package raises is an MpconnxrError."""

from .turn import MpconnxrError, UnsupportedError  # noqa: F401


class ModelError(MpconnxrError):
    """The model file is damaged, truncated, or breaks a rule of the format."""


def fail(what):
    """Raise the ModelError for a file that breaks a rule of the format."""
    raise ModelError("not a valid model file: " + what)


def check_digest(digest, contents):
    """Raise ModelError unless the digest is the SHA-256 of the contents."""
    import hashlib

    if hashlib.sha256(contents).digest() != digest:
        fail("damaged (digest of the data)")


def fault():
    """Raise the ModelError for an exception in a step: a kernel's check was not tight enough."""
    raise ModelError("a step cannot compute what the file asks for; or a short stack")


class InputError(MpconnxrError):
    """A value given to a model has the wrong length, shape, dtype, name or index."""


class ArenaError(MpconnxrError):
    """The arena is too small.

    Attributes:
        needed: bytes.
        available: bytes.
    """

    def __init__(self, needed, available, why=""):
        self.needed = needed
        self.available = available
        message = "arena needs {} bytes, {} available".format(needed, available)
        super().__init__(message + why)
