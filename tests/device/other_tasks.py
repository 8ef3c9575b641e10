"""Run model.bin beside another task of asyncio and measure how long that waits for its turn.

Prints whether the outputs are those of run(), the number of turns that the other task had in a
run, the longest time between two turns, and the time of a whole run, in microseconds. The first
run is not measured: in it the model learns how long its steps take.
"""

import asyncio
import time

import mpconnxr

SLICE_MS = 5


class Other:
    turns = longest = 0

    async def task(self):
        last = time.ticks_us()
        while True:
            await asyncio.sleep_ms(0)
            now = time.ticks_us()
            self.turns += 1
            self.longest = max(self.longest, time.ticks_diff(now, last))
            last = now


async def main():
    model = mpconnxr.load("model.bin")
    raw = model.inputs[0].view("B")
    raw[:] = bytes([i % 251 for i in range(len(raw))])
    x = bytes(raw)
    right = bytes(model.run(x)[0].view("B"))
    other = Other()
    task = asyncio.create_task(other.task())
    await model.run_async(x, slice_ms=SLICE_MS)
    other.turns = other.longest = 0
    start = time.ticks_us()
    outputs = await model.run_async(x, slice_ms=SLICE_MS)
    us = time.ticks_diff(time.ticks_us(), start)
    task.cancel()
    print(bytes(outputs[0].view("B")) == right, other.turns, other.longest, us)


asyncio.run(main())
