"""Run on MicroPython: read numbers of runs from stdin, answer with the processor's nanoseconds."""

import sys
import time

import mpconnxr

model = mpconnxr.load("model.bin", verify=False)
inputs = []
for i, t in enumerate(model.inputs):
    with open(f"x{i}", "rb") as f:
        inputs.append((t.view("B"), f.read()))
while True:
    line = sys.stdin.readline()
    if not line:
        break
    n = int(line)
    start = time.clock()
    while n:
        for view, x in inputs:
            view[:] = x  # a run may overwrite its inputs
        model.run()
        n -= 1
    print(int((time.clock() - start) * 1e9))
