"""Runs on MicroPython: counts one steady-state run, and what it takes of the heap.

Arguments: the forms to prefer, with commas; how often to run before. Prints one JSON object. On
this computer the host counts, by running this with another number of runs.
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
    """Ticks of one run; the counter goes around."""
    start = ticks(COUNTER)
    model.run()
    return (ticks(COUNTER) - start) & LIMIT


def _by_step(model):
    """Ticks of each step of one run."""
    found = []
    if model._runtime:
        model._runtime.start()
    for n, step in model._steps:
        start = ticks(COUNTER)
        step(0, n)
        found.append((ticks(COUNTER) - start) & LIMIT)
    return found


class _Loops:
    """Modules of loops in which each call's ticks are added up."""

    def __init__(self, forms):
        self.get, self.others = forms.get, forms.OWN
        self.wrapped = []  # (what stands for a loop, the loop); None once it has done its work
        self.clear()

    def clear(self):
        self.ticks = self.calls = 0

    def module(self, name, form=None):
        found = self.get(name, form)
        is_loop = name not in self.others
        return _Module(self, found) if is_loop else found

    def counting(self, loop):
        def counted(x, w, out=None, p=None):  # arguments as *args would be allocated
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
        """Loops that are handed to another one are part of that."""
        for items in lists:
            self.bare([a for a in items if isinstance(a, list)])
            for counted, loop in self.wrapped:
                for i, item in enumerate(items):
                    if item is counted:
                        items[i] = loop


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
    """Ticks within the loops of one run, without those that their calls take."""
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
    """Load and run model.bin, and print what was counted."""
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
    found = {"counts": counts, "empty": empty, "heap": loaded, "grown": grown}
    found["steps"] = _by_step(model)
    del model
    gc.collect()
    start = ticks(COUNTER)
    model = mpconnxr.load("model.bin", prefer=forms)  # all modules from source are there
    found["load"] = (ticks(COUNTER) - start) & LIMIT
    del model
    gc.collect()
    # plain loops are the interpreter's, too
    found["loops"] = _in_loops(forms) if COUNTER and "plain" not in forms else None
    print(json.dumps(found))


main([form for form in sys.argv[1].split(",") if form], int(sys.argv[2]))
