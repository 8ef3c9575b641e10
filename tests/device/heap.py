"""Prints what loading and running model.bin takes of the heap beyond the code: arena, peak without
it, what stays without it.

Twice: streamed from a file of the board's own, and read in place. The free heap is painted
before; a block that lost its paint was in use at some time, so that garbage counts as well.
"""

import gc
from array import array

import uctypes

import mpconnxr

BLOCK = 16
PIECE = 1024
PAINT = 0xA5


def painted(addresses, sizes, held):
    """Fills the free heap with pieces, notes where, and gives them back."""
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
    """Blocks of the n bytes there that are not as they were painted."""
    p = ptr32(address)
    found = 0
    words = n >> 2
    i = 0
    while i < words:
        if (p[i] ^ p[i + 1]) | (p[i] ^ p[i + 2]) | (p[i] ^ p[i + 3]) | ((p[i] & 255) ^ 0xA5):
            found += 1
        i += 4
    return found


def used(source):
    """Loads and runs the model: bytes of heap that this touched, and what is left of them."""
    gc.collect()
    before = gc.mem_alloc()
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


with open("model.bin", "rb") as f, open("/model.bin", "wb") as g:
    g.write(f.read())
used("/model.bin")  # imports what it needs
measure("/model.bin")
measure("model.bin")
