"""Run on MicroPython: print the ticks of each outermost step as JSON, [[number, ticks], ...]."""

import json

from on_device_ticks import COUNTER, LIMIT, fill, ticks


def _noting(data):
    """Load a model that keeps [number, (n, step)] of its outermost steps in `notes`."""
    from mpconnxr.build.loader import Loader
    from mpconnxr.build.reader import Reader

    class Noting(Loader):
        def __init__(self, reader):
            self.notes = []
            self._deep = 0
            Loader.__init__(self, reader)

        def _prepare(self, reader, index, node):
            self._deep += 1
            made = Loader._prepare(self, reader, index, node)
            self._deep -= 1
            if self._deep == 0:
                self.notes.append((index, made))
            return made

    return Noting(Reader(data, False))


def _counted(n, step):
    if not n:
        return 0
    start = ticks(COUNTER)
    step(0, n)
    return (ticks(COUNTER) - start) & LIMIT


def main():
    """Time the steps of model.bin."""
    with open("model.bin", "rb") as f:
        data = f.read()
    model = _noting(data)
    for _ in range(2):  # the first run may allocate once and for all
        fill(model.inputs)
        if model.runtime:
            model.runtime.start()
        steps = [(index, _counted(*made)) for index, made in model.notes]
    print(json.dumps(steps))


main()
