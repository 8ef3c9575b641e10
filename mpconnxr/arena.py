"""The one block of memory in which a model's tensors live; the converter planned the offsets."""

import gc

from .errors import ArenaError

ALIGNMENT = 8


def make(nbytes, arena=None):
    """A writable buffer of at least nbytes bytes: the caller's if given, else a new one.

    Raises ArenaError with both figures if it is too small, not aligned, or cannot be had.
    """
    if arena is None:
        try:
            return bytearray(nbytes)
        except MemoryError:
            gc.collect()
            raise ArenaError(nbytes, gc.mem_free(), " (in one piece) of heap")
    if len(arena) < nbytes:
        raise ArenaError(nbytes, len(arena), " in the buffer given")
    if isinstance(arena, memoryview):
        _check_alignment(arena, nbytes)
    return arena


def _check_alignment(arena, nbytes):
    """Views into a slice work only where the slice itself starts aligned (a bytearray always is)."""
    from . import tensor

    try:
        tensor.view(arena, 0, "q", len(arena) // ALIGNMENT)
    except ValueError:
        raise ArenaError(nbytes, len(arena), ", but the buffer does not start at a multiple of 8")
