"""Random calls of all loops on the host, from tools.check.loops and plain_calls."""

import importlib
import sys
from array import array
from itertools import cycle, islice

from tests.host import plain_calls
from tools import access
from tools.check.loops import CALLS, data, written_by_hand
from tools.check.recipes import recipes

sys.path.append(str(CALLS.parent))  # calls import each other as boards have them
Draw = importlib.import_module("calls.draw").Draw

WORDS = array("i", data())


def calls(family, name, n):
    """Yield n calls of a loop: values by the names of its arguments."""
    draw, args = Draw(WORDS, len(name) * 7919 + len(family)), access.loops(family)[name].args
    for call in islice(_calls(family, name, draw), n):
        yield call if isinstance(call, dict) else dict(zip(args, call, strict=True))


def _calls(family, name, draw):
    """Yield calls without end, as lists or dicts."""
    make = getattr(plain_calls, f"{family}_{name}", None)
    if name in written_by_hand(family):
        make = getattr(importlib.import_module(f"calls.{family}"), name)
    for recipe in cycle([None] if make else recipes(family, name)):
        yield make(draw) if make else draw.call(recipe)


def cut_calls(family, n):
    """Return source of a calls/FAMILY.py whose buffers end with the loops' declared accesses."""
    lines = ["from array import array", "", "CALLS = {}"]
    for name, loop in access.loops(family).items():
        if not loop.of_others:
            cut = [_cut(call, loop) for call in calls(family, name, n)]
            lines += ["", "", f"CALLS[{name!r}] = {cut!r}", "", "", f"def {name}(d):"]
            lines += [f"    buffers, p = CALLS[{name!r}].pop()"]
            lines += ["    return [array(c, b) if c else bytearray(b) for c, b in buffers] + [p]"]
    return "\n".join(lines) + "\n"


def _cut(call, loop):
    """Return ([(type code or "", bytes), ...], p) of a call, buffers cut to declared accesses."""
    accesses = loop.accesses(call["p"], {name: len(what) for name, what in call.items()})
    buffers = []
    for name, what in islice(call.items(), 3):
        end = max([a.high * a.nbytes for a in accesses if a.argument == name], default=0)
        whole = -(-end // getattr(what, "itemsize", 1)) * getattr(what, "itemsize", 1)
        buffers.append((getattr(what, "typecode", ""), bytes(what)[:whole]))
    return buffers, list(call["p"])
