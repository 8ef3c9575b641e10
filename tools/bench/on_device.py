"""Run on MicroPython: count one steady-state run and its heap; print one JSON object.

Arguments: preferred forms, separated by commas; number of runs before the counted one. On the unix
target the host counts, by starting this script with different numbers of runs.
"""

import gc
import json
import sys

import micropython
from on_device_ticks import COUNTER, LIMIT, fill, low_ticks, ticks

import mpconnxr

_CALLS = 10  # of a loop that does nothing
_LOW = 0x3FFFFFFF


def _counted(model):
    """Return the ticks of one run; the counter wraps around."""
    start = ticks(COUNTER)
    model.run()
    return (ticks(COUNTER) - start) & LIMIT


def _by_step(model):
    """Return the ticks of each step of one run."""
    counts = []
    if model._runtime:
        model._runtime.start()
    for n, step in model._steps:
        start = ticks(COUNTER)
        step(0, n)
        counts.append((ticks(COUNTER) - start) & LIMIT)
    return counts


class _Loops:
    """Replacement for mpconnxr.forms whose loops add up the ticks of their calls."""

    def __init__(self, forms):
        self.get, self.others = forms.get, forms.OWN
        self.wrapped = []  # (wrapper, loop); None when the counting begins
        self.clear()

    def clear(self):
        self.ticks = self.calls = 0

    def module(self, name, form=None):
        module = self.get(name, form)
        is_loop = name not in self.others
        return _Module(self, module) if is_loop else module

    def counting(self, loop):
        def counted(x, w, out=None, p=None):  # *args would allocate
            if self.wrapped:
                self.bare([a for a in (x, w, out) if isinstance(a, list)])
            start = low_ticks(COUNTER)
            if p is None:
                loop(x, w)
            else:
                loop(x, w, out, p)
            self.ticks += (low_ticks(COUNTER) - start) & _LOW
            self.calls += 1

        if self.wrapped is not None:
            self.wrapped.append((counted, loop))
        return counted

    def bare(self, lists):
        """Unwrap loops that are arguments of another loop, which counts them as its own."""
        for elements in lists:
            self.bare([a for a in elements if isinstance(a, list)])
            for counted, loop in self.wrapped:
                for i, element in enumerate(elements):
                    if element is counted:
                        elements[i] = loop


class _Module:
    def __init__(self, loops, module):
        self._loops, self._module = loops, module

    def __getattr__(self, name):
        value = getattr(self._module, name)
        return self._loops.counting(value) if callable(value) else value


@micropython.viper
def _idle(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    pass


def _in_loops(forms):
    """Return the ticks inside the loops of one run, without the overhead of calling them."""
    from mpconnxr import forms as chosen

    loops = _Loops(chosen)
    chosen.get = loops.module
    model = mpconnxr.load("model.bin", verify=False, prefer=forms)
    fill(model.inputs)
    model.run()
    fill(model.inputs)
    loops.wrapped = None
    loops.clear()
    gc.collect()
    model.run()
    ticks, calls = loops.ticks, loops.calls
    idle, p = loops.counting(_idle), memoryview(bytearray(4))
    least = LIMIT
    for _ in range(_CALLS):
        loops.clear()
        idle(p, p, p, p)
        least = min(least, loops.ticks)
    return ticks - calls * least


def main(forms, repeat):
    """Load and run model.bin, and print the counts."""
    gc.collect()
    before = gc.mem_alloc()
    model = mpconnxr.load("model.bin", verify=False, prefer=forms)
    gc.collect()
    loaded = gc.mem_alloc() - before
    for _ in range(repeat):
        fill(model.inputs)
        model.run()
    fill(model.inputs)
    empty = -(ticks(COUNTER) - ticks(COUNTER)) & LIMIT
    counts = [_counted(model)]
    fill(model.inputs)
    counts.append(_counted(model))
    fill(model.inputs)
    gc.collect()
    total = micropython.mem_total() if hasattr(micropython, "mem_total") else 0
    model.run()
    grown = micropython.mem_total() - total if hasattr(micropython, "mem_total") else None
    fill(model.inputs)
    report = {"counts": counts, "empty": empty, "heap": loaded, "grown": grown}
    report["steps"] = _by_step(model)
    del model
    gc.collect()
    start = ticks(COUNTER)
    model = mpconnxr.load("model.bin", prefer=forms)  # all modules from source are there
    report["load"] = (ticks(COUNTER) - start) & LIMIT
    del model
    gc.collect()
    # plain loops are the interpreter's, too
    report["loops"] = _in_loops(forms) if COUNTER and "plain" not in forms else None
    print(json.dumps(report))


main([form for form in sys.argv[1].split(",") if form], int(sys.argv[2]))
