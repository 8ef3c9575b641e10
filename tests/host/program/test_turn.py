"""One run at a time: calls while a model computes are refused, and leave it right."""

import pytest

from tests.host.device.small import floats, model, value
from tests.host.program import programs
from tests.host.program.test_models import LONG
from tools.converter.convert import convert
from tools.micropython import GUARD_TARGETS
from tools.micropython.source import source_tree

TARGETS = ("unix", "unix32", "unix-plain")
N = 2 * 16 * 16
SCRIPT = """
import asyncio
import micropython
import sys
import time

import mpconnxr
from mpconnxr import MpconnxrError, golden

XA = [i % 7 * 0.25 + 0.5 for i in range(NUMBER)]
XB = [i % 5 * 0.1 for i in range(NUMBER)]
SAID = "the model is still computing"


def load(source="model.bin", arena=None):
    if kind == "kernels":
        return mpconnxr.load(source, arena=arena, prefer="plain")
    return mpconnxr.load(source, arena=arena)


def outputs(m):
    return [bytes(t.view("B")) for t in m.outputs]


def attempt(call):
    try:
        call()
        return "no error"
    except MpconnxrError as e:
        return str(e)[: len(SAID)]


def check(what, ok):
    if not ok:
        print(kind, what)


def calls_of(m, arena):
    # each public call that computes, or changes what a run needs
    found = [m.run, lambda: m.run(XB), lambda: m.run(XB, deadline_us=5), m.close, m.reset]
    found += [lambda: m.run_until(XB, 5), lambda: m.profile(XB), lambda: m.benchmark(1, XB)]
    found += [lambda: m.predict(XB), lambda: asyncio.run(m.run_async(XB))]
    if arena is not None:
        found.append(lambda: golden.verify("model.bin", arena=arena))
    if kind == "kernels":
        found.append(lambda: m.trace(XB, level=0))
    return found


def in_callbacks(m, other, arena, wanted):
    # at the n-th point of a run where callbacks are made, each call in turn
    calls = calls_of(other, arena)
    reached, n, quiet = 0, 0, 0
    while quiet < len(calls):
        call, left, said = calls[n % len(calls)], [n], []

        def callback(_):
            left[0] -= 1
            if not computing:
                return
            if left[0] < 0:
                said.append(attempt(call))
            else:
                micropython.schedule(callback, 0)

        for i in range(NUMBER):
            m.inputs[0].data[i] = XA[i]
        computing = True
        micropython.schedule(callback, 0)
        m.run()
        computing = False
        got = outputs(m)
        came = bool(said)
        if came:
            reached += 1
            check(("in a callback", n, said), said[0] == SAID)
            check(("outputs after a callback", n), got == wanted)
        quiet = 0 if came else quiet + 1
        n += 1 if n < 13 else 7
        if n > MOST:
            break
    check("callbacks", reached > 2)
    check("next run", outputs(m.run(XA) and m) == wanted)


def between_polls(other, arena, wanted):
    # other: None for the model itself
    got = []
    for k in range(20):
        m = load(File(), arena)  # a part of another one may be all of its run
        calls = calls_of(other or m, arena)
        if k == len(calls):
            break
        call = calls[k]
        m.submit(XA, k, lambda id, r: got.append((id, outputs(m))))
        if not m.poll(slice_ms=1):
            check("a run of one slice", False)
            return
        if k == 4 and not other:  # reset, which gives the run up
            m.reset()
            check("given up", not m.poll())
            check("after it", outputs(m.run(XA) and m) == wanted)
            continue
        check(("between polls", k), attempt(call) == SAID)
        while m.poll(slice_ms=1):
            pass
        check(("submitted", k), got and got.pop() == (k, wanted))
    check("nothing more", not got)


class File:
    # of which a read takes long, or ends in an exception
    def __init__(self, error=None):
        self.file, self.left, self.error = open("model.bin", "rb"), -1, error

    def seek(self, *args):
        return self.file.seek(*args)

    def readinto(self, buffer):
        self.left -= 1
        if self.left == 0:
            raise self.error
        if not self.error:
            time.sleep_ms(2)
        return self.file.readinto(buffer)


def after_exceptions(wanted):
    for error in (KeyboardInterrupt(), OSError(5), MemoryError(), ValueError()):
        for way in range(6):
            file = File(error)
            m = load(file)
            m.run(XB)
            file.left = 1
            try:
                if way == 1:
                    asyncio.run(m.run_async(XB))
                elif way == 2:
                    m.submit(XB, 1, lambda id, r: None)
                    while m.poll():
                        pass
                else:
                    (m.run, None, None, m.profile, m.predict, m.benchmark)[way]()
            except BaseException:
                pass
            check((error, way, "not reached"), file.left <= 0)
            file.left = -1
            check((error, way), outputs(m.run(XA) and m) == wanted)


def in_threads(models, wanted, may_refuse):
    import _thread

    done, wrong, refused = [], [], []

    def work(m, x, right):
        for _ in range(6):
            try:
                m.run(x)
                if not may_refuse and outputs(m) != right:
                    wrong.append(x[0])
            except MpconnxrError as e:
                refused.append(str(e)[: len(SAID)])
            except Exception as e:
                wrong.append(repr(e))
        done.append(1)

    for m, x, right in zip(models, (XA, XB), wanted):
        _thread.start_new_thread(work, (m, x, right))
    while len(done) < 2:
        time.sleep_ms(1)
    check(("threads", wrong, len(refused)), not wrong)
    check("refused", set(refused) <= ({SAID} if may_refuse else set()))
    for m in models:
        check("after threads", outputs(m.run(XA) and m) == wanted[0])


for kind in ("program", "kernels"):
    m = load()
    check("kind", (type(m).__name__ == "Program") == (kind == "program"))
    wanted = outputs(m.run(XA) and m)
    other = outputs(m.run(XB) and m)
    in_callbacks(m, m, None, wanted)
    between_polls(None, None, wanted)
    arena = bytearray(3 * m.arena_nbytes + 64)
    whole, part = load(arena=arena), load(arena=memoryview(arena)[8:])
    in_callbacks(whole, part, arena, wanted)
    between_polls(part, arena, wanted)
    m = load()
    in_threads((m, load()), (wanted, other), False)
    apart = memoryview(arena)[(m.arena_nbytes + 7) // 8 * 8 + 8 :]
    in_threads((load(arena=memoryview(arena)[: len(arena) - len(apart)]), load(arena=apart)),
               (wanted, other), False)
    in_threads((m, m), (wanted, other), True)
    in_threads((whole, part), (wanted, other), True)
    after_exceptions(wanted)
print("end")
"""


