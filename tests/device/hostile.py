"""Damages a model file in every way a mode knows, and loads and runs what comes of it.

    script MODE [STRIDE]      with model.bin beside it; STRIDE: every how manyth bit or word

With verify=False each load and run must end in an MpconnxrError or complete; nothing outside the
arena may change. Prints where it is, so that a crash says where it was; a line BAD for each rule
that is broken; last, `refused R ran M slowest T ms`.
"""

import random
import struct
import sys
import time

import mpconnxr

GUARD = 64  # bytes before and behind the arena
WORDS = (0, 1, -1, 0x7FFFFFFF, -0x80000000)
HEADER_NBYTES = 96

good = open("model.bin", "rb").read()
tables_nbytes = struct.unpack_from("<I", good, 20)[0]
arena_nbytes = struct.unpack_from("<I", good, 56)[0]
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
    """One load and run without digests, with canaries around all that must not change."""
    global refused, ran, slowest
    source = bytearray(data)
    start = time.ticks_ms()
    try:
        mpconnxr.load(source, verify=False, arena=arena).run()
        ran += 1
    except mpconnxr.MpconnxrError:
        refused += 1
    except Exception as e:
        broken(repr(e), where)
    slowest = max(slowest, time.ticks_diff(time.ticks_ms(), start))
    if memory[:GUARD] != canary or memory[-GUARD:] != canary:
        broken("memory beside the arena", where)
        memory[:GUARD] = memory[-GUARD:] = canary
    if source != data:
        broken("the file's own bytes", where)


def must_refuse(data, where, verify=True):
    global refused
    try:
        mpconnxr.load(data, verify, arena=arena)
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
    """Each byte that a digest covers."""
    n_chunks = struct.unpack_from("<I", good, 60)[0]
    spans = [(0, tables_nbytes, 1)]
    for i in range(n_chunks):
        kind, offset, nbytes = struct.unpack_from("<3I", good, HEADER_NBYTES + 44 * i)
        if kind < 2:  # data and names; a model does not read the others
            spans.append((offset, nbytes, stride))
    for offset, nbytes, step in spans:
        for at in range(offset, offset + nbytes, step):
            must_refuse(flipped(at, 0xFF), at)
            must_refuse(flipped(at, 1 << at % 8), at)


def truncated(stride):
    """Each length that the tables can have, some of those of the data."""
    for n in list(range(tables_nbytes)) + list(range(tables_nbytes, len(good), stride)):
        must_refuse(good[:n], n)
        must_refuse(good[:n], n, verify=False)
    must_refuse(good + b"\0", len(good) + 1, verify=False)


def bits(stride):
    """Each byte inverted, each bit (or one in STRIDE); then some bytes of the data."""
    for at in range(tables_nbytes):
        print("byte", at)
        attempt(flipped(at, 0xFF), at)
        for bit in range(8):
            if (at * 8 + bit) % stride == 0:
                attempt(flipped(at, 1 << bit), at)
    for at in range(tables_nbytes, len(good), 29):
        attempt(flipped(at, 0xFF), at)


def with_word(data, at, value):
    struct.pack_into("<i", data, at, value)
    return data


def words(stride):
    """Each word (or one in STRIDE) behind the header's lengths replaced, by itself."""
    _words(16, tables_nbytes, stride)


def contents(stride):
    """The same for the words of the data: kernels may take indices from constants."""
    _words(tables_nbytes, len(good) - 3, stride)


def _words(first, end, stride):
    for at in range(first, end, 4 * stride):
        print("word", at)
        value = struct.unpack_from("<i", good, at)[0]
        near = (max(value, -0x7FFFFFFF) - 1, min(value, 0x7FFFFFFE) + 1)
        for other in WORDS + near:
            attempt(with_word(bytearray(good), at, other), (at, other))


def several(n):
    """N files with one to three small changes each in the graph; the same in every run."""
    random.seed(1)
    first = tables_nbytes // 4 - struct.unpack_from("<I", good, 84)[0] - 3
    for i in range(n):
        print("several", i)
        data = bytearray(good)
        for _ in range(random.randint(1, 3)):
            at = 4 * random.randint(first, tables_nbytes // 4 - 1)
            value = struct.unpack_from("<i", good, at)[0]
            if not -1000000 < value < 1000000:
                value = 0
            near = (value + 1, value - 1, value * 2, -value)
            with_word(data, at, random.choice((0, 1, 2, -1) + near))
        attempt(data, i)


MODES = (digests, truncated, bits, words, contents, several)
{mode.__name__: mode for mode in MODES}[sys.argv[1]](int(sys.argv[2]))
print("refused", refused, "ran", ran, "slowest", slowest, "ms")
sys.exit(1 if bad else 0)
