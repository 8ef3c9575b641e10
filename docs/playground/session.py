"""Functions that the playground's worker calls in MicroPython; each returns JSON.

The worker calls `load`, then `fill`, and then `go` until that returns results. Garbage is
collected between two calls, never during one. An error is an object that has only "error".
"""

import json
from time import ticks_ms

import mpconnxr
from mpconnxr import golden
from mpconnxr.build.reader import CHUNK_GOLDEN, CHUNK_NODES, Reader
from mpconnxr.build.records import STORAGE_ARENA
from mpconnxr.feed import fill_one
from mpconnxr.inspect.kernels import Listing
from mpconnxr.slices import Slices
from mpconnxr.tensor import is_narrow

_ALIGNMENT = 16  # bytes, of a golden vector's tensors
_MOST_VALUES = 1 << 16  # elements of a tensor that the page receives
_EXACT = 1 << 53  # larger integers become text: JavaScript's numbers are doubles
_INF = float("inf")

try:
    from js import performance
except ImportError:  # not in a browser
    now = ticks_ms
else:

    def now():
        """Return milliseconds, with a fraction."""
        return performance.now()


def _answer(function):
    """Let the function return its result, or its error, as JSON."""

    def answer(*args):
        try:
            result = function(*args)
        except mpconnxr.MpconnxrError as e:
            result = {"error": str(e)}
        except MemoryError:
            result = {"error": "the model needs more memory than the page has"}
        except Exception as e:
            result = {"error": repr(e)}
        return json.dumps(result)

    return answer


class _Timed:
    """A step that adds up its time, and notes that it has run."""

    def __init__(self, session, number, inner):
        self.session, self.number, self.inner = session, number, inner
        self.ms = 0

    def step(self, lo, hi):
        start = now()
        self.inner(lo, hi)
        self.ms += now() - start
        self.session.at = self.number


class Session:
    """A model and its current run.

    Attributes:
        at: number of the step that ran last.
    """

    def __init__(self, path):
        self.path = path
        self.model = model = mpconnxr.load(path, stream=False)
        reader = Reader(path, False, extra=(CHUNK_GOLDEN,))
        self.vectors = reader.chunk(CHUNK_GOLDEN)
        self.vector_starts = _vector_starts(model, self.vectors)
        self.timed = []
        for k in range(len(model._steps)):
            n, inner = model._steps[k]
            self.timed.append(_Timed(self, k, inner))
            model._steps[k] = n, self.timed[k].step
        self.slices = Slices(model)
        self.parts = self.expected = None
        self.at = 0

    def described(self):
        """Return what the page shows of the model: inputs, outputs, steps and arena."""
        model = self.model
        listing = Listing(model, (CHUNK_NODES,))
        names = bytes(listing.chunk(CHUNK_NODES) or b"").split(b"\0")[:-1]
        if len(names) != len(listing.rows):
            names = [b""] * len(listing.rows)
        timed = {listing.steps[k][0]: k for k in range(len(listing.steps))}
        steps = []
        for k in range(len(names)):
            number, kernel, forms = listing.rows[k]
            name = str(names[k], "utf-8")
            steps.append({"step": number, "name": name, "kernel": kernel, "timed": timed.get(k)})
        return {
            "inputs": [_spec(t) for t in model.inputs],
            "outputs": [_spec(t) for t in model.outputs],
            "steps": steps,
            "arena": model.arena_nbytes,
            "state": model.state_nbytes,
            "blocks": blocks(Reader(self.path, False)),
            "vectors": len(self.vector_starts),
        }

    def fill(self, data):
        """Fill the inputs.

        Args:
            data: number of a golden vector, or a list with a dict for each input: "file" has the
                tensor's bytes, or "values" are numbers or strings; "shape" is for an open one.
        """
        self.stop()
        self.model.reset()
        self.expected = None
        if isinstance(data, int):
            at, self.expected = self.vector_starts[data]
            for t in self.model.inputs:
                t.view("B")[:] = memoryview(self.vectors)[at : at + t.nbytes]
                at += _padded(t.nbytes)
        elif len(data) != len(self.model.inputs):
            raise mpconnxr.InputError(f"the model has {len(self.model.inputs)} inputs")
        else:
            for t, values in zip(self.model.inputs, data):
                _fill(t, values)
        return {"inputs": [_shown(t) for t in self.model.inputs]}

    def stop(self):
        """End the current run, if there is one."""
        if self.parts:
            self.parts.close()
        self.parts = None

    def go(self, slice_ms):
        """Compute for about slice_ms: return {"at", "of"} until the run ends, then its results."""
        if self.parts is None:
            for t in self.timed:
                t.ms = 0
            self.at = 0
            self.parts = self.slices.run(None, slice_ms)
        try:
            next(self.parts)
            return {"at": self.at, "of": len(self.timed)}
        except StopIteration:
            pass
        self.parts = None
        outputs = [_shown(t) for t in self.model.outputs]
        if self.expected is not None:
            self._compare(outputs)
        return {"outputs": outputs, "ms": [t.ms for t in self.timed]}

    def _compare(self, outputs):
        """Add onnxruntime's outputs, and the distance from them."""
        at = self.expected
        _, bounds, _ = golden._head(self.vectors, self.model)
        for t, shown, bound in zip(self.model.outputs, outputs, bounds):
            error, largest = golden._compared(t, self.vectors, at)
            shown["largest"] = largest
            shown["agrees"] = error <= bound
            shown["difference"] = _number(error)
            if hasattr(t, "view"):
                shown["wanted"] = _values(t.like(self.vectors, at))
            at += _padded(golden._nbytes(t, self.vectors, at))


