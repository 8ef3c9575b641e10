"""Runs on MicroPython: what a model, its code and each step take of the heap, and a step's time.

Prints one JSON object: code, the heap's bytes of all that the model imports; modules, their names;
heap, the bytes of the loaded model; steps, of each [number, kernel, bytes of the heap, ticks].
Weights stay in the file's bytes. What is needed to prepare a step counts as its own, even where it
does not outlive the load. Steps in the bodies of others count with those.
"""

import gc
import json
import sys

from on_device_ticks import COUNTER, LIMIT, fill, ticks

_PREFER = PREFER  # noqa: F821 - forms of loops, written here by the host


def _used():
    gc.collect()
    return gc.mem_alloc()


def _code(data):
    """(bytes of the heap, names) of the modules that a load brings in, bytes of the model."""
    before = _used()
    known = set(sys.modules)
    __import__("mpconnxr.forms")
    forms = sys.modules["mpconnxr.forms"]
    forms.order = _PREFER + forms.order
    package = sys.modules["mpconnxr"]
    package._LOADING = ()  # keep what only loading needs: it has to fit as well
    model = package.load(data, verify=False)
    loaded = _used()
    model = None  # noqa: F841 - so that the collector takes it
    code = _used()
    return code - before, sorted(set(sys.modules) - known), loaded - code


def _noting(data):
    """The model once more; notes: [number, kernel, bytes, (n, step)] of its outermost steps."""
    from mpconnxr.loading import Loader
    from mpconnxr.reader import Reader

    class Noting(Loader):
        def __init__(self, reader):
            self.notes = []
            self._deep = 0
            Loader.__init__(self, reader)

        def _prepare(self, reader, index, node):
            before = 0 if self._deep else _used()
            self._deep += 1
            made = Loader._prepare(self, reader, index, node)
            self._deep -= 1
            if self._deep == 0:
                self.notes.append([index, node[0], _used() - before, made])
            return made

    return Noting(Reader(data, False))


def _counted(n, step):
    if not n:
        return 0
    start = ticks(COUNTER)
    step(0, n)
    return (ticks(COUNTER) - start) & LIMIT


def main():
    with open("model.bin", "rb") as f:
        data = f.read()
    code, modules, heap = _code(data)
    model = _noting(data)
    for _ in range(2):  # the first run may allocate once and for all
        fill(model.inputs)
        if model.runtime:
            model.runtime.start()
        steps = [note[:3] + [_counted(*note[3])] for note in model.notes]
    print(json.dumps({"code": code, "modules": modules, "heap": heap, "steps": steps}))


main()
