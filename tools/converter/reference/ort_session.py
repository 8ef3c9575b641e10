"""Run models in onnxruntime as the reference: plain kernels, no graph optimizations.

onnxruntime runs in a worker process (ort_worker), which is started once and restarted after a
crash.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import pickle
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from tools import limits
from tools.made import module_arguments

from .. import external_weights
from ..errors import ConvertError
from ..load.ort_domain import release
from ..protos import bodies_of, copied, set_all
from . import exact, ort_worker, same_pads, self_test
from .exact.nodes import OrtError
from .exact.products import Products

_SECONDS = 10.0  # of CPU time for one run; models for microcontrollers take far less
_LOOKS = 0.05  # s between two checks of the worker's CPU time
_PYTHON = [sys.executable]  # command of the worker's Python


class Session:
    """A model that is open in onnxruntime.

    Attributes:
        inputs: names in the graph's order.
        outputs: names in the graph's order.
    """

    _numbers = itertools.count()

    def __init__(self, serialized: bytes, constants: Mapping[str, np.ndarray]):
        limits.at("loading the model into onnxruntime")
        self._number = next(Session._numbers)
        self._worker = _worker()
        for constant in constants.items():
            self._worker.ask("take", self._number, constant)
        self.inputs, self.outputs = self._worker.ask("open", self._number, serialized)

    def run(self, names: Sequence[str] | None, feed: Mapping[str, np.ndarray]) -> list:
        """Return the values of outputs by name; of all outputs for None.

        Raises:
            OrtError: if onnxruntime does not run the model.
        """
        limits.at("running the model in onnxruntime")
        return self._worker.ask("run", self._number, (names, dict(feed)))

    def __del__(self):
        if worker := getattr(self, "_worker", None):
            worker.forget(self._number)


def open_session(model: onnx.ModelProto) -> Session:
    """Open a session on the CPU with exact products of integers and with ONNX's padding.

    Raises:
        ImportError: if onnxruntime is not installed.
        OrtError: if onnxruntime refuses the model, or cannot compute it exactly.
    """
    if products := exact.operators_in(model):
        self_test.check(products, open_plain)
        model = exact.replaced(model, Products())
    return open_plain(same_pads.written_out(model))


def open_plain(model: onnx.ModelProto) -> Session:
    """Open a session that keeps onnxruntime's errors on this CPU.

    Raises:
        ImportError: if onnxruntime is not installed.
        OrtError: if onnxruntime refuses the model.
    """
    if not importlib.util.find_spec("onnxruntime"):
        raise ImportError("onnxruntime")
    model, constants = release(model), external_weights.constants_of(model)
    if constants:
        model = _weights_first(model)
    try:
        return Session(model.SerializeToString(), constants)
    except OrtError as e:
        newest = re.search(r"max supported IR version: (\d+)", str(e))
        if not newest:
            raise
    older = copied(model)  # models rarely use additions of new IR versions
    older.ir_version = int(newest[1])
    return Session(older.SerializeToString(), constants)


def _weights_first(model):
    """Return a copy in which the nodes that read only constants come first.

    onnxruntime orders nodes again, backwards from the outputs: of a node's inputs it first
    computes the one that comes last in the model. Float weights computed from integers would all
    be in memory at once.
    """
    copy = copied(model)
    known, first, others = {t.name for t in copy.graph.initializer}, [], []
    for node in copy.graph.node:
        is_first = bool(node.input) and known.issuperset(node.input) and not any(bodies_of(node))
        (first if is_first else others).append(node)
    set_all(copy.graph.node, first + others)
    return copy


class _Worker:
    def __init__(self):
        self._owner = os.getpid()
        mode = os.environ.get("MPCONNXR_ORT", "exact")
        if mode not in ort_worker.MODES:
            modes = " or ".join(ort_worker.MODES)
            raise ConvertError(f"environment variable MPCONNXR_ORT is {mode!r}: use {modes}")
        self._child = subprocess.Popen(
            [*_PYTHON, *module_arguments(ort_worker.__name__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._closed: list[int] = []

    def is_usable(self) -> bool:
        """Return True unless this process was forked or the worker has ended."""
        return self._owner == os.getpid() and self._child.poll() is None

    def forget(self, number: int) -> None:
        """Close a session with the next request; `__del__` may call this at any time."""
        self._closed.append(number)

    def ask(self, verb: str, number: int, value):
        """Send a request and return the answer.

        Raises:
            OrtError: if onnxruntime raises an error or crashes.
            ConvertError: if it takes too long.
        """
        while self._closed:
            self._exchange("close", self._closed.pop(), None)
        return self._exchange(verb, number, value)

    def _exchange(self, verb, number, value):
        try:
            ort_worker.send(self._child.stdin, (verb, number, value))
            (nbytes,) = ort_worker.LENGTH.unpack(self._read(ort_worker.LENGTH.size))
            is_done, copy = pickle.loads(self._read(nbytes))
        except (BrokenPipeError, EOFError):
            raise OrtError("Crash", self._how_it_ended()) from None
        if is_done:
            return copy
        raise OrtError(*copy)

    def _read(self, nbytes):
        """Read from the worker. Raises EOFError if it ended, ConvertError if it takes too long."""
        start, data = self._seconds(), b""
        while len(data) < nbytes:
            if select.select([self._child.stdout], [], [], _LOOKS)[0]:
                chunk = os.read(self._child.stdout.fileno(), nbytes - len(data))
                if not chunk:
                    raise EOFError
                data += chunk
            elif self._seconds() - start > limits.patience(_SECONDS):
                self._child.kill()
                raise ConvertError(limits.too_long("running the model in onnxruntime"))
        return data

    def _seconds(self):
        return limits.usage(self._child.pid)[1] or time.monotonic()

    def _how_it_ended(self):
        code = self._child.wait()
        why = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        return f"it crashed ({why})"


_running: _Worker | None = None  # the worker of this process, shared by all sessions


def _worker():
    global _running
    if _running is None or not _running.is_usable():
        _running = _Worker()
    return _running


def confirm(model: onnx.ModelProto, doubt: str) -> None:
    """Refuse a model that breaks ONNX's rules according to both onnx and onnxruntime.

    Args:
        model: the model as it was loaded.
        doubt: the objection of onnx's inference, which alone does not count: it is too strict for
            sizes that only a run knows.

    Raises:
        ConvertError: if onnxruntime refuses the model too.
    """
    try:
        open_session(model)
    except ImportError:
        return
    except OrtError as e:  # other kinds mean that onnxruntime lacks something
        if e.kind in _INVALID and "not a registered" not in str(e):
            raise ConvertError(f"the model breaks ONNX's rules: {doubt}") from None


_INVALID = ("InvalidGraph", "InvalidArgument", "Fail")
