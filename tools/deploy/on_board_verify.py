"""Code that runs on the board, sent by device.py after a reset: verify a model, and measure heap.

The heap is painted first: its free memory is filled with a pattern and freed again. A block of 16
bytes that still has the pattern was never used. The collector runs often in between, so that
little of what was touched is garbage.
"""

import gc
import sys
from array import array

BLOCK = 16
PIECE = 1024
PATTERN = 0xA5
GARBAGE = 2048  # bytes between two collections
MAX_NBYTES = 1 << 20  # bytes of heap to paint: a model gets the first part of PSRAM
HOLES = 200  # largest number of smaller pieces
LARGE = 65536  # bytes: more than can remain between pieces


def painted():
    """Paint blocks of the free heap, MAX_NBYTES bytes in total.

    Holes get smaller blocks. Addresses are stored divided by 16, and nothing else is allocated
    between the blocks: so the collector takes few numbers for pointers, and the free heap stays
    contiguous.

    Returns:
        Arrays of addresses / 16, and of bytes.
    """
    import uctypes

    most = min(gc.mem_free(), MAX_NBYTES)
    n = most // PIECE + HOLES
    places, sizes, held = array("L", [0] * n), array("H", [0] * n), [None] * n
    paint, size, total, n = bytes([PATTERN]), PIECE, 0, 0
    while size > BLOCK and total < most and n < len(held):
        try:
            held[n] = paint * size
            places[n] = uctypes.addressof(held[n]) // BLOCK  # allocates if it is large
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
    """Return the bytes of the painted blocks that lost their pattern."""
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
    """Load the model in a slot's file, with the mpconnxr in a folder."""
    sys.path.insert(0, folder)
    import mpconnxr

    mpconnxr.load(module("io.slots").slot_file(path))


def format_of(folder):
    """Print the version of model files that the mpconnxr in a folder reads."""
    sys.path.insert(0, folder)
    print(module("build.reader").VERSION)


def verify(folder, path):
    """Verify the model in a slot's file, and print the results.

    Prints max_error, largest, bound, ok (0 or 1), seconds of a run and of the first run, and the
    peak bytes of heap of loading and the first run, without the heap of the verification.

    Args:
        folder: the folder that has mpconnxr.
        path: the slot's file.
    """
    sys.path.insert(0, folder)
    gc.collect()
    places, sizes = painted()
    gc.collect()
    painted_nbytes = sum(sizes)
    unpainted = gc.mem_free() - painted_nbytes  # mostly the pieces' own objects
    if unpainted > LARGE:
        unpainted = 0
    gc.threshold(GARBAGE)
    file = module("io.slots").slot_file(path)
    model = program(file)
    if model:
        model.run()
        used = touched(places, sizes)
        gc.threshold(-1)  # so that times are those of other programs
        r = module("inspect.golden").verify_program(model, file)
    else:
        used = with_kernels(file, places, sizes)
        gc.threshold(-1)
        gc.collect()
        r = module("inspect.golden").verify(file)
    first = getattr(r, "first_seconds", None)
    used += used * unpainted // painted_nbytes  # unpainted bytes lie between the pieces
    bound = getattr(r, "bound", None)  # absent in earlier releases
    print(r.max_error, r.largest, bound, int(r.ok), r.seconds, first, used)


class Often:
    """Replacement for the module gc that collects often, whatever threshold loading sets."""

    def threshold(self, *n):
        """Return the threshold, or set the one that is used here."""
        return gc.threshold(*n and (GARBAGE,))

    def __getattr__(self, name):
        return getattr(gc, name)


def with_kernels(file, places, sizes):
    """Load and run a model; return the bytes of heap that this touched."""
    import mpconnxr

    sys.modules["gc"] = Often()
    try:
        mpconnxr.load(file).run()
        return touched(places, sizes)
    finally:
        sys.modules["gc"] = gc


def program(file):
    """Return the model in a file if it is a program, else None.

    Earlier releases have no programs.
    """
    try:
        from mpconnxr.opening import load
    except ImportError:
        return None
    return load(file, None)
