"""Decode the files of images.bin, each behind 2 bytes of its length, with model.bin.

Each run must complete or end in an InputError, nothing beside the arena may change, and good.png
must be decoded as before. Prints a line BAD for each rule that is broken; last, `ran N refused N
slowest T ms`.
"""

import struct
import sys
import time

import mpconnxr
from mpconnxr.build.reader import Reader

GUARD = 64  # bytes before and behind the arena

data = open("model.bin", "rb").read()
nbytes = Reader(data).arena_nbytes
memory = bytearray(GUARD + nbytes + GUARD)
canary = bytes([0xA5 ^ i for i in range(GUARD)])
memory[:GUARD] = memory[-GUARD:] = canary
model = mpconnxr.load(data, arena=memoryview(memory)[GUARD : GUARD + nbytes])
good = open("good.png", "rb").read()
bad = ran = refused = slowest = 0


def decoded(file):
    x = model.inputs[0]
    x.set_shape((len(file),))
    x.view("B")[:] = file
    [out] = model.run()
    return bytes(out.view("B"))


def attempt(file):
    global ran, refused
    try:
        decoded(file)
        ran += 1
    except mpconnxr.InputError:
        refused += 1


expected = decoded(good)
with open("images.bin", "rb") as images:
    head = images.read(2)
    while head:
        file = images.read(struct.unpack("<H", head)[0])
        start = time.ticks_ms()
        try:
            attempt(file)
        except Exception as e:
            print("BAD", repr(e), file)
            bad += 1
        slowest = max(slowest, time.ticks_diff(time.ticks_ms(), start))
        if memory[:GUARD] != canary or memory[-GUARD:] != canary:
            print("BAD memory beside the arena", file)
            bad += 1
            memory[:GUARD] = memory[-GUARD:] = canary
        if (ran + refused) % 16 == 0 and decoded(good) != expected:
            print("BAD pixels of another file", file)
            bad += 1
        head = images.read(2)
print("ran", ran, "refused", refused, "slowest", slowest, "ms")
sys.exit(1 if bad else 0)
