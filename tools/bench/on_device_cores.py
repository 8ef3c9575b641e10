"""Run on MicroPython: count each core's work in a run of a program for two cores; print JSON.

One core makes the calls of both cores, from one meeting to the next. The cost of handing work over
is counted separately.
"""

import gc
import json

from on_device_ticks import COUNTER, LIMIT, fill, ticks

import mpconnxr

try:
    from mpconnxr import cores
except AttributeError:
    cores = None  # a program for one core

_ALL = 0x1FFFFFFF
_MODE, _LEFT, _ENDS = 0, 7, 6


def _since(start):
    return (ticks(COUNTER) - start) & LIMIT


def _first(model):
    """Return the calls of the first core (renaming may have shortened the attribute's name)."""
    return model.__dict__.get("values") or model._what


def _rewind(what):
    words = what[1]
    words[0] = words[3] = words[4] = 0


def _part(what):
    """Run one core's calls up to the next meeting and return the ticks."""
    what[1][1] = _ALL
    start = ticks(COUNTER)
    cores.run(what)
    return _since(start)


def _parts(model):
    """Return the (first core's, second core's) ticks between meetings."""
    parts = []
    _rewind(_first(model))
    _rewind(model._second)
    cores.shared[_MODE] = 0
    while True:
        cores.shared[_LEFT] = -1
        one = _part(_first(model))
        if cores.shared[_LEFT] < 0:
            return parts + [(one, 0)]
        parts.append((one, _part(model._second)))


def _nothing(what):
    """Act as the runner without making calls: mark the work of both cores as finished."""
    cores.shared[4] = cores.shared[3]
    return 255


def _only(what):
    """End the second core's loop after one run."""
    cores.shared[_ENDS] = 1


def _around(model):
    """Return the ticks of a run on two cores without its calls."""
    run, cores.run = cores.run, _nothing
    model.cores = 2
    start = ticks(COUNTER)
    model.run()
    spent = _since(start)
    cores.run = run
    model.cores = 1
    return spent


def _notices():
    """Return the ticks of one iteration of the second core's loop that waits for work."""
    cores.shared[_ENDS], cores.shared[3], cores.shared[4] = 0, 1, 0
    start = ticks(COUNTER)
    cores.attend(cores.shared, [None], _only, cores.fence)
    return _since(start)


def _meetings(model, mode):
    """Return the ticks of a meeting at which the other core waits already."""
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
    """Load and run model.bin, and print the counts."""
    model = mpconnxr.load("model.bin")
    report = {}
    if cores:
        for _ in range(2):
            fill(model.inputs)
            gc.collect()
            report["parts"] = _parts(model)
        report["around"] = _around(model)
        report["around"] = _around(model)
        report["notices"] = _notices()
        report["meeting"] = _meetings(model, 1) - _meetings(model, 0)
    else:
        for _ in range(2):
            fill(model.inputs)
            gc.collect()
            start = ticks(COUNTER)
            model.run()
            report["run"] = _since(start)
    report["empty"] = -(ticks(COUNTER) - ticks(COUNTER)) & LIMIT
    print(json.dumps(report))


main()
