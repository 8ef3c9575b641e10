"""The parts of MicroPython that CPython lacks, so that models run there in plain loops.

mpconnxr imports it on CPython alone, before its other modules; no board gets it. The placeholders
do nothing, or the same as MicroPython's functions, and only take names that CPython leaves free.
They last: a kernel may look for `const`, or the clock, at any time.
"""

import builtins
import errno
import gc
import importlib
import os
import sys
import time
import zlib
from bdb import BdbQuit
from types import ModuleType

from . import turn

_TYPES = ("ptr", "ptr8", "ptr16", "ptr32", "uint")  # that viper knows
_DECORATORS = ("native", "viper", "asm_thumb", "asm_rv32", "asm_xtensa", "bytecode")
_TICKS_PERIOD = 1 << 62  # as on a machine of 64 bits


def _same(what, **_):
    return what


def _threshold(nbytes=-1):
    """Replace gc.threshold, which in CPython counts objects. -1: no threshold is set."""
    return -1


def _mem_free():
    """Replace gc.mem_free; CPython does not know that number, which a message shows."""
    return 0


def _ticks_us():
    return time.perf_counter_ns() // 1000 % _TICKS_PERIOD


def _ticks_diff(end, start):
    half = _TICKS_PERIOD // 2
    return (end - start + half) % _TICKS_PERIOD - half


def _sleep_us(us):
    time.sleep(us / 1e6)


class _DeflateIO:
    """Replace deflate.DeflateIO for a stream of raw data, which is read byte by byte."""

    def __init__(self, stream, _, bits):
        self._stream, self._more = stream, zlib.decompressobj(-bits)

    def readinto(self, buffer):
        n = 0
        while n < len(buffer) and not self._more.eof:
            try:
                result = self._more.decompress(self._next(), len(buffer) - n)
            except zlib.error as e:
                raise OSError(errno.EINVAL) from e
            buffer[n : n + len(result)] = result
            n += len(result)
        return n

    def _next(self):
        """Return the output that is left from the last byte, or that of the next one."""
        if self._more.unconsumed_tail:
            return self._more.unconsumed_tail
        byte = bytearray(1)
        if not self._stream.readinto(byte):
            raise EOFError
        return bytes(byte)


def _deflate():
    module = ModuleType("deflate", "A placeholder by mpconnxr.cpython.")
    module.RAW, module.DeflateIO = 1, _DeflateIO
    return module


def _install():
    module = ModuleType("micropython", "A placeholder by mpconnxr.cpython.")
    vars(module).update(dict.fromkeys((*_DECORATORS, "const"), _same))
    sys.modules.setdefault("micropython", module)
    sys.modules.setdefault("deflate", _deflate())
    names = dict.fromkeys(_TYPES, object) | {"const": _same}
    clock = {"ticks_us": _ticks_us, "ticks_diff": _ticks_diff, "sleep_us": _sleep_us}
    memory = {"threshold": _threshold, "mem_free": _mem_free}
    for place, functions in ((builtins, names), (time, clock), (gc, memory)):
        for name, function in functions.items():
            if not hasattr(place, name):
                setattr(place, name, function)


_install()

# What the package has on a computer alone, where its tools are installed: mpconnxr_host/api.py.
_OF_TOOLS = (
    "ConvertedModel", "ConvertError", "DeployError", "UsageError", "advise", "boards", "compare",
    "RunError", "convert", "evaluate", "flash", "quantize", "report", "targets",
)  # fmt: skip


def on_computers(load, find):
    """Return load and __getattr__ of the package, as they are on a computer.

    There a path may be an os.PathLike, a model may be what `convert` returned, and the package has
    the names of its tools.
    """

    def load_any(source, *args, **kwargs):
        if isinstance(source, os.PathLike):
            source = os.fspath(source)
        return load(getattr(source, "model_file", source), *args, **kwargs)

    def find_any(name):
        if name not in _OF_TOOLS:
            return find(name)
        try:
            api = importlib.import_module("mpconnxr_host.api")
        except ModuleNotFoundError as e:
            if e.name != "mpconnxr_host":
                raise
            raise AttributeError(f"mpconnxr.{name}: install mpconnxr with pip") from None
        return getattr(api, name)

    load_any.__doc__, load_any.__name__ = load.__doc__, load.__name__
    load_any.__wrapped__ = load
    return load_any, find_any


def _run(self, x=None, deadline_us=None):
    if "numpy" in sys.modules and x is not None:
        try:
            arrays = importlib.import_module("mpconnxr_host.arrays")
        except ModuleNotFoundError:
            arrays = None  # a copy of the package alone
        if arrays and arrays.has_arrays(x):
            return arrays.run(run_on_board, self, x, deadline_us)
    return run_on_board(self, x, deadline_us)


run_on_board, turn.run = turn.run, _run
_run.__doc__ = run_on_board.__doc__

# A debugger quits by an exception, which is no fault of the model that runs.
turn.OF_A_RUN += (BdbQuit,)
