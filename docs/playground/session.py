"""What the playground's worker asks MicroPython: each function returns JSON.

The worker calls `load`, then `fill` and `go` until that has a result. Between two calls garbage is
collected, which does not happen during one. An error is an object with "error" alone.
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

_ALIGNMENT = 16  # of a golden vector's parts
_MOST_VALUES = 1 << 16  # of a tensor that are shown
_EXACT = 1 << 53  # from here on integers are text: a browser's numbers do not hold them
_INF = float("inf")

try:
    from js import performance
except ImportError:  # not in a browser
    now = ticks_ms
else:

    def now():
        """Milliseconds, with a fraction."""
        return performance.now()


def _answer(function):
    """The function's result, or its error, as JSON."""

    def answer(*args):
        try:
            found = function(*args)
        except mpconnxr.MpconnxrError as e:
            found = {"error": str(e)}
        except MemoryError:
            found = {"error": "the model needs more memory than there is here"}
        except Exception as e:
            found = {"error": repr(e)}
        return json.dumps(found)

    return answer


class _Timed:
    """A step that adds up how long it takes, and notes that it is under way."""

    def __init__(self, session, number, inner):
        self.session, self.number, self.inner = session, number, inner
        self.ms = 0

    def step(self, lo, hi):
        start = now()
        self.inner(lo, hi)
        self.ms += now() - start
        self.session.at = self.number


class Session:
    """A model with the run that is under way. at: number of the step that ran last."""

    def __init__(self, path):
        self.path = path
        self.model = model = mpconnxr.load(path, stream=False)
        reader = Reader(path, False, wanted=(CHUNK_GOLDEN,))
        self.vectors = reader.chunk(CHUNK_GOLDEN)
        self.places = _places(model, self.vectors)
        self.timed = []
        for k in range(len(model._steps)):
            n, inner = model._steps[k]
            self.timed.append(_Timed(self, k, inner))
            model._steps[k] = n, self.timed[k].step
        self.slices = Slices(model)
        self.parts = self.wanted = None
        self.at = 0

    def described(self):
        """Return what the page shows of the model: its ends, steps and arena."""
        model = self.model
        listing = Listing(model, (CHUNK_NODES,))
        names = bytes(listing.chunk(CHUNK_NODES) or b"").split(b"\0")[:-1]
        if len(names) != len(listing.found):
            names = [b""] * len(listing.found)
        timed = {listing.steps[k][0]: k for k in range(len(listing.steps))}
        steps = []
        for k in range(len(names)):
            number, kernel, forms = listing.found[k]
            name = str(names[k], "utf-8")
            steps.append({"step": number, "name": name, "kernel": kernel, "timed": timed.get(k)})
        return {
            "inputs": [_spec(t) for t in model.inputs],
            "outputs": [_spec(t) for t in model.outputs],
            "steps": steps,
            "arena": model.arena_nbytes,
            "state": model.state_nbytes,
            "blocks": blocks(Reader(self.path, False)),
            "vectors": len(self.places),
        }

    def fill(self, given):
        """given: number of a golden vector, or a list with a dict for each input.

        Its "file" has the tensor's bytes, else "values" are numbers or strings; "shape" decides an
        open one.
        """
        self.stop()
        self.model.reset()
        self.wanted = None
        if isinstance(given, int):
            at, self.wanted = self.places[given]
            for t in self.model.inputs:
                t.view("B")[:] = memoryview(self.vectors)[at : at + t.nbytes]
                at += _padded(t.nbytes)
        elif len(given) != len(self.model.inputs):
            raise mpconnxr.InputError(f"the model has {len(self.model.inputs)} inputs")
        else:
            for t, values in zip(self.model.inputs, given):
                _fill(t, values)
        return {"inputs": [_shown(t) for t in self.model.inputs]}

    def stop(self):
        """End the run that is under way, if there is one."""
        if self.parts:
            self.parts.close()
        self.parts = None

    def go(self, slice_ms):
        """Computes for about so long: {"at", "of"} until the run is done, then its results."""
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
        if self.wanted is not None:
            self._compare(outputs)
        return {"outputs": outputs, "ms": [t.ms for t in self.timed]}

    def _compare(self, outputs):
        """Adds what onnxruntime gave, and how far that is away."""
        at = self.wanted
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
    """The values in the arena. A tensor may be a part of another one, or several of them together:
    what counts is memory. found: [offset, end, first step, last step, shape] of each value.
    """

    def __init__(self, reader):
        self.reader = reader
        self.found = []
        self._alive = []  # those of found that nothing was written over

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
            self.found.append([info.offset, info.offset + info.nbytes, n, n, shape])
            self._alive.append(self.found[-1])


def blocks(reader):
    """What lies in the arena: offset and bytes of each value, with its first and last step.

    -1 is before the first step, where inputs are filled; behind the last one outputs are read.
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
    found = [dict(zip(names, block)) for block in memory.found]
    for block in found:
        block["nbytes"] = block.pop("end") - block["offset"]
    return found


def _in_bodies(reader, node):
    """Numbers of the tensors that nodes in a node's bodies work on."""
    found = []
    for body in node[5]:
        for inner in reader.nodes(body):
            found += list(inner[1]) + list(inner[2]) + list(inner[3]) + _in_bodies(reader, inner)
    return found


def _places(model, vectors):
    """(where its inputs start, where its outputs do) of each golden vector."""
    if not vectors:
        return []
    n, _, at = golden._head(vectors, model)
    found = []
    for _ in range(n):
        inputs_at = at
        for t in model.inputs:
            at += _padded(t.nbytes)
        found.append((inputs_at, at))
        for t in model.outputs:
            at += _padded(golden._nbytes(t, vectors, at))
    return found


def _padded(nbytes):
    return nbytes + -nbytes % _ALIGNMENT


def _spec(t):
    """shape: None for a dim that the caller decides."""
    shape = [d if d >= 0 else None for d in getattr(t, "raw", t.shape)]
    return {
        "name": t.name,
        "dtype": t.dtype,
        "shape": shape,
        "scale": getattr(t, "scale", None),
        "zero_point": getattr(t, "zero_point", None),
    }


def _fill(t, given):
    shape = given.get("shape")
    if "file" not in given:
        is_open = hasattr(t, "set_shape") and shape
        fill_one(t, (given["values"], tuple(shape)) if is_open else given["values"])
        return
    if hasattr(t, "set_shape"):
        t.set_shape(tuple(shape))
    with open(given["file"], "rb") as f:
        data = f.read()
    if len(data) != t.nbytes:
        raise mpconnxr.InputError(f"{t.name}: {len(data)} bytes given, {t.nbytes} needed")
    t.view("B")[:] = data


def _shown(t):
    return _spec(t) | {"shape": list(t.shape), "values": _values(t), "nelem": t.nelem}


def _values(t):
    """A list of numbers and texts; a map is a list of [key, value]."""
    if hasattr(t, "view"):
        found = t.floats() if is_narrow(t.dtype) else t.data[:_MOST_VALUES]
        return [_number(v) for v in found[:_MOST_VALUES]]
    if t.dtype == "string":
        return list(t.data[:_MOST_VALUES])
    maps = t.data if isinstance(t.data, list) else [t.data]
    return [[[key, _number(x[key])] for key in x] for x in maps]


def _number(v):
    """v, or its text where JSON or a browser's numbers do not hold it."""
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
    """Fill the inputs with JSON text; return what is wrong with it."""
    return _One.session.fill(json.loads(text))


@_answer
def go(slice_ms):
    """Run for so many milliseconds; return how far that got."""
    return _One.session.go(slice_ms)
