"""Damage a model file in all ways of a mode; load and run the results.

    script MODE STRIDE SOURCE     with model.bin beside it
    STRIDE: change one of so many bits or numbers
    SOURCE: memory, or file to stream weights

With verify=False each load and run must end in an MpconnxrError or complete; nothing outside the
arena may change. Prints its position, which a crash makes the last line; a line BAD for each rule
that is broken; last, `refused R ran M slowest T ms`.
"""

import io
import random
import struct
import sys
import time

import mpconnxr
from mpconnxr.build.reader import _ALWAYS, CHUNK_STREAMED, Reader

GUARD = 64  # bytes before and behind the arena
WORDS = (0, 1, -1, 0x7FFFFFFF, -0x80000000)
HEADER_NBYTES = 64
WIDE = 5  # bytes of each number, in the modes that replace some

good = open("model.bin", "rb").read()
tables_nbytes = struct.unpack_from("<I", good, 20)[0]
n_chunks, names_nbytes = struct.unpack_from("<2I", good, 56)
first = HEADER_NBYTES + 32 * n_chunks + names_nbytes  # of the numbers


def source_of(data):
    """Return a copy of the file in memory, or a file object from which weights are streamed."""
    return bytearray(data) if sys.argv[3] == "memory" else io.BytesIO(data)


try:
    sizes = Reader(good)  # of the arena: weights in memory, and streamed
    arena_nbytes = max(sizes.arena_nbytes, sizes.streamed_nbytes)
except mpconnxr.UnsupportedError:  # float64 where there is none: refused, whatever else changes
    arena_nbytes = 0
memory = bytearray(GUARD + arena_nbytes + GUARD)
arena = memoryview(memory)[GUARD : GUARD + arena_nbytes]
canary = bytes([0xA5 ^ i for i in range(GUARD)])
memory[:GUARD] = memory[-GUARD:] = canary
refused = ran = bad = slowest = 0


def broken(what, where):
    global bad
    bad += 1
    print("BAD", what, where)
    if bad == 20:
        sys.exit(1)


def attempt(data, where):
    """Load and run a file once, digests off, with canaries around all that must not change."""
    global refused, ran, slowest
    source = source_of(data)
    start = time.ticks_ms()
    try:
        model = mpconnxr.load(source, verify=False, arena=arena)
        for t in model.inputs:
            if hasattr(t, "set_shape"):  # of which the caller decides the shape
                t.set_shape(tuple([2 if d < 0 else d for d in t.raw]))
        model.run()
        ran += 1
    except mpconnxr.MpconnxrError:
        refused += 1
    except Exception as e:
        broken(repr(e), where)
    slowest = max(slowest, time.ticks_diff(time.ticks_ms(), start))
    if memory[:GUARD] != canary or memory[-GUARD:] != canary:
        broken("memory beside the arena", where)
        memory[:GUARD] = memory[-GUARD:] = canary
    if isinstance(source, bytearray) and source != data:
        broken("the file's own bytes", where)


def must_refuse(data, where, verify=True):
    global refused
    try:
        mpconnxr.load(source_of(data), verify, arena=arena).run()
    except mpconnxr.ModelError:
        refused += 1
    except Exception as e:
        broken(repr(e), where)
    else:
        broken("was loaded", where)


def flipped(at, mask):
    data = bytearray(good)
    data[at] ^= mask
    return data


def digests(stride):
    """Change each byte that a digest covers."""
    spans = [(0, tables_nbytes, 1)]
    for chunk in Reader(good).chunks:
        if chunk.kind in _ALWAYS + (CHUNK_STREAMED,):  # a model reads no others
            spans.append((chunk.offset, chunk.nbytes, stride))
    for offset, nbytes, step in spans:
        for at in range(offset, offset + nbytes, step):
            must_refuse(flipped(at, 0xFF), at)
            must_refuse(flipped(at, 1 << at % 8), at)


def truncated(stride):
    """Cut the file off at each length within its tables, and at some within its data."""
    for n in list(range(tables_nbytes)) + list(range(tables_nbytes, len(good), stride)):
        must_refuse(good[:n], n)
        must_refuse(good[:n], n, verify=False)
    must_refuse(good + b"\0", len(good) + 1, verify=False)


def bits(stride):
    """Invert each byte of the tables, every stride-th bit, then some bytes of the data."""
    for at in range(tables_nbytes):
        print("byte", at)
        attempt(flipped(at, 0xFF), at)
        for bit in range(8):
            if (at * 8 + bit) % stride == 0:
                attempt(flipped(at, 1 << bit), at)
    for at in range(tables_nbytes, len(good), 29):
        attempt(flipped(at, 0xFF), at)


def decoded(at):
    """Return the number at a byte of the tables."""
    code = 0
    for i in range(WIDE):
        code |= (good[at + i] & 127) << 7 * i
    return -1 - (code >> 1) if code & 1 else code >> 1


def with_number(data, at, value):
    code = value << 1 if value >= 0 else (-1 - value) << 1 | 1
    for i in range(WIDE):
        data[at + i] = code & 127 | (128 if i < WIDE - 1 else 0)
        code >>= 7
    return data


def number_places():
    """Return the offsets of all numbers, which have the largest width."""
    places = list(range(first, tables_nbytes - WIDE + 1, WIDE))
    return [at for at in places if good[at] > 127]  # the others are padding


def words(stride):
    """Replace each number of the tables (or one in STRIDE) by itself."""
    for at in number_places()[::stride]:
        print("number", at)
        value = decoded(at)
        near = (max(value, -0x7FFFFFFF) - 1, min(value, 0x7FFFFFFE) + 1)
        for other in WORDS + near:
            attempt(with_number(bytearray(good), at, other), (at, other))


def contents(stride):
    """Replace each word of the data: kernels may take indices from constants."""
    for at in range(tables_nbytes, len(good) - 3, 4 * stride):
        print("word", at)
        value = struct.unpack_from("<i", good, at)[0]
        near = (max(value, -0x7FFFFFFF) - 1, min(value, 0x7FFFFFFE) + 1)
        for other in WORDS + near:
            data = bytearray(good)
            struct.pack_into("<i", data, at, other)
            attempt(data, (at, other))


def several(n):
    """Make n files with one to three small changes of the graph, equal in every run."""
    random.seed(1)
    places = number_places()
    sizes = [k for k in range(len(places)) if decoded(places[k]) == len(places) - k - 1]
    graph = places[sizes[0] :]
    for i in range(n):
        print("several", i)
        data = bytearray(good)
        for _ in range(random.randint(1, 3)):
            at = random.choice(graph)
            value = decoded(at)
            if not -1000000 < value < 1000000:
                value = 0
            near = (value + 1, value - 1, value * 2, -value)
            with_number(data, at, random.choice((0, 1, 2, -1) + near))
        attempt(data, i)


MODES = (digests, truncated, bits, words, contents, several)
{mode.__name__: mode for mode in MODES}[sys.argv[1]](int(sys.argv[2]))
print("refused", refused, "ran", ran, "slowest", slowest, "ms")
sys.exit(1 if bad else 0)
