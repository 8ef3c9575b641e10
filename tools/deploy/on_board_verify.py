"""Runs on the board, sent over the REPL by device.py after a reset: the golden vectors, and how
much of the heap they touched.

The heap is painted before: its free memory is filled with a pattern and given back. A block of 16
bytes that still has the pattern was never used. The collector runs often meanwhile, so that little
of what was touched is garbage.
"""

import gc
import sys
from array import array

BLOCK = 16
PIECE = 1024
PATTERN = 0xA5
GARBAGE = 2048  # bytes between two collections
MOST = 1 << 20  # bytes of heap to paint: of megabytes of PSRAM a model has the first
HOLES = 200  # pieces that are smaller, at most
LARGE = 65536  # bytes: more than what is left beside pieces


def painted():
    """(addresses / 16, bytes) of pieces of the free heap that are painted now; of MOST bytes.

    Holes get smaller pieces. No address itself is kept, and nothing else is allocated between the
    pieces: so what the collector takes for a pointer holds little back, and the free heap stays
    in one piece.
    """
    import uctypes

    most = min(gc.mem_free(), MOST)
    n = most // PIECE + HOLES
    places, sizes, held = array("L", [0] * n), array("H", [0] * n), [None] * n
    paint, size, total, n = bytes([PATTERN]), PIECE, 0, 0
    while size > BLOCK and total < most and n < len(held):
        try:
            held[n] = paint * size
            places[n] = uctypes.addressof(held[n]) // BLOCK  # allocates too if it is a large one
        except MemoryError:
            held[n] = None
            size //= 2
            continue
        sizes[n] = size
        total += size
        n += 1
    for i in range(n):
        held[i] = None
    return places, sizes


def touched(places, sizes):
    """Bytes of the pieces that lost their paint."""
    import uctypes

    n = 0
    for k in range(len(sizes)):
        paint = uctypes.bytearray_at(places[k] * BLOCK, sizes[k])
        for i in range(0, sizes[k], BLOCK):
            if paint[i] != PATTERN or paint[i + 4] != PATTERN or paint[i + 8] != PATTERN:
                n += BLOCK
    return n


def module(name):
    """Return a module of mpconnxr; releases without rooms have it directly in the package."""
    try:
        return __import__("mpconnxr." + name, None, None, (name,))
    except ImportError:
        name = name[name.rfind(".") + 1 :]
        return __import__("mpconnxr." + name, None, None, (name,))


def load(folder, path):
    """Loads the model in a slot's file with the mpconnxr in a folder."""
    sys.path.insert(0, folder)
    import mpconnxr

    mpconnxr.load(module("io.slots").slot_file(path))


def format_of(folder):
    """Prints the version of model files that the mpconnxr in a folder reads."""
    sys.path.insert(0, folder)
    print(module("build.reader").VERSION)


def verify(folder, path):
    """Prints max_error, largest, bound, ok (0 or 1), seconds of a run and of the first one, and
    bytes of heap that loading and the first run use at most. What verifying takes does not count.

    folder: the one that has mpconnxr; path: of a slot's file.
    """
    sys.path.insert(0, folder)
    gc.collect()
    places, sizes = painted()
    gc.collect()
    painted_nbytes = sum(sizes)
    unpainted = gc.mem_free() - painted_nbytes  # the pieces' own objects, for most of it
    if unpainted > LARGE:
        unpainted = 0
    gc.threshold(GARBAGE)
    file = module("io.slots").slot_file(path)
    model = program(file)
    if model:
        model.run()
        used = touched(places, sizes)
        gc.threshold(-1)  # from here on, runs take as long as in other programs
        r = module("inspect.golden").verify_program(model, file)
    else:
        used = with_kernels(file, places, sizes)
        gc.threshold(-1)
        gc.collect()
        r = module("inspect.golden").verify(file)
    first = getattr(r, "first_seconds", None)
    used += used * unpainted // painted_nbytes  # they lie between the pieces
    bound = getattr(r, "bound", None)  # releases before this one have none
    print(r.max_error, r.largest, bound, int(r.ok), r.seconds, first, used)


class Often:
    """Stands for gc: collects as often as here, whatever threshold loading sets."""

    def threshold(self, *n):
        """Return the threshold, or set the one that is used here."""
        return gc.threshold(*n and (GARBAGE,))

    def __getattr__(self, name):
        return getattr(gc, name)


def with_kernels(file, places, sizes):
    """Bytes that loading and running the model touched."""
    import mpconnxr

    sys.modules["gc"] = Often()
    try:
        mpconnxr.load(file).run()
        return touched(places, sizes)
    finally:
        sys.modules["gc"] = gc


def program(file):
    """The model in a file if it is a program, else None. Releases before this one have none."""
    try:
        from mpconnxr.opening import load
    except ImportError:
        return None
    return load(file, None)
