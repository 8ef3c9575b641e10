"""Run model.bin on x.bin many times without a heap; print the bytes allocated and the bytes kept.

heap_lock() makes each allocation an error except those of frames: a function with more than 11
words of locals and operands has its frame on the heap (on the stack only if the heap is full) and
frees it when it returns. mem_total() counts such frames. With the argument `sliced` the steps are
called element by element, not whole as run() does it.
"""

import sys
from binascii import hexlify

from micropython import heap_lock, heap_unlock, mem_current, mem_total

import mpconnxr

model = mpconnxr.load("model.bin")
x = open("x.bin", "rb").read()


def fill():
    target, i = model.inputs[0].view("B"), 0
    while i < len(x):
        target[i] = x[i]
        i += 1


def sliced():
    for n, step in model._steps:
        i = 0
        while i < n:
            step(i, i + 1)
            i += 1


def kept_by_a_run():  # mem_current() counts right only while the heap is not locked
    before = mem_current()
    run()
    return mem_current() - before


run = sliced if sys.argv[1:] == ["sliced"] else model.run
fill()
run()
before = mem_total()
heap_lock()
n = 50
while n:
    run()
    n -= 1
heap_unlock()
allocated = mem_total() - before
kept = kept_by_a_run()
fill()
run()
print(allocated, kept, hexlify(model.outputs[0].view("B")).decode())
