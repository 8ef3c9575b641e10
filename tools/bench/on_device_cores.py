"""Runs on MicroPython: counts what each core does in a run of a program for two.

One core makes the calls of both, from one meeting to the next; what it takes to hand work over is
counted by itself. Prints one JSON object.
"""

import gc
import json

from on_device_ticks import COUNTER, LIMIT, fill, ticks

import mpconnxr

try:
    from mpconnxr import cores
except AttributeError:
    cores = None  # of a program for one core

_ALL = 0x1FFFFFFF
_MODE, _LEFT, _ENDS = 0, 7, 6


def _since(start):
    return (ticks(COUNTER) - start) & LIMIT


def _first(model):
    """What the first core runs; a board has another name for it."""
    return model.__dict__.get("values") or model._what


def _rewind(what):
    words = what[1]
    words[0] = words[3] = words[4] = 0


def _part(what):
    """Ticks until the next meeting."""
    what[1][1] = _ALL
    start = ticks(COUNTER)
    cores.run(what)
    return _since(start)


def _parts(model):
    """[(ticks of the first core, of the second)] between meetings."""
    found = []
    _rewind(_first(model))
    _rewind(model._second)
    cores.shared[_MODE] = 0
    while True:
        cores.shared[_LEFT] = -1
        one = _part(_first(model))
        if cores.shared[_LEFT] < 0:
            return found + [(one, 0)]
        found.append((one, _part(model._second)))


def _nothing(what):
    """In the place of a run: both cores have done it."""
    cores.shared[4] = cores.shared[3]
    return 255


def _only(what):
    """The second core's only run."""
    cores.shared[_ENDS] = 1


def _around(model):
    """Ticks of a run on two cores without its calls."""
    run, cores.run = cores.run, _nothing
    model.cores = 2
    start = ticks(COUNTER)
    model.run()
    found = _since(start)
    cores.run = run
    model.cores = 1
    return found


def _notices():
    """Ticks from the second core's look at what it is asked for to its next one."""
    cores.shared[_ENDS], cores.shared[3], cores.shared[4] = 0, 1, 0
    start = ticks(COUNTER)
    cores.attend(cores.shared, [None], _only, cores.fence)
    return _since(start)


def _meetings(model, mode):
    """Ticks of a meeting to which the other core has come before."""
    meet = [e for e in _first(model)[2][0] if e[3] == 1 and e[4] is cores.idle][0]
    f, _, words, me, idle = meet
    least = LIMIT
    shared = cores.shared
    for _ in range(3):
        shared[_MODE], shared[1], shared[2] = mode, 0, 1
        start = ticks(COUNTER)
        f(shared, words, me, idle)
        least = min(least, _since(start))
    shared[_MODE] = 0
    return least


def main():
    """Load and run model.bin, and print what was counted."""
    model = mpconnxr.load("model.bin")
    found = {}
    if cores:
        for _ in range(2):
            fill(model.inputs)
            gc.collect()
            found["parts"] = _parts(model)
        found["around"] = _around(model)
        found["around"] = _around(model)
        found["notices"] = _notices()
        found["meeting"] = _meetings(model, 1) - _meetings(model, 0)
    else:
        for _ in range(2):
            fill(model.inputs)
            gc.collect()
            start = ticks(COUNTER)
            model.run()
            found["run"] = _since(start)
    found["empty"] = -(ticks(COUNTER) - ticks(COUNTER)) & LIMIT
    print(json.dumps(found))


main()
