"""What a model or a view of an output reads lives as long; what is proved of a file is used."""

import numpy as np
import pytest

from tests.host.device.small import floats, model, value
from tests.host.program import programs
from tests.host.program.test_models import LONG
from tools.converter.convert import convert

TARGETS = ("unix", "unix32", "unix-plain")
HEAD = """
import gc

import mpconnxr

data = open("model.bin", "rb").read()
n = len(data)
X = open("x", "rb").read()


def load(source, arena=None):
    return mpconnxr.load(source, arena=arena, prefer=() if kind == "program" else "plain")


def litter():
    gc.collect()
    for size in (16, 32, 64, 256, 1024, 4096, 8192):
        kept = []
        for _ in range(40000 // size):
            kept.append(bytearray(b"\\xa5" * size))
    gc.collect()


def outputs(m):
    return [bytes(t.view("B")) for t in m.outputs]


def check(what, ok):
    if not ok:
        print(kind, what)
"""
LIFETIMES = """
class File:
    def __init__(self):
        self.file = open("model.bin", "rb")
        self.seek, self.readinto = self.file.seek, self.file.readinto


def part(offset):
    buffer = bytearray(n + 64)
    buffer[offset : offset + n] = data
    return memoryview(buffer)[offset : offset + n]


def of_bytes(offset):
    return memoryview(bytes(offset) + data)[offset:]


sources = [("path", lambda: "model.bin"), ("file", lambda: open("model.bin", "rb"))]
sources += [("object", File), ("bytes", lambda: bytes(bytearray(data)))]
sources += [("bytearray", lambda: bytearray(data)), ("view", lambda: memoryview(bytearray(data)))]
for offset in range(8, 72, 8):
    sources.append(("part %d" % offset, lambda offset=offset: part(offset)))
for offset in (1, 2, 4, 12):
    sources.append(("part %d" % offset, lambda offset=offset: part(offset)))
sources += [("bytes 64", lambda: of_bytes(64)), ("bytes 3", lambda: of_bytes(3))]
sources.append(("part of a part", lambda: memoryview(part(16))[:n]))
arenas = [("own", lambda: None), ("whole", lambda: bytearray(nbytes))]
arenas.append(("view", lambda: memoryview(bytearray(nbytes))))
arenas.append(("start", lambda: memoryview(bytearray(nbytes + 64))[:nbytes]))
arenas.append(("end", lambda: memoryview(bytearray(nbytes + 64))[64:]))
arenas.append(("part", lambda: memoryview(memoryview(bytearray(nbytes + 64))[16:])[8:]))

for kind in ("program", "kernels"):
    m = load("model.bin")
    check("kind", (type(m).__name__ == "Program") == (kind == "program"))
    nbytes = m.arena_nbytes
    wanted = outputs(m.run(X) and m)
    for i in range(len(sources)):
        for k in range(len(arenas)):
            if not (k == i % len(arenas) or LONG):
                continue
            what = sources[i][0], arenas[k][0]
            m = load(sources[i][1](), arenas[k][1]())
            litter()
            check((what, "run"), outputs(m.run(X) and m) == wanted)
            litter()
            check((what, "again"), outputs(m.run(X) and m) == wanted)
            check((what, "wrapped"), [bytes(t.view("B")) for t in m.outputs] == wanted)
            views = [t.data for t in m.outputs] + [t.view("B") for t in m.outputs]
            m = None
            litter()
            check((what, "a view"), [bytes(v) for v in views] == 2 * wanted)
print("end")
"""


def network():
    nodes = [
        ("Conv", "x w", "c", {"pads": [1, 1, 1, 1]}),
        ("Relu", "c", "r", {}),
        ("Flatten", "r", "f", {}),
        ("Gemm", "f m", "y", {}),
    ]
    constants = {"w": floats(4, 2, 3, 3), "m": floats(144, 3)}
    return model(nodes, [value("x", (1, 2, 6, 6))], [value("y", (1, 3))], **constants)


def run(target, script, stream):
    data = convert(network()).data
    files = {"model.bin": data, "x": np.ascontiguousarray(floats(1, 2, 6, 6)).tobytes()}
    return programs.run(target, HEAD + script, [programs.made(data, target, stream)], files)


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_what_is_read_stays_alive(target, stream):
    printed = run(target, LIFETIMES.replace("LONG", str(LONG)), stream)
    assert printed == ["end"], "\n".join(printed)


OVERLAPS = """
for kind in ("program", "kernels"):
    nbytes = load(data).arena_nbytes
    for first, at in ((0, 8), (0, nbytes - 8), (n - 8, 0), (64, 0), (0, 0)):
        buffer = bytearray(2 * n + 2 * nbytes)
        view = memoryview(buffer)
        view[at : at + n] = data
        try:
            load(view[at : at + n], view[first // 8 * 8 :])
            print(kind, first, at, "no error")
        except mpconnxr.ArenaError as e:
            check(str(e), "the model's file lies in" in str(e))
    buffer = bytearray(n + nbytes + 64)
    view = memoryview(buffer)
    view[:n] = data
    end = (n + 15) // 8 * 8
    m = load(view[:n], view[end:])
    m.run(X)
    check("beside", buffer[:n] == data)
print("end")
"""


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_a_file_in_the_arena_is_refused(target):
    printed = run(target, OVERLAPS, False)
    assert printed == ["end"], "\n".join(printed)


CHANGES = """
class Card:
    # a file that gives other bytes from its k-th read on
    def __init__(self, k, at, byte):
        self.file, self.k, self.at, self.byte = open("model.bin", "rb"), k, at, byte

    def seek(self, *args):
        return self.file.seek(*args)

    def readinto(self, buffer):
        first = self.file.seek(0, 1)
        n = self.file.readinto(buffer)
        self.k -= 1
        for i in range(self.at, self.at + 16):
            if self.k < 0 and first <= i < first + n:
                buffer[i - first] ^= self.byte
        return n


for kind in ("program", "kernels"):
    m = load("model.bin")
    wanted = outputs(m.run(X) and m)
    for k in KS:
        for at in range(k, n, STEP):
            try:
                m = load(Card(k, at, 0x81))
                m.run(X)
            except (mpconnxr.MpconnxrError, OSError):
                continue
            if PROVED:
                check((k, at), outputs(m) == wanted)
print("end")
"""


def changes(stream):
    ks, step = (range(1, 40), 17) if LONG else ((1, 2, 3, 5, 7), 331)
    script = CHANGES.replace("KS", repr(tuple(ks))).replace("STEP", str(step))
    return script.replace("PROVED", str(not stream))


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", TARGETS[:2], indirect=True)
def test_a_card_whose_contents_change(target, stream):
    printed = run(target, changes(stream), stream)
    assert printed == ["end"], "\n".join(printed)
