"""Read a model in place from an RP2040's or RP2350's flash outside of the file system.

MicroPython gives its file system one part of the flash, as rp2.Flash. Such an object is two words,
its start and its length. This module sets them to other values, after a check that they mean what
they did in MicroPython 1.24 to 1.29. See docs/deploy.md, --reserve.

`mpconnxr flash` also runs this text by itself, on a board that has no mpconnxr yet.
"""

BLOCK = 4096  # bytes that are erased at a time
_XIP = 0x10000000  # where the flash begins in the processor's memory


def words(flash):
    """Return the words of an rp2.Flash object: type, offset in the flash, bytes."""
    import uctypes

    return uctypes.struct(id(flash), {"w": (uctypes.ARRAY | 0, uctypes.UINT32 | 3)}).w


def region(offset, nbytes):
    """Return an rp2.Flash of nbytes of the flash, from an offset that is a multiple of 4096.

    Raises UnsupportedError if this firmware's rp2.Flash differs.
    """
    import rp2
    import uctypes

    flash = rp2.Flash(start=0, len=BLOCK)
    w = words(flash)
    if w[2] != BLOCK or uctypes.addressof(flash) != _XIP + w[1]:
        from ..errors import UnsupportedError

        raise UnsupportedError("flash of another kind than this version knows")
    w[1], w[2] = offset, nbytes + -nbytes % BLOCK
    return flash


def view(offset, nbytes):
    """Return a read-only memoryview of the bytes."""
    return memoryview(region(offset, nbytes))[:nbytes]
