"""Run the device's package under CPython, and load files with it step by step.

Loops have their plain form, with the placeholders of mpconnxr/cpython.py. Weights are widened and
unpacked by numpy, since plain loops would take minutes.
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
    """Make mpconnxr load models here, with the users' kernels of a folder, during the context.

    Yields:
        (kernel, why) of those kernels that cannot be imported here; their steps are not checked.
    """
    with _lock, _fast(), _kernels_of(ops) as unknown:
        yield unknown


@contextmanager
def _fast():
    """Replace the preparation of large weights by numpy; element by element it takes minutes."""
    from mpconnxr.build import unpack, widen

    originals = widen.widened, unpack.unpacked
    widen.widened, unpack.unpacked = _widened, _unpacked
    try:
        yield
    finally:
        widen.widened, unpack.unpacked = originals


def _widened(contents, buffer):
    """Fill a buffer with the float32 values of float16 `contents`, as build.widen.widened does."""
    buffer[:] = np.frombuffer(contents, "<f2").astype("<f4").tobytes()
    return buffer


def _unpacked(buffer, offset, dtype, nbytes):
    """Return elements of less than a byte as bytes, as build.unpack.unpacked does."""
    bits = packed_bits(dtype)
    raw = bytes(memoryview(buffer)[offset : offset + -(-nbytes * bits // 8)])
    codes = layout.unpacked(raw, np.dtype(np.uint8), bits, nbytes)
    is_signed = dtype in (22, 26)
    half = 1 << bits - 1
    return bytearray(((codes ^ half) - half if is_signed else codes).tobytes())


@contextmanager
def _kernels_of(ops):
    """Make the kernels in the folder `ops` modules of mpconnxr.ops until the context ends.

    Yields:
        A list of (name, why) of the kernels whose import failed. Each is replaced by a kernel that
        accepts every step.
    """
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
            except Exception as e:  # the user's own code, which may be for another machine
                unknown.append((name, f"{type(e).__name__}: {e}"))
                sys.modules[f"{_OPS}.{name}"] = _unknown(name)
        yield unknown
    finally:
        package.__path__.pop()
        _forget(package, names)


def _forget(package, names):
    """Remove the modules of users' kernels, so that the next model imports its own."""
    for name in names:
        sys.modules.pop(f"{_OPS}.{name}", None)
        vars(package).pop(name, None)


def _unknown(name):
    """Return a module that replaces a kernel and accepts every step."""
    module: Any = ModuleType(f"{_OPS}.{name}")
    module.STREAMS, module.OBJECTS = range(1 << 16), True
    module.prepare = lambda node: (0, None)
    return module


def load(source, path: list[int], own_kernels: Collection[str] = ()) -> list[str]:
    """Load a model as a board does, from bytes or from a file from which weights are streamed.

    Args:
        source: bytes, or an open file.
        path: filled with the position of the loader: number of a step, of a body in it, of a
            step in this body, and so on.
        own_kernels: names of the user's kernels.

    Returns:
        Notes on steps whose kernels cannot be checked here.

    Raises:
        TooLarge: if this computer has too little memory.
        MpconnxrError: if a board would refuse the model.
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
    """Prepare a step with run-time dims of these sizes."""
    step.values[:] = sizes
    step.renew()


def _lacks_memory(e):
    while e is not None:
        if isinstance(e, MemoryError):
            return True
        e = e.__context__
    return False


def _loader():
    """Return the loader class; its base is imported only when needed."""
    from mpconnxr.build.loader import Loader
    from mpconnxr.errors import ModelError, MpconnxrError

    class Following(Loader):
        """A loader that notes its position, and also prepares steps whose sizes callers decide.

        It prepares such steps for the largest sizes, or for sizes of 1; boards do so in a run. For
        notes see `load`.
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
            self._path += [index, -1]  # the body that is being prepared follows the step
            try:
                prepared = Loader._prepare(self, reader, index, node)
            except ModelError as e:
                cause = e.__context__
                if node[0] not in self._own or cause is None or isinstance(cause, MpconnxrError):
                    raise
                self.notes.append(f"--ops: kernel {node[0]} is not checked here: {e}")
                prepared = 0, None
            del self._path[depth:]
            return prepared

        def _follow(self, module, node, place):
            prepared = Loader._follow(self, module, node, place)
            step = getattr(prepared[1], "__self__", None)
            if self.runtime and hasattr(step, "renew"):
                self._open.append(([*self._path], step))
            return prepared

        def prepare_open(self):
            runtime = self.runtime
            for path, step in self._open:
                if not step.dims or set(step.dims) - set(runtime._decided):
                    continue  # other steps compute them
                self._path[:] = path
                try:
                    _renew(step, runtime.bounds)
                except MpconnxrError:
                    _renew(step, [1] * len(runtime.bounds))
            self._path.clear()

    return Following
