"""Runs model files in every way that must not change what comes out, and prints a digest of each.

models: a line for each file: its name, without .bin, and which files NAME.WAY.bin of the same
model with other options are beside it. The bytes of its inputs, one behind another, are in NAME.x.
Prints lines `NAME WAY DIGEST`, and `NAME right yes` where the golden vector of NAME.named.bin
comes out.
"""

import binascii
import gc
import hashlib

import mpconnxr
from mpconnxr import sharing
from mpconnxr.slices import slices


def digest_of(model):
    h = hashlib.sha256()
    for t in model.outputs:
        h.update(str((t.dtype, t.shape)).encode())
        h.update(bytes(t.view("B")))
    return str(binascii.hexlify(h.digest()[:8]), "ascii")


def fill(model, x):
    for t, raw in zip(model.inputs, x):
        t.view("B")[:] = raw


def ran(model, x, run):
    """Return a digest of the outputs, or what the run refused."""
    fill(model, x)
    try:
        run(model)
    except mpconnxr.InputError as e:
        return "InputError " + str(e)
    return digest_of(model)


def usual(model):
    model.run()


def item_by_item(model):
    if model._runtime:
        return model.run()
    for n, step in model._steps:
        for i in range(n):
            step(i, i + 1)


def in_slices(model):
    for _ in slices(model).run(None, 1):
        pass


def twice_unfilled(model):
    """Of a model that keeps its inputs."""
    before = [bytes(t.view("B")) for t in model.inputs]
    model.run()
    if before != [bytes(t.view("B")) for t in model.inputs]:
        raise ValueError("an input was overwritten")
    model.run()


class Ways:
    """One model file, and how it can be run."""

    def __init__(self, name, others):
        self.name, self.others = name, others
        with open(name + ".bin", "rb") as f:
            self.data = f.read()
        self.in_place = bytearray(self.data)

    def load(self, source=None, arena=None, prefer=(), stream=True):
        """With the kernels, also where there is a program."""
        source = self.in_place if source is None else source
        return mpconnxr.opening.kernels()(source, True, arena, prefer, stream, None)

    def shifted(self, by):
        room = bytearray(len(self.data) + by)
        room[by:] = self.data
        return memoryview(room)[by:]

    def dirty(self, byte):
        arena = bytearray(sharing._needed(self.in_place, True))
        model = self.load(arena=arena)
        for i in range(len(arena)):
            arena[i] = byte
        return model

    def shared(self, other):
        own, neighbour = mpconnxr.build.load.load_all(
            (self.in_place, other.in_place),
            True,
            bytearray(max(sharing._needed(w.in_place, True) for w in (self, other))),
            (),
            True,
        )
        try:
            neighbour.run()
        except mpconnxr.MpconnxrError:
            pass  # whatever its inputs are
        return own

    def program(self, cores):
        model = mpconnxr.load(self.in_place, cores=cores)
        return model if type(model).__name__ == "Program" else None

    def all(self, other):
        """(way, what loads the model, what runs it)"""
        path = self.name + ".bin"
        yield "in-place", self.load, usual
        yield "items", self.load, item_by_item
        yield "slices", self.load, in_slices
        yield "streamed", lambda: self.load(path), usual
        yield "held", lambda: self.load(path, stream=False), usual
        for by in (1, 4, 7):
            yield "shifted-%d" % by, lambda by=by: self.load(self.shifted(by)), usual
        for byte in (0x5A, 0xFF):
            yield "dirty-%d" % byte, lambda byte=byte: self.dirty(byte), usual
        yield "shared", lambda: self.shared(other), usual
        yield "plain", lambda: self.load(prefer=("plain",)), usual
        yield "program", lambda: self.program(1), usual
        for way in self.others:
            if way == "cores":
                yield way, lambda: self.program(2), usual
                continue
            run = twice_unfilled if way == "keep" else usual
            yield way, lambda way=way: self.load("%s.%s.bin" % (self.name, way)), run


def rightness(path):
    """Whether the golden vector of a file comes out; None if it has none."""
    try:
        found = mpconnxr.inspect.golden.verify(path)
    except mpconnxr.ModelError as e:
        if "golden" in str(e):
            return None
        raise
    return "yes" if found.ok else str(found)


def check(ways, other):
    """Whether it runs at all. other: a model to share an arena with."""
    with open(ways.name + ".x", "rb") as f:
        x = None
        for way, load, run in ways.all(other):
            try:
                model = load()
                if model is None:
                    continue
                if x is None:
                    x = [f.read(t.nbytes) for t in model.inputs]
                digest, again = ran(model, x, run), ran(model, x, run)
                print(ways.name, way, digest if digest == again else digest + " and " + again)
                if hasattr(model, "close"):
                    model.close()
            except Exception as e:
                print(ways.name, way, type(e).__name__, e)
                if way == "in-place":
                    return False
            model = None
            gc.collect()
    return True


with open("models") as f:
    lines = [line.split() for line in f.read().split("\n") if line]
before = None
for name, *others in lines:
    ways = Ways(name, others)
    if not check(ways, before or ways):
        continue
    before = ways
    if "named" in others:
        right = rightness(name + ".named.bin")
        if right:
            print(name, "right", right)
