"""Runs in parts: run_async, submit and poll, as docs/api.md has them."""

import re

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import cases, small
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
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


@pytest.fixture(scope="module")
def digits():
    return convert(DIGITS).data


def lines(target, script, data, args=()):
    """What a script printed that has MicroPython's asyncio beside it: no port freezes it here."""
    files = {"m.bin": data, "asyncio": source_tree() / "extmod" / "asyncio"}
    return small.run(target, START + script, files, args).splitlines()


def convolution(channels, side):
    """A layer of `side` rows, twice the channels."""
    nodes = [("Conv", "x w", "c", {"pads": [1, 1, 1, 1]}), ("Relu", "c", "y", {})]
    x = small.value("x", (1, channels, side, side))
    y = small.value("y", (1, 2 * channels, side, side))
    return small.model(nodes, [x], [y], w=small.floats(2 * channels, channels, 3, 3))


@pytest.fixture(scope="module")
def slow():
    """It takes some milliseconds."""
    return convolution(4, 48)


@every_target
def test_other_tasks_run_meanwhile(target, slow):
    """The longest time for which another task does not get the processor.

    By a clock of its own, which an item of a step sets forward by 300 us, a call by 200 us: how
    busy this computer is does not count.
    """
    script = """
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
m._steps = [(n, costly(step)) for n, step in m._steps]
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
    longest, whole = map(int, lines(target, script, convert(slow).data)[0].split())
    assert whole > 3 * 4000
    assert 2000 <= longest <= 4000


@every_target
def test_whole_models_compute_the_same_in_parts(target):
    """Steps that the converter has merged, floats and bytes."""
    script = """
import mpconnxr
import mpconnxr.slices
mpconnxr.slices._next = lambda items, us, wanted_us: 1
for i in range(4):
    m = mpconnxr.load(f"{i}.bin")
    x = bytes([k % 60 for k in range(m.inputs[0].nbytes)])
    whole = bytes(m.run(x)[0].view("B"))
    parts = 0
    for _ in mpconnxr.slices.slices(m).run(x, 1):
        parts += 1
    print(bytes(m.outputs[0].view("B")) == whole, len(set(whole)) > 1)
"""
    digits = small.floats(8, 1, 1, 8, 8)
    int8 = Settings(samples=[{"image": x} for x in abs(digits)])
    found = [convert(DIGITS), convert(DIGITS, Options(quantize=int8)), convert(small.mixed())]
    found.append(convert(DIGITS.parents[1] / "keywords" / "keywords.onnx"))
    kernels = {step.kernel for done in found for step in done.graph.steps}
    assert {"conv_max_pool", "block_gemm", "qconv"} <= kernels
    files = {f"{i}.bin": done.data for i, done in enumerate(found)}
    assert small.run(target, script, files).splitlines() == ["True True"] * 4


@every_target
def test_every_kernel_computes_the_same_in_parts(target):
    """Parts of one item, the smallest there are, of all node tests of the smaller files."""
    script = """
import gc
import mpconnxr
import mpconnxr.slices
mpconnxr.slices._next = lambda items, us, wanted_us: 1
n = int(open("n").read())
for i in range(n):
    try:
        m = mpconnxr.load(f"{i}.bin")
    except mpconnxr.UnsupportedError:  # float64 on a firmware without
        n -= 1
        continue
    def fill():
        for k, t in enumerate(m.inputs):
            t.view("B")[:] = open(f"{i}_{k}", "rb").read()
    fill()
    whole = [bytes(t.view("B")) for t in m.run()]
    m.reset()
    fill()
    for _ in mpconnxr.slices.slices(m).run(None, 1):
        pass
    if [bytes(t.view("B")) for t in m.outputs] != whole:
        print("differs", i)
    del m, fill
    gc.collect()
print(n)
"""
    chosen = {}
    for case in cases.all_cases():
        if case.inputs is not None and b"random" not in case.data and len(case.data) < 3000:
            for kernel in case.kernels:
                chosen.setdefault(kernel, []).append(case)
    picked = list({c.name: c for found in chosen.values() for c in found[:2]}.values())
    files = {"n": str(len(picked)).encode()}
    for i, case in enumerate(picked):
        files[f"{i}.bin"] = case.data
        files |= {f"{i}_{k}": raw for k, raw in enumerate(case.inputs)}
    *different, last = small.run(target, script, files).splitlines()
    names = [picked[int(line.split()[1])].name for line in different]
    assert not names
    assert len(chosen) >= 50 and int(last) > 70


@every_target
def test_shapes_that_a_run_decides(target):
    """Also with forms that the model prefers, which its steps take in the run."""
    nodes = [
        ("NonZero", "x", "n", {}),
        ("Cast", "n", "f", {"to": TensorProto.FLOAT}),
        ("Relu", "f", "y", {}),
    ]
    proto = small.model(nodes, [small.value("x", (4,))], [small.value("y", (1, "n"))])
    script = """
import mpconnxr
from mpconnxr import forms
from mpconnxr.slices import slices
m = mpconnxr.load("m.bin", prefer=("plain",))
usual = forms.order
for x in ([1, 0, 0, 2], [0, 3, 4, 5]):
    for _ in slices(m).run(x, 5):
        pass
    print(m.outputs[0].shape, list(m.outputs[0].data), forms.order is usual)
print([form[0] for name, form in forms._loaded if name == "loops_relu"])
print([s.kernel for s in m.profile([1, 1, 1, 1]).steps][-1], m.outputs[0].shape)
"""
    assert small.lines(target, script, m=small.binary(proto)) == [
        "(1, 2) [0.0, 3.0] True",
        "(1, 3) [1.0, 2.0, 3.0] True",
        "['plain']",
        "relu (1, 4)",
    ]


@every_target
def test_one_run_at_a_time(target, slow):
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
    assert lines(target, script, convert(slow).data) == [
        "the model is still computing",
        "cancelled",
        "True",
        "slice_ms: at least 1",
        "refused",
    ]


@every_target
def test_submitted_runs_without_asyncio(target, digits):
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
def test_submitted_runs_under_asyncio(target, digits):
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


def test_parts_grow_to_half_a_slice(target):
    script = """
from mpconnxr.slices import _next
print(_next(1, 0, 2500), _next(4, 100, 2500), _next(100, 2500, 2500), _next(100, 5000, 2500))
print(_next(1, 100000, 2500), _next(1 << 20, 2500, 2500))
"""
    printed = small.lines(target, script)
    assert [int(n) for n in re.findall(r"\d+", " ".join(printed))] == [
        *(4, 16, 100, 50),
        *(1, 1 << 20),
    ]


@every_target
def test_firmware_without_clock_or_asyncio(target, relu):
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


def test_values_of_a_run_in_parts(target, slow):
    x = small.floats(1, 4, 48, 48)
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