class _Blocks:
    """Values in the arena.

    A tensor may be part of another one, or consist of several: what counts is memory.

    Attributes:
        values: [offset, end, first step, last step, shape] of each value.
    """

    def __init__(self, reader):
        self.reader = reader
        self.values = []
        self._alive = []  # those not overwritten

    def write(self, i, n):
        self._put(i, n, [b for b in self._alive if not self._overlaps(i, b)])

    def read(self, i, n):
        sources = [b for b in self._alive if self._overlaps(i, b)]
        for block in sources:
            block[3] = n
        if not sources:
            self._put(i, n, self._alive)

    def _overlaps(self, i, block):
        info = self.reader.tensors[i]
        in_arena = info.storage == STORAGE_ARENA
        return in_arena and info.offset < block[1] and block[0] < info.offset + info.nbytes

    def _put(self, i, n, alive):
        info = self.reader.tensors[i]
        self._alive = alive
        if info.storage == STORAGE_ARENA and info.nbytes:
            shape = [d if d >= 0 else None for d in info.shape]
            self.values.append([info.offset, info.offset + info.nbytes, n, n, shape])
            self._alive.append(self.values[-1])


def blocks(reader):
    """Return offset, bytes, first and last step of each value in the arena.

    Step -1 is before the first one, when inputs are filled; outputs are read after the last one.
    """
    memory, n = _Blocks(reader), 0
    for i in reader.inputs:
        memory.write(i, -1)
    for node in reader.nodes():
        for i in list(node[1]) + _in_bodies(reader, node):
            memory.read(i, n)
        written = list(node[2]) + list(node[3])
        for k in range(len(written)):
            if written[k] not in written[:k]:
                memory.write(written[k], n)
        n += 1
    for i in reader.outputs:
        memory.read(i, n)
    names = ("offset", "end", "first", "last", "shape")
    values = [dict(zip(names, block)) for block in memory.values]
    for block in values:
        block["nbytes"] = block.pop("end") - block["offset"]
    return values


def _in_bodies(reader, node):
    """Return the numbers of the tensors that nodes in a node's bodies read or write."""
    numbers = []
    for body in node[5]:
        for inner in reader.nodes(body):
            numbers += list(inner[1]) + list(inner[2]) + list(inner[3]) + _in_bodies(reader, inner)
    return numbers


def _vector_starts(model, vectors):
    """Return (start of its inputs, start of its outputs) for each golden vector."""
    if not vectors:
        return []
    n, _, at = golden._head(vectors, model)
    starts = []
    for _ in range(n):
        inputs_at = at
        for t in model.inputs:
            at += _padded(t.nbytes)
        starts.append((inputs_at, at))
        for t in model.outputs:
            at += _padded(golden._nbytes(t, vectors, at))
    return starts


def _padded(nbytes):
    return nbytes + -nbytes % _ALIGNMENT


def _spec(t):
    """Return a tensor's description; None in the shape is a dim that the caller determines."""
    shape = [d if d >= 0 else None for d in getattr(t, "raw", t.shape)]
    return {
        "name": t.name,
        "dtype": t.dtype,
        "shape": shape,
        "scale": getattr(t, "scale", None),
        "zero_point": getattr(t, "zero_point", None),
    }


def _fill(t, data):
    shape = data.get("shape")
    if "file" not in data:
        is_open = hasattr(t, "set_shape") and shape
        fill_one(t, (data["values"], tuple(shape)) if is_open else data["values"])
        return
    if hasattr(t, "set_shape"):
        t.set_shape(tuple(shape))
    with open(data["file"], "rb") as f:
        content = f.read()
    if len(content) != t.nbytes:
        raise mpconnxr.InputError(f"{t.name}: needs {t.nbytes} bytes, not {len(content)}")
    t.view("B")[:] = content


def _shown(t):
    return _spec(t) | {"shape": list(t.shape), "values": _values(t), "nelem": t.nelem}


def _values(t):
    """Return numbers and texts; for a map a list of [key, value]."""
    if hasattr(t, "view"):
        values = t.floats() if is_narrow(t.dtype) else t.data[:_MOST_VALUES]
        return [_number(v) for v in values[:_MOST_VALUES]]
    if t.dtype == "string":
        return list(t.data[:_MOST_VALUES])
    maps = t.data if isinstance(t.data, list) else [t.data]
    return [[[key, _number(x[key])] for key in x] for x in maps]


def _number(v):
    """Return v, or its text if JSON or JavaScript's numbers cannot represent it."""
    if isinstance(v, int):
        return v if -_EXACT < v < _EXACT else str(v)
    return v if isinstance(v, str) or -_INF < v < _INF else str(v)


class _One:
    session = None


@_answer
def load(path):
    """Load a model file; return what the page shows of it."""
    _One.session = Session(path)
    return _One.session.described()


@_answer
def fill(text):
    """Fill the inputs with JSON text; return their values, or an error."""
    return _One.session.fill(json.loads(text))


@_answer
def go(slice_ms):
    """Run for so many milliseconds; return the progress or the results."""
    return _One.session.go(slice_ms)