def network():
    nodes = [
        ("Conv", "x w", "c", {"pads": [1, 1, 1, 1]}),
        ("Relu", "c", "r", {}),
        ("GlobalAveragePool", "r", "p", {}),
        ("Flatten", "p", "f", {}),
        ("Gemm", "f m", "y", {}),
    ]
    ends = [value("x", (1, 2, 16, 16))], [value("y", (1, 3))]
    return model(nodes, *ends, w=floats(8, 2, 3, 3), m=floats(8, 3))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_one_run_at_a_time(target):
    data = convert(network()).data
    bundle = programs.made(data, target, stream=True)
    files = {"model.bin": data, "asyncio": source_tree() / "extmod" / "asyncio"}
    script = SCRIPT.replace("NUMBER", str(N)).replace("MOST", "2000" if LONG else "40")
    printed = programs.run(target, script, [bundle], files)
    assert printed == ["end"], "\n".join(printed)


INTERRUPTS = """
import guard
import mpconnxr

X = [i % 7 * 0.25 + 0.5 for i in range(NUMBER)]


def outputs(m):
    return [bytes(t.view("B")) for t in m.outputs]


def polled():
    m.submit(X, 1, lambda id, r: None)
    while m.poll():
        pass


def interrupted(call, us):
    # whether the call was: an import may take the exception for its own
    guard.interrupt(us)
    try:
        for _ in range(300000 // us):
            call()
    except KeyboardInterrupt:
        return True
    finally:
        guard.interrupt(0)
    return False


for kind in ("program", "kernels"):
    m = mpconnxr.load("model.bin", prefer=() if kind == "program" else "plain")
    if (type(m).__name__ == "Program") != (kind == "program"):
        print("not a", kind)
    m.run(X)
    wanted = outputs(m)
    came = 0
    for call in (m.run, lambda: m.run(X), lambda: m.run(X, deadline_us=3), lambda: m.predict(X),
                 lambda: m.benchmark(1, X), m.profile, m.reset, polled):
        call()
        for us in range(100, 100 + TRIES * 13, 13):
            came += interrupted(call, us)
            try:
                m.run(X)
            except mpconnxr.MpconnxrError as e:
                print(kind, us, e)
                m = mpconnxr.load("model.bin", prefer=() if kind == "program" else "plain")
                break
            if outputs(m) != wanted:
                print(kind, us, "other outputs")
    if came < 6 * TRIES:
        print("few interrupts", came)
print("end")
"""


@pytest.mark.slow
@pytest.mark.parametrize("target", GUARD_TARGETS[:2], indirect=True)
def test_the_run_after_an_interrupted_one_is_right(target):
    data = convert(network()).data
    bundle = programs.made(data, target)
    script = INTERRUPTS.replace("NUMBER", str(N)).replace("TRIES", "1000" if LONG else "40")
    printed = programs.run(target, script, [bundle], {"model.bin": data})
    assert printed == ["end"], "\n".join(printed)
