"""The one buffer in which a model's tensors lie, at offsets that the converter planned."""

import gc

from .errors import ArenaError, InputError
from .tensor import is_aligned


def make(nbytes, arena=None, source=None):
    """Return a writable buffer of at least nbytes bytes: the caller's arena, or else a new one.

    A run must not write to `source`, the model's file in memory. Raises ArenaError if the buffer
    is too small, misaligned or read-only, or without memory for one; InputError for another type.
    """
    if arena is None:
        try:
            return bytearray(nbytes)
        except MemoryError:
            gc.collect()
            raise ArenaError(nbytes, gc.mem_free(), " (in one piece) of heap")
    if not isinstance(arena, (bytearray, memoryview)) or len(bytes(arena[:1])) > 1:
        raise InputError("arena: a bytearray or a memoryview of one is needed")
    if len(arena) < nbytes:
        raise ArenaError(nbytes, len(arena), " in the buffer given")
    if not is_aligned(arena):
        raise ArenaError(nbytes, len(arena), ", but the buffer does not start at a multiple of 8")
    if source is not None and _overlap(arena, nbytes, source):
        raise ArenaError(nbytes, len(arena), ", but the model's file lies in the buffer given")
    if nbytes:
        _check_writable(arena, nbytes)
    return arena


def _overlap(arena, nbytes, source):
    try:
        from uctypes import addressof
    except ImportError:
        return False
    if not nbytes or not len(source):
        return False
    gap = addressof(source) - addressof(arena)
    return -len(source) < gap < nbytes


def _check_writable(arena, nbytes):
    """Raise ArenaError for a read-only buffer: machine code would write to it nevertheless."""
    try:
        kept = arena[0]
        arena[0] = 255
        is_signed = arena[0] != 255
        arena[0] = kept
    except TypeError:
        raise ArenaError(nbytes, len(arena), ", but the buffer is read-only")
    if is_signed:
        raise InputError("arena: a bytearray or a memoryview of one is needed")
