"""Runs on the board, sent over the REPL by device.py after a reset: the golden vectors, and how
much of the heap they touched.

The heap is painted before: its free memory is filled with a pattern and given back. A block of 16
bytes that still has the pattern was never used. The collector runs often meanwhile, so that little
of what was touched is garbage.
"""

import gc
import sys

BLOCK = 16
PIECE = 1024
PATTERN = 0xA5
GARBAGE = 2048  # bytes between two collections


def painted(limit):
    """(address / 16, size) of pieces of the free heap, of at most `limit` bytes, now painted.

    They are small, and no address itself is kept, so that what the collector takes for a pointer
    to one holds little back.
    """
    import uctypes

    pieces, held, n = [], [], PIECE
    while n >= 64 and limit > 0:
        try:
            piece = bytes([PATTERN]) * n
            held.append(piece)
            pieces.append((uctypes.addressof(piece) // BLOCK, n))
            limit -= n
        except MemoryError:
            n //= 2
    held.clear()
    return pieces


def touched(pieces):
    """Bytes of the pieces that lost their paint."""
    import uctypes

    n = 0
    for address, size in pieces:
        paint = uctypes.bytearray_at(address * BLOCK, size)
        i = 0
        while i < size - BLOCK:
            if paint[i] != PATTERN or paint[i + 4] != PATTERN or paint[i + 8] != PATTERN:
                n += BLOCK
            i += BLOCK
    return n


def verify(folder, path, limit):
    """Prints max_error, largest, ok (0 or 1), seconds of a run, and bytes of heap touched."""
    if folder not in sys.path:
        sys.path.insert(0, folder)
    gc.collect()
    pieces = painted(limit)
    gc.collect()
    gc.threshold(GARBAGE)
    from mpconnxr import golden

    r = golden.verify(path)
    print(r.max_error, r.largest, int(r.ok), r.seconds, touched(pieces))
