"""Runs in parts: run_async, submit and poll follow docs/api.md."""

import numpy as np
import pytest

from tests.host.device import small
from tools.converter.convert import convert
from tools.micropython import UNIX_TARGETS
from tools.micropython.source import source_tree

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
DIGITS = small.ROOT / "examples" / "digits" / "digits.onnx"
START = """
import asyncio, time
import mpconnxr
m = mpconnxr.load("m.bin")
x = bytes([i % 60 for i in range(256)]) * (m.inputs[0].nbytes // 256)
expected = bytes(m.run(x)[0].view("B"))
"""


# A clock that each item of a step sets forward by 300 us and each call of it by 200 us: how quick
# this computer is, and how busy, does not count.
CLOCK = """
import mpconnxr.slices

class Clock:
    now = 0
    def ticks_us():
        return Clock.now
    def ticks_diff(a, b):
        return a - b

def costly(step):
    def costs(lo, hi):
        Clock.now += 200 + 300 * (hi - lo)
        step(lo, hi)
    return costs

mpconnxr.slices.clock = lambda: Clock
m._runs = m._steps = [(n, costly(step)) for n, step in m._steps]
"""


@pytest.fixture(scope="module")
def digits():
    return convert(DIGITS).data


def lines(target, script, data, args=()):
    """Return what a script printed; MicroPython's asyncio lies beside it."""
    files = {"m.bin": data, "asyncio": source_tree() / "extmod" / "asyncio"}
    return small.run(target, START + script, files, args).splitlines()


def convolution(channels, side):
    """Return a convolution with `side` rows and twice the channels."""
    nodes = [("Conv", "x w", "c", {"pads": [1, 1, 1, 1]}), ("Relu", "c", "y", {})]
    x = small.value("x", (1, channels, side, side))
    y = small.value("y", (1, 2 * channels, side, side))
    return small.model(nodes, [x], [y], w=small.floats(2 * channels, channels, 3, 3))


@pytest.fixture(scope="module")
def slow():
    """Return a layer that takes some milliseconds, by CLOCK."""
    return convolution(8, 48)


@every_target
def test_other_tasks_run_during_a_run(target, slow):
    """Measures the longest time for which another task does not get the processor."""
    script = """
m.run(x)
whole = Clock.now
gaps = []

async def watch():
    last = Clock.now
    while True:
        await asyncio.sleep(0)
        gaps.append(Clock.now - last)
        last = Clock.now

async def main():
    task = asyncio.create_task(watch())
    for _ in range(2):
        outputs = await m.run_async(x, slice_ms=4)
        assert outputs is m.outputs and bytes(outputs[0].view("B")) == expected
    task.cancel()
    print(max(gaps), whole)

asyncio.run(main())
"""
    longest, whole = map(int, lines(target, CLOCK + script, convert(slow).data)[0].split())
    assert whole > 3 * 4000
    assert 2000 <= longest <= 4000


@every_target
def test_a_second_run_is_refused(target, slow):
    script = """
async def main():
    first = asyncio.create_task(m.run_async(x, slice_ms=1))
    await asyncio.sleep(0)
    try:
        await m.run_async(x)
    except mpconnxr.MpconnxrError as e:
        print(e)
    await first
    cancelled = asyncio.create_task(m.run_async(x, slice_ms=1))
    await asyncio.sleep(0)
    cancelled.cancel()
    try:
        await cancelled
    except asyncio.CancelledError:
        print("cancelled")
    print(bytes((await m.run_async(x))[0].view("B")) == expected)
    try:
        await m.run_async(x, slice_ms=0)
    except mpconnxr.InputError as e:
        print(e)
    try:
        await m.run_async([1])
    except mpconnxr.InputError:
        print("refused")
asyncio.run(main())
"""
    assert lines(target, CLOCK + script, convert(slow).data) == [
        "the model is still computing, or another one in its arena",
        "cancelled",
        "True",
        "slice_ms: an integer from 1 to 262144 is needed",
        "refused",
    ]


@every_target
def test_runs_are_submitted_without_asyncio(target, digits):
    script = """
def done(id, result):
    if isinstance(result, mpconnxr.MpconnxrError):
        print(id, type(result).__name__)
    else:
        print(id, bytes(result[0].view("B")) == expected)
        if id == "c":
            m.submit(x, "d", done)
print(m.poll())
m.submit(x, "a", done)
m.submit([1, 2], "b", done)
m.submit(x, "c", done)
polls = 1
while m.poll(slice_ms=1):
    polls += 1
print(polls >= 4, m.poll())
"""
    printed = lines(target, script, digits)
    assert printed == ["False", "a True", "b InputError", "c True", "d True", "True False"]


@every_target
def test_runs_are_submitted_under_asyncio(target, digits):
    script = """
async def main():
    all_done = asyncio.Event()
    def done(id, outputs):
        print(id, bytes(outputs[0].view("B")) == expected)
        if id == 4:
            all_done.set()
    m.submit(x, 1, done)
    m.submit(x, 2, done)
    print("submitted")
    while m._queue.task:
        await asyncio.sleep_ms(1)
    m.submit(x, 3, done, slice_ms=1)
    m.submit(x, 4, done)
    await all_done.wait()
asyncio.run(main())
"""
    printed = lines(target, script, digits)
    assert printed == ["submitted", *(f"{i} True" for i in (1, 2, 3, 4))]


@every_target
def test_firmware_without_clock_or_asyncio_refuses_only_what_needs_them(target, relu):
    script = """
import sys
class Absent: pass
for name in ("time", "utime", "asyncio"):
    sys.modules[name] = Absent()
import mpconnxr
m = mpconnxr.load("m.bin")
print(list(m.run([1, -2, 3, -4, 5, -6])[0].data)[:2])
def in_time(): m.run(deadline_us=5)
def asynchronously(): m.run_async().send(None)
for call in (m.profile, m.benchmark, in_time, asynchronously):
    try:
        call()
    except mpconnxr.UnsupportedError as e:
        print(e)
"""
    refusal = "this firmware has no time.ticks_us"
    assert small.lines(target, script, m=relu) == [
        "[1.0, 0.0]",
        *[refusal] * 3,
        "this firmware has no asyncio",
    ]


def test_a_run_in_parts_computes_the_right_values(target, slow):
    x = small.floats(1, 8, 48, 48)
    script = """
import mpconnxr
from mpconnxr.slices import slices
m = mpconnxr.load("m.bin")
for _ in slices(m).run(open("x.bin", "rb").read(), 1):
    pass
print(sum(m.outputs[0].data))
"""
    [printed] = small.lines(target, script, m=convert(slow).data, x=x.tobytes())
    expected = small.expected(slow, x)[0]
    assert float(printed) == pytest.approx(float(np.sum(expected)), rel=1e-5)
