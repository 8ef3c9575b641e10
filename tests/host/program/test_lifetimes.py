"""Everything a model or a view of an output reads stays alive; proofs about a file are used."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.device.small import floats, model, value
from tests.host.program import programs
from tests.host.program.test_models import LONG
from tools.converter.convert import convert
from tools.romfs import image_of

TARGETS = ("unix", "unix32", "unix-plain")
SCRIPT = (small.SCRIPTS / "lifetimes.py").read_text()
HEAD = SCRIPT.partition("\nclass File")[0]
KNOBS = 'KINDS, PREFER, ALL, RESERVED = ("program", "kernels"), "plain", False, 0\n'


def network():
    nodes = [
        ("Conv", "x w", "c", {"pads": [1, 1, 1, 1]}),
        ("Relu", "c", "r", {}),
        ("Flatten", "r", "f", {}),
        ("Gemm", "f m", "y", {}),
    ]
    constants = {"w": floats(4, 2, 3, 3), "m": floats(144, 3)}
    return model(nodes, [value("x", (1, 2, 6, 6))], [value("y", (1, 3))], **constants)


def files_of(data):
    x = np.ascontiguousarray(floats(1, 2, 6, 6)).tobytes()
    return {"model.bin": data, "x": x, "rom": image_of({"model.bin": data})}


def run(target, script, stream):
    data = convert(network()).data
    bundle = programs.made(data, target, stream)
    return programs.run(target, script, [bundle], files_of(data))


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_objects_that_a_model_reads_stay_alive(target, stream):
    printed = run(target, SCRIPT.replace(KNOBS, KNOBS.replace("False", str(LONG))), stream)
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
    printed = run(target, HEAD + OVERLAPS, False)
    assert printed == ["end"], "\n".join(printed)


CHANGES = """
import vfs


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


BLOCK = 512


class Disk:
    # a block device with a FAT, whose file's block gives other bytes from its k-th read on
    def __init__(self):
        self.bytes, self.bad, self.left = bytearray(200 * BLOCK), -1, 0

    def readblocks(self, block, buffer, offset=0):
        first = block * BLOCK + offset
        buffer[:] = self.bytes[first : first + len(buffer)]
        if first <= self.bad < first + len(buffer):
            self.left -= 1
            if self.left < 0:
                buffer[self.bad - first] ^= 0x81

    def writeblocks(self, block, buffer, offset=0):
        first = block * BLOCK + offset
        self.bytes[first : first + len(buffer)] = buffer

    def ioctl(self, operation, argument):
        return {4: len(self.bytes) // BLOCK, 5: BLOCK}.get(operation, 0)


disk = Disk()
vfs.VfsFat.mkfs(disk)
vfs.mount(disk, "/disk")
with open("/disk/model.bin", "wb") as f:
    f.write(data)
start = bytes(disk.bytes).find(data[:64])  # where the file lies, in one piece as the first one
check("in one piece", disk.bytes[start : start + n] == data)


def of_disk(k, at):
    disk.bad, disk.left = start + at, k
    return "/disk/model.bin"


for kind in ("program", "kernels"):
    m = load("model.bin")
    wanted = outputs(m.run(X) and m)
    for k in KS:
        for at in range(k, n, STEP):
            try:
                m = load(Card(k, at, 0x81) if at & 1 else of_disk(k, at))
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
def test_a_card_with_changing_contents_is_read_safely(target, stream):
    printed = run(target, HEAD + changes(stream), stream)
    assert printed == ["end"], "\n".join(printed)
