"""Run the golden vectors of a model file on this board: is it right here, and how fast is it?

    from mpconnxr import golden
    print(golden.verify("model.bin"))

The converter put the vectors into the file, with the outputs that onnxruntime computed, and with
the largest error that each output of a right board can have.
"""

import struct

from ..clock import clock, twin, us_of
from ..errors import ModelError, UnsupportedError
from ..rare import alone, zero
from ..tensor import is_narrow
from ..turn import SHORT, fresh

_INF = float("inf")
_ALIGNMENT = 16
_RUNS, _LONG = 5, 2  # timed runs after the first one; seconds after which none begins


class Result:
    """The result of verify, over all vectors and outputs.

    Attributes:
        vectors: number of golden vectors.
        max_error: largest absolute error.
        largest: largest magnitude in the references.
        bound: largest error that the file allows for any output.
        ok: True if the error of each output is within the file's bound for it.
        seconds: median time of a run, None if this board has no clock.
        first_seconds: time of the first run, which also imports and checks digests, or None.
    """

    def __init__(self):
        self.vectors = 0
        self.max_error = 0.0
        self.largest = 0.0
        self.bound = 0.0
        self.ok = True
        self.seconds = self.first_seconds = None

    def add(self, error, largest, bound):
        """Count the error of one output. A NaN as error counts as infinite."""
        self.max_error = max(self.max_error, error)
        self.largest = max(self.largest, largest)
        self.bound = max(self.bound, bound)
        self.ok = self.ok and error <= bound

    def __str__(self):
        time = "" if self.seconds is None else ", {:.6f} s a run".format(self.seconds)
        return "{}: {} vector(s), error {:.3g} of {:.3g}{}".format(
            "ok" if self.ok else "WRONG", self.vectors, self.max_error, self.largest, time
        )


def verify(source, arena=None):
    """Load a model, run its golden vectors, compare, and return a Result: see mpconnxr.load.

    Vectors of a file that is not in memory are read into RAM. Raises ModelError if the file has
    none.
    """
    try:
        from ..opening import opened, program

        file = opened(source)
        model = program(file, arena)
        if model is None:
            return _verified(*_with_kernels(file, arena))
        return verify_program(model, file)
    except MemoryError:
        raise fresh(SHORT)


def verify_program(model, file):
    """Verify a loaded program, as verify does for a model. file: the source of its model."""
    try:
        return _verified(model, _read(file, *model.golden))
    except MemoryError:
        raise fresh(SHORT)


def _verified(model, vectors):
    if not vectors:
        raise ModelError("the file has no golden vector: it was stripped, or had no reference")
    return alone(model, _result, model, vectors)


def _result(model, vectors):
    """Run all vectors and return the Result, within the model's turn."""
    n, bounds, at = _head(vectors, model)
    first = at
    result = Result()
    timed, time = twin(model), _clock()
    for i in range(n):
        seconds, at = _run(timed, time, vectors, at)
        if i == 0:
            result.first_seconds = seconds
        for t, bound in zip(model.outputs, bounds):
            error, largest = _compared(t, vectors, at)
            result.add(error, largest, bound)
            at += _padded(_nbytes(t, vectors, at))
    result.vectors = n
    if result.first_seconds is not None:
        result.seconds = _median_seconds(timed, time, vectors, first)
    return result


def _clock():
    """Return the module time; None on a board without one."""
    try:
        return clock()
    except UnsupportedError:
        return None


def _run(model, time, vectors, at):
    """Run one golden vector.

    Args:
        model: the model.
        time: a clock, or None.
        vectors: bytes of all vectors.
        at: offset of this one.

    Returns:
        (seconds of the run or None, offset of the vector's outputs).
    """
    for t in model.inputs:
        t.view("B")[:] = memoryview(vectors)[at : at + t.nbytes]
        at += _padded(t.nbytes)
    zero(model)
    if time:
        return us_of(model, time) / 1e6, at
    model.run()
    return None, at


def _median_seconds(model, time, vectors, at):
    """Return the median time of _RUNS runs of a vector, or of fewer runs if they take long."""
    times = []
    while len(times) < _RUNS and sum(times) < _LONG:
        times.append(_run(model, time, vectors, at)[0])
    return sorted(times)[len(times) // 2]


def _with_kernels(source, arena):
    """Load a model with its kernels; return it and its golden vectors, None without any."""
    from ..build.loader import Loader
    from ..build.reader import CHUNK_GOLDEN, Reader
    from ..model import Model

    reader = Reader(source, extra=(CHUNK_GOLDEN,), stream=True)
    return Model(Loader(reader, arena)), reader.chunk(CHUNK_GOLDEN)


def _read(source, offset, nbytes):
    """Return bytes of a file, or of its contents in memory."""
    if not hasattr(source, "readinto"):
        return memoryview(source)[offset : offset + nbytes]
    vectors = bytearray(nbytes)
    source.seek(offset)
    source.readinto(vectors)
    return vectors


def _padded(nbytes):
    return nbytes + -nbytes % _ALIGNMENT


def _head(vectors, model):
    """Return (number of vectors, largest error of each output, start of the first vector).

    Raises ModelError unless the vectors fill the chunk, and each bound is a number from 0 on.
    """
    if not all([hasattr(t, "view") for t in model.inputs]):
        raise ModelError("not a valid model file: golden inputs of strings or maps")
    n_bounds = len(model.outputs)
    start = _padded(4 + 4 * n_bounds)
    n = struct.unpack_from("<I", vectors)[0] if len(vectors) >= start else 0
    if not n or len(vectors) != _end(vectors, model, n, start):
        raise ModelError("not a valid model file: golden vectors of another size")
    bounds = struct.unpack_from("<{}f".format(n_bounds), vectors, 4)
    if not all([0.0 <= bound < _INF for bound in bounds]):  # also false for NaN
        raise ModelError("not a valid model file: bounds of golden vectors")
    return n, bounds, start


def _end(vectors, model, n, at):
    """Return the offset behind n golden vectors from offset `at` on.

    Strings and maps have their lengths in the vectors.
    """
    nbytes = sum([_padded(t.nbytes) for t in model.inputs + model.outputs])
    if all([hasattr(t, "view") for t in model.outputs]):
        return at + n * nbytes
    for _ in range(n):
        for t in model.inputs + model.outputs:
            at += _padded(_nbytes(t, vectors, at))
    return at


def _nbytes(t, vectors, at):
    """Return the bytes of the value of an input or output at an offset of the vectors."""
    if hasattr(t, "view"):
        return t.nbytes
    from . import golden_objects

    return golden_objects.nbytes(vectors, at)


def _compared(t, vectors, at):
    if hasattr(t, "view"):
        return _compare(t, t.like(vectors, at).data)
    from . import golden_objects

    return golden_objects.compare(t, vectors, at)


def _compare(t, expected):
    """Return (largest absolute error, largest finite magnitude of the reference) of an output."""
    got, error, largest = t.data, 0.0, 0.0
    kind = None
    if is_narrow(t.dtype):
        from ..io import narrow

        kind = narrow.kind(t.dtype)
    for i in range(t.nelem):
        a, b = got[i], expected[i]
        if kind:
            a, b = kind.decode(a), kind.decode(b)
        if -_INF < b < _INF:
            largest = max(largest, abs(b))
        if a != b and (a == a or b == b):  # a number is compared with another one
            difference = abs(a - b)
            error = max(error, difference if difference == difference else _INF)
    return error, largest
