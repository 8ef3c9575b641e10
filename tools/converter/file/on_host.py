"""The device's package under CPython: what it needs there, and a loader that says where it is.

Loops are in their plain form, with the stand-ins of mpconnxr/cpython.py. Widening and unpacking of
weights are numpy's, as they would take minutes.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tools.format import layout

from .. import own
from ..ir import packed_bits

_OPS = "mpconnxr.ops"
_lock = threading.RLock()


class TooLarge(Exception):
    """This computer has too little memory for the model."""


@contextmanager
def package(ops: Path | None) -> Iterator[list[tuple[str, str]]]:
    """While it lasts, mpconnxr loads models here, also those of users' kernels in a folder.

    Gives (kernel, why) of those that cannot be imported here; their steps are not looked at.
    """
    with _lock, _fast(), _kernels_of(ops) as unknown:
        yield unknown


@contextmanager
def _fast():
    """What makes large weights ready for use, in numpy: item by item it takes minutes."""
    from mpconnxr.build import unpack, widen

    usual = widen.widened, unpack.unpacked
    widen.widened, unpack.unpacked = _widened, _unpacked
    try:
        yield
    finally:
        widen.widened, unpack.unpacked = usual


def _widened(contents, buffer):
    buffer[:] = np.frombuffer(contents, "<f2").astype("<f4").tobytes()
    return buffer


def _unpacked(buffer, offset, dtype, nbytes):
    bits = packed_bits(dtype)
    raw = bytes(memoryview(buffer)[offset : offset + -(-nbytes * bits // 8)])
    codes = layout.unpacked(raw, np.dtype(np.uint8), bits, nbytes)
    is_signed = dtype in (22, 26)
    half = 1 << bits - 1
    return bytearray(((codes ^ half) - half if is_signed else codes).tobytes())


@contextmanager
def _kernels_of(ops):
    """Users' kernels as modules of mpconnxr.ops; gives (name, why) of those that are none here."""
    names, unknown = [Path(file).stem for file in own.kernels_in(ops)], []
    if not names:
        yield []
        return
    package = importlib.import_module(_OPS)
    package.__path__.append(str((ops / "device").resolve()))
    try:
        for name in names:
            try:
                importlib.import_module(f"{_OPS}.{name}")
            except Exception as e:  # the user's own code, made for another machine
                unknown.append((name, f"{type(e).__name__}: {e}"))
                sys.modules[f"{_OPS}.{name}"] = _unknown(name)
        yield unknown
    finally:
        package.__path__.pop()
        _forget(package, names)


def _forget(package, names):
    for name in names:
        sys.modules.pop(f"{_OPS}.{name}", None)
        vars(package).pop(name, None)


def _unknown(name):
    """A kernel that takes everything and says nothing."""
    module: Any = ModuleType(f"{_OPS}.{name}")
    module.STREAMS, module.OBJECTS = range(1 << 16), True
    module.prepare = lambda node: (0, None)
    return module


def load(source, path: list[int], own_kernels: Collection[str] = ()) -> list[str]:
    """Loads a model's bytes, or a file from which its weights are streamed, as a board does.

    path: takes the step at which the loader is: its number, a body's in it, a step's in that, ...;
    own_kernels: users'. Returns notes on steps whose kernel is no judge here. Raises TooLarge,
    MpconnxrError.
    """
    from mpconnxr.build.reader import Reader

    reader = None
    try:
        reader = Reader(source, stream=True)
        loader = _loader()(reader, bytearray(reader.arena_nbytes), path, own_kernels)
        loader.prepare_open()
        return loader.notes
    except Exception as e:
        if _lacks_memory(e):
            raise TooLarge("not enough memory") from None
        raise
    finally:
        if reader is not None and reader.stream:
            reader.stream.close()


def _renew(step, sizes):
    """Prepares a step of run-time dims of these sizes. Raises MpconnxrError."""
    step.values[:] = sizes
    step.renew()


def _lacks_memory(e):
    while e is not None:
        if isinstance(e, MemoryError):
            return True
        e = e.__context__
    return False


def _loader():
    """The class; its base is not imported before it is needed."""
    from mpconnxr.build.loader import Loader
    from mpconnxr.errors import ModelError, MpconnxrError

    class Following(Loader):
        """notes: see load. A step whose sizes its callers decide is prepared, too, for the most
        items and for one of each: boards do so in a run.
        """

        def __init__(self, reader, arena, path, own_kernels):
            self.notes, self._open = [], []
            self._path, self._own = path, own_kernels
            Loader.__init__(self, reader, arena)

        def _prepare_all(self, reader, body=None):
            if body:
                self._path[-1] += 1
            return Loader._prepare_all(self, reader, body)

        def _prepare(self, reader, index, node):
            depth = len(self._path)
            self._path += [index, -1]  # behind a step the body that is being prepared
            try:
                made = Loader._prepare(self, reader, index, node)
            except ModelError as e:
                cause = e.__context__
                if node[0] not in self._own or cause is None or isinstance(cause, MpconnxrError):
                    raise
                self.notes.append(f"--ops: kernel {node[0]} is not checked here: {e}")
                made = 0, None
            del self._path[depth:]
            return made

        def _follow(self, module, node, place):
            made = Loader._follow(self, module, node, place)
            step = getattr(made[1], "__self__", None)
            if self.runtime and hasattr(step, "renew"):
                self._open.append(([*self._path], step))
            return made

        def prepare_open(self):
            runtime = self.runtime
            for path, step in self._open:
                if not step.dims or set(step.dims) - set(runtime._given):
                    continue  # what other steps find decides them
                self._path[:] = path
                try:
                    _renew(step, runtime.bounds)
                except MpconnxrError:
                    _renew(step, [1] * len(runtime.bounds))
            self._path.clear()

    return Following
