"""Print the heap that loading and running model.bin takes beyond the code.

That is the arena, the peak without it, and the bytes that stay without it; also the bytes of code
that stay imported from a file system. All is done twice: streamed from a file of the board's own,
and read in place. The free heap is painted before; a block that lost its paint was in use at some
time, so garbage counts as well.
"""

import gc
import os
import sys
from array import array

import uctypes

BLOCK = 16
PIECE = 1024
PAINT = 0xA5


def painted(addresses, sizes, held):
    """Paint the free heap: fill it with pieces, note their addresses and sizes, and free them."""
    n, k = PIECE, 0
    while n >= 32:
        try:
            held[k] = bytes([PAINT]) * n
        except MemoryError:
            n //= 2
            continue
        addresses[k], sizes[k] = uctypes.addressof(held[k]) // BLOCK, n
        k += 1
    for i in range(k):
        held[i] = None


@micropython.viper
def touched(address: int, n: int) -> int:
    """Return the number of blocks in n bytes from an address whose paint has changed."""
    p = ptr32(address)
    result = 0
    words = n >> 2
    i = 0
    while i < words:
        if (p[i] ^ p[i + 1]) | (p[i] ^ p[i + 2]) | (p[i] ^ p[i + 3]) | ((p[i] & 255) ^ 0xA5):
            result += 1
        i += 4
    return result


def used(source):
    """Load and run a model; return its arena's bytes, and the bytes of heap that stay in use."""
    gc.collect()
    before = gc.mem_alloc()
    import mpconnxr

    model = mpconnxr.load(source)
    model.run()
    gc.collect()
    return model.arena_nbytes, gc.mem_alloc() - before


def measure(source):
    addresses, sizes, held = array("I", [0] * 400), array("H", [0] * 400), [None] * 400
    gc.collect()
    painted(addresses, sizes, held)
    gc.collect()
    arena, kept = used(source)
    blocks = 0
    for i in range(len(sizes)):
        blocks += touched(addresses[i] * BLOCK, sizes[i])
    print(arena, blocks * BLOCK - arena, kept - arena)


def copy(name):
    """Copy a file or folder from the script's folder to the board's own file system."""
    if os.stat(name)[0] & 0x4000:
        os.mkdir("/" + name)
        for inner in os.listdir(name):
            copy(name + "/" + inner)
        return
    with open(name, "rb") as f, open("/" + name, "wb") as g:
        g.write(f.read())


def code():
    """Return the bytes of heap that modules take that stay in memory once the model is loaded."""
    gc.collect()
    before = gc.mem_alloc()
    used("/model.bin")
    gc.collect()
    return gc.mem_alloc() - before


copy("mpconnxr")
copy("model.bin")
sys.path.insert(0, "/")
print(code())
package = __import__("mpconnxr.build.load")
# from here on all code stays, and so does not count
package.build.load.LOADING = package.opening._NAMES = ""
package.build.load.forget = lambda names: None
used("/model.bin")
measure("/model.bin")
measure("model.bin")
