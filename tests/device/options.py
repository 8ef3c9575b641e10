"""Run model files in all modes that must not change the outputs; print a digest of each.

models: for each file a line: its name without .bin, then all WAYs for which NAME.WAY.bin, the same
model converted with other options, is beside it. NAME.x holds the bytes of its inputs. Prints
lines `NAME WAY DIGEST`, and `NAME right yes` if the golden vector of NAME.named.bin is reproduced.
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
    """Return a digest of the outputs, or the message of the InputError."""
    fill(model, x)
    try:
        run(model)
    except mpconnxr.InputError as e:
        return "InputError " + str(e)
    return digest_of(model)


def run_once(model):
    model.run()


def element_by_element(model):
    if model._runtime:
        return model.run()
    for n, step in model._steps:
        for i in range(n):
            step(i, i + 1)


def in_slices(model):
    for _ in slices(model).run(None, 1):
        pass


def twice_unfilled(model):
    """Run a model that keeps its inputs twice, filling them only once."""
    before = [bytes(t.view("B")) for t in model.inputs]
    model.run()
    if before != [bytes(t.view("B")) for t in model.inputs]:
        raise ValueError("an input was overwritten")
    model.run()


class Modes:
    """One model file and all the modes in which it can be loaded and run."""

    def __init__(self, name, others):
        self.name, self.others = name, others
        with open(name + ".bin", "rb") as f:
            self.data = f.read()
        self.in_place = bytearray(self.data)

    def load(self, source=None, arena=None, prefer=(), stream=True):
        """Load the model with kernels, even if the board has a program of it.

        Args:
            source: as for mpconnxr.load; None for the bytes in memory.
            arena: as for mpconnxr.load.
            prefer: as for mpconnxr.load.
            stream: as for mpconnxr.load.
        """
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
        """Yield (mode, function that loads the model, function that runs it)."""
        path = self.name + ".bin"
        yield "in-place", self.load, run_once
        yield "items", self.load, element_by_element
        yield "slices", self.load, in_slices
        yield "streamed", lambda: self.load(path), run_once
        yield "held", lambda: self.load(path, stream=False), run_once
        for by in (1, 4, 7):
            yield "shifted-%d" % by, lambda by=by: self.load(self.shifted(by)), run_once
        for byte in (0x5A, 0xFF):
            yield "dirty-%d" % byte, lambda byte=byte: self.dirty(byte), run_once
        yield "shared", lambda: self.shared(other), run_once
        yield "plain", lambda: self.load(prefer=("plain",)), run_once
        yield "program", lambda: self.program(1), run_once
        for mode in self.others:
            if mode == "cores":
                yield mode, lambda: self.program(2), run_once
                continue
            run = twice_unfilled if mode == "keep" else run_once
            yield mode, lambda mode=mode: self.load("%s.%s.bin" % (self.name, mode)), run


def rightness(path):
    """Return "yes" if a file's golden vector is right, else the deviation; None without one."""
    try:
        result = mpconnxr.golden.verify(path)
    except mpconnxr.ModelError as e:
        if "golden" in str(e):
            return None
        raise
    return "yes" if result.ok else str(result)


def check(modes, other):
    """Print the digest of each mode; `other` is a model to share an arena with."""
    with open(modes.name + ".x", "rb") as f:
        x = None
        for mode, load, run in modes.all(other):
            try:
                model = load()
                if model is None:
                    continue
                if x is None:
                    x = [f.read(t.nbytes) for t in model.inputs]
                digest, again = ran(model, x, run), ran(model, x, run)
                print(modes.name, mode, digest if digest == again else digest + " and " + again)
                if hasattr(model, "close"):
                    model.close()
            except Exception as e:
                print(modes.name, mode, type(e).__name__, e)
                if mode == "in-place":
                    return False
            model = None
            gc.collect()
    return True


with open("models") as f:
    lines = [line.split() for line in f.read().split("\n") if line]
before = None
for name, *others in lines:
    plans = Modes(name, others)
    if not check(plans, before or plans):
        continue
    before = plans
    if "named" in others:
        right = rightness(name + ".named.bin")
        if right:
            print(name, "right", right)
