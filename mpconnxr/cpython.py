"""What CPython lacks of MicroPython, so that models run there, too, in plain loops.

mpconnxr imports it on CPython alone, before its other modules; no board gets it. The stand-ins do
nothing, or what MicroPython's namesakes do, and are there only under names that CPython leaves
free. They last: a kernel may look for `const`, or the clock, at any time.
"""

import builtins
import gc
import sys
import time
from bdb import BdbQuit
from types import ModuleType

from . import errors

_TYPES = ("ptr", "ptr8", "ptr16", "ptr32", "uint")  # that viper knows
_DECORATORS = ("native", "viper", "asm_thumb", "asm_rv32", "asm_xtensa", "bytecode")
_TICKS_PERIOD = 1 << 62  # as on a machine of 64 bits


def _same(what, **_):
    return what


def _threshold(nbytes=-1):
    """gc.threshold, which CPython has for numbers of objects: -1, none is set."""
    return -1


def _mem_free():
    """gc.mem_free, for a message: nobody knows it here."""
    return 0


def _ticks_us():
    return time.perf_counter_ns() // 1000 % _TICKS_PERIOD


def _ticks_diff(end, start):
    half = _TICKS_PERIOD // 2
    return (end - start + half) % _TICKS_PERIOD - half


def _sleep_us(us):
    time.sleep(us / 1e6)


def _install():
    module = ModuleType("micropython", "A stand-in by mpconnxr.cpython.")
    vars(module).update(dict.fromkeys((*_DECORATORS, "const"), _same))
    sys.modules.setdefault("micropython", module)
    names = dict.fromkeys(_TYPES, object) | {"const": _same}
    clock = {"ticks_us": _ticks_us, "ticks_diff": _ticks_diff, "sleep_us": _sleep_us}
    memory = {"threshold": _threshold, "mem_free": _mem_free}
    for place, given in ((builtins, names), (time, clock), (gc, memory)):
        for name, stand_in in given.items():
            if not hasattr(place, name):
                setattr(place, name, stand_in)


_install()

# A debugger quits by an exception, which is no fault of the model that runs.
errors.OF_A_RUN += (BdbQuit,)

# Loops that are written once are compiled again where viper made them native code. Here they are
# plain Python as they were imported, and only those have lines that a debugger can show.
from . import forms  # noqa: E402  it needs the stand-ins

forms._undecorated = lambda name: None
