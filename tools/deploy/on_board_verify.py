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
MOST = 1 << 20  # bytes of heap to paint: of megabytes of PSRAM a model has the first
LARGE = 65536  # bytes: more than holes between pieces


def painted():
    """Addresses / 16 of pieces of the free heap that are painted now; of MOST bytes at most.

    The pieces are small, no address itself is kept, and nothing else is allocated between them: so
    what the collector takes for a pointer holds little back, and the free heap stays in one piece.
    """
    import uctypes

    most = min(gc.mem_free(), MOST) // PIECE
    places, held = [0] * most, [None] * most
    n = 0
    try:
        while n < most:
            held[n] = bytes([PATTERN]) * PIECE
            places[n] = uctypes.addressof(held[n]) // BLOCK
            n += 1
    except MemoryError:
        pass
    for i in range(most):
        held[i] = None
    return places[:n]


def touched(places):
    """Bytes of the pieces that lost their paint."""
    import uctypes

    n = 0
    for place in places:
        paint = uctypes.bytearray_at(place * BLOCK, PIECE)
        i = 0
        while i < PIECE:
            if paint[i] != PATTERN or paint[i + 4] != PATTERN or paint[i + 8] != PATTERN:
                n += BLOCK
            i += BLOCK
    return n


def load(folder, path):
    """Loads the model in a slot's file with the mpconnxr in a folder."""
    sys.path.insert(0, folder)
    import mpconnxr
    from mpconnxr import slots

    mpconnxr.load(slots.slot_file(path))


def format_of(folder):
    """Prints the version of model files that the mpconnxr in a folder reads."""
    sys.path.insert(0, folder)
    from mpconnxr import reader

    print(reader.VERSION)


def verify(folder, path):
    """Prints max_error, largest, ok (0 or 1), seconds of a run, and bytes of heap used at most.

    folder: the one that has mpconnxr; path: of a slot's file.
    """
    sys.path.insert(0, folder)
    gc.collect()
    places = painted()
    gc.collect()
    unpainted = gc.mem_free() - len(places) * PIECE  # holes: taken as used
    if unpainted > LARGE:
        unpainted = 0
    gc.threshold(GARBAGE)
    from mpconnxr import golden, slots

    r = golden.verify(slots.slot_file(path))
    print(r.max_error, r.largest, int(r.ok), r.seconds, unpainted + touched(places))
