"""Runs on MicroPython: counts one steady-state run, and what it takes of the heap.

Arguments: the forms to prefer, with commas; how often to run before. Prints one JSON object. On
this computer the host counts, by running this with another number of runs.
"""

import gc
import json
import sys

import micropython

import mpconnxr

_COUNTER = COUNTER  # noqa: F821 - an address, written here by the host; 0: time.ticks_cpu() counts


if _COUNTER:

    @micropython.viper
    def _ticks(address: int) -> int:
        counter = ptr32(address)
        i = 0
        return int(counter[i])

    _LIMIT = 0xFFFFFFFF

else:
    import time

    def _ticks(address):
        return time.ticks_cpu()

    _LIMIT = 0x3FFFFFFF


def _fill(model):
    for i, t in enumerate(model.inputs):
        with open(f"x{i}", "rb") as f:
            f.readinto(t.view("B"))


def _counted(model):
    """Ticks of one run; the counter goes around."""
    start = _ticks(_COUNTER)
    model.run()
    return (_ticks(_COUNTER) - start) & _LIMIT


def _by_step(model):
    """Ticks of each step of one run."""
    ticks = []
    if model._runtime:
        model._runtime.start()
    for n, step in model._steps:
        start = _ticks(_COUNTER)
        step(0, n)
        ticks.append((_ticks(_COUNTER) - start) & _LIMIT)
    return ticks


def main(forms, repeat):
    gc.collect()
    before = gc.mem_alloc()
    model = mpconnxr.load("model.bin", verify=False, prefer=forms)
    gc.collect()
    loaded = gc.mem_alloc() - before
    for _ in range(repeat):
        _fill(model)
        model.run()
    _fill(model)
    empty = -(_ticks(_COUNTER) - _ticks(_COUNTER)) & _LIMIT
    counts = [_counted(model)]
    _fill(model)
    counts.append(_counted(model))
    _fill(model)
    gc.collect()
    total = micropython.mem_total() if hasattr(micropython, "mem_total") else 0
    model.run()
    grown = micropython.mem_total() - total if hasattr(micropython, "mem_total") else None
    _fill(model)
    found = {"counts": counts, "empty": empty, "heap": loaded, "grown": grown}
    print(json.dumps(dict(found, steps=_by_step(model))))


main([form for form in sys.argv[1].split(",") if form], int(sys.argv[2]))
