"""Call the device's public names with wrong arguments, one argument at a time.

    script kernels|program     with the files of tests/host/device/test_arguments.py beside it

Prints `BAD CALL(VALUE): WHY` for a call that ends in anything but a result or a typed error that
names the argument, and for a model that computes something else after it; last `calls N`.
"""

# ruff: noqa: B023 (each function is called before its loop goes on)

import gc
import io
import sys
from array import array

import mpconnxr
from mpconnxr import InputError, MpconnxrError

MODE = sys.argv[1]
DEPTH = 3000  # lists in each other: more than any stack takes


class Own(Exception):
    """An exception of the caller's own objects, which must pass through unchanged."""


class Sized:
    """An object with len() and int(). A function that took the int for an address would fault."""

    def __len__(self):
        return 6

    def __int__(self):
        return 16


class Longer:
    """A sequence that claims more elements than it has."""

    def __len__(self):
        return 6

    def __getitem__(self, i):
        if i > 1:
            raise IndexError
        return 1


class Raising:
    def __len__(self):
        return 6

    def __getitem__(self, i):
        raise Own


class Unsized:
    def __len__(self):
        raise Own


class Untrue:
    def __bool__(self):
        raise Own


class Named:
    """An object that has every attribute, each of them None."""

    def __getattr__(self, name):
        return None


class Half:
    """A file of 400 bytes from which nothing can be read."""

    def seek(self, *args):
        return 400

    def readinto(self, buffer):
        return 0


def generator():
    yield 1


def deep(make=list):
    result = 1.0
    for _ in range(DEPTH):
        result = make((result,))
    return result


def endless():
    results = []
    results.append(results)
    return results


def closed():
    file = open("relu.bin", "rb")
    file.close()
    return file


WRONG = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "2": lambda: 2,
    "1 << 31": lambda: 1 << 31,
    "1 << 70": lambda: 1 << 70,
    "-(1 << 63)": lambda: -(1 << 63),
    "1.5": lambda: 1.5,
    "1e300": lambda: 1e300,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "complex": lambda: 1j,
    "''": lambda: "",
    "'x'": lambda: "x",
    "'nul'": lambda: "a\0b",
    "'long'": lambda: "a" * 300,
    "'sixchr'": lambda: "sixchr",
    "b''": lambda: b"",
    "bytes": lambda: bytes(24),
    "bytes 23": lambda: bytes(23),
    "bytearray": lambda: bytearray(7),
    "array b": lambda: array("b", [1] * 6),
    "array d": lambda: array("d", [1e300] * 6),
    "array Q": lambda: array("Q", [(1 << 64) - 1] * 6),
    "view": lambda: memoryview(bytearray(40))[1:25],
    "view 0": lambda: memoryview(bytearray(0)),
    "view h": lambda: memoryview(array("h", [1] * 24)),
    "view read-only": lambda: memoryview(bytes(4096)),
    "[]": lambda: [],
    "[[]]": lambda: [[]],
    "[None]": lambda: [None] * 6,
    "['a']": lambda: ["a"] * 6,
    "[nan]": lambda: [float("nan")] * 6,
    "[1 << 70]": lambda: [1 << 70] * 6,
    "[object]": lambda: [object()],
    "[unhashable]": lambda: [[1]],
    "ragged": lambda: [[1, 2, 3], [4, 5]],
    "ragged otherwise": lambda: [[1, 2, 3], 4],
    "mixed": lambda: [1, 2, 3, [4], "a", None],
    "deep list": deep,
    "deep tuple": lambda: deep(tuple),
    "endless list": endless,
    "tuple": lambda: (1, 2),
    "()": lambda: (),
    "(None, None)": lambda: (None, None),
    "set": lambda: {1, 2},
    "{}": lambda: {},
    "dict": lambda: {"x": 1},
    "dict of None": lambda: {None: 1, 2: "a"},
    "range": lambda: range(6),
    "generator": generator,
    "iterator": lambda: iter([1, 2]),
    "object": lambda: object(),
    "type": lambda: int,
    "lambda": lambda: lambda: 1,
    "function": lambda: len,
    "module": lambda: sys,
    "Sized": Sized,
    "Longer": Longer,
    "Raising": Raising,
    "Unsized": Unsized,
    "Untrue": Untrue,
    "Named": Named,
    "Half": Half,
    "StringIO": lambda: io.StringIO("text"),
    "BytesIO": lambda: io.BytesIO(b"text"),
    "text file": lambda: open("relu.bin"),
    "closed file": closed,
    "exception": lambda: ValueError("x"),
}


class Checked:
    """A loaded model with an input and the right outputs for it."""

    def __init__(self, name, x, **options):
        if MODE == "kernels":
            options.setdefault("prefer", "plain")
        self.name, self.x = name, x
        self.model = mpconnxr.load(name + ".bin", **options)
        kind = type(self.model).__name__
        assert (kind == "Program") == (MODE == "program"), kind
        self.expected = self.compute()

    def compute(self):
        self.model.reset()
        return [repr(list(t.data)) for t in self.model.run(self.x)]


calls = 0


def shown(e):
    return "{}: {}".format(type(e).__name__, str(e)[:90])


def refused(call, words, path=None):
    """Return None for a result or an error that names one of the words, else the fault."""
    try:
        call()
    except Own:
        pass
    except MpconnxrError as e:
        if not any([word in str(e) for word in words]):
            return "names none of {}: {}".format(words, shown(e))
    except OSError as e:
        if isinstance(path, list):
            path = path[0]
        if not isinstance(path, str) or path not in str(e):
            return shown(e)
    except Exception as e:
        return shown(e)


def sweep(name, call, words, after=(), skip=(), path=None):
    """Make a call with each wrong value.

    Args:
        name: the call's name in messages.
        call: function of one argument, the value.
        words: words of which an error must name one, separated by blanks.
        after: Checked models that must compute as before afterwards.
        skip: names of values to omit.
        path: word that an OSError may name in place of the value.
    """
    global calls
    words = words.split()
    for key in sorted(WRONG):
        if key in skip:
            continue
        gc.collect()
        value = WRONG[key]()
        why = refused(lambda: call(value), words, value if path is None else path)
        value = None
        for each in after:
            if why is None:
                try:
                    got = each.compute()
                    why = None if got == each.expected else "computes {} after it".format(got)
                except Exception as e:
                    why = "after it " + shown(e)
        if why:
            print("BAD {}({}): {}".format(name, key, why))
        calls += 1


def load_arguments(relu):
    """Sweep the arguments of load, load_all, InferenceSession, verify, tensorfile and seal."""
    from mpconnxr import golden, tensorfile
    from mpconnxr.build.load import load as sealed
    from mpconnxr.io.session import Session
    from mpconnxr.sharing import load_all

    load, after = mpconnxr.load, (relu,)
    # of a file's contents an error says what is wrong with them
    source = "source file model arena"
    sweep("load.source", load, source, after)
    sweep("load.source kernels", lambda v: load(v, prefer="plain"), source, after)
    for key in ("verify", "stream"):
        sweep("load." + key, lambda v: load("relu.bin", **{key: v}), key, after)
    for key in ("arena", "prefer", "cores"):
        sweep("load." + key, lambda v: load("relu.bin", **{key: v}), key, after)
    sweep(
        "load.arena kernels", lambda v: load("relu.bin", arena=v, prefer="plain"), "arena", after
    )
    for key in ("sha256", "key"):
        words = key + " seal" * (key == "key")
        sweep("load." + key, lambda v: load("relu.bin", **{key: v}), words, after)
    secret = bytes(range(32))
    words = "counter sealed"
    sweep("load.counter", lambda v: load("relu.bin", key=secret, counter=v), words, after)
    sweep("load.verify sha256", lambda v: load("relu.bin", v, sha256=bytes(32)), "sha256", after)
    sweep(
        "seal.load",
        lambda v: sealed(v, True, None, (), True, (None, secret, None)),
        source + " seal",
    )
    sweep("Session", Session, "model")
    sweep("InferenceSession", mpconnxr.InferenceSession, source, after)
    session = mpconnxr.InferenceSession("relu.bin")
    right = [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
    sweep("Session.run names", lambda v: session.run(v, {"image": right[0]}), "output", after)
    sweep("Session.run feed", lambda v: session.run(None, v), "image input", after)
    sweep("load_all", load_all, source, after)
    sweep("load_all of one", lambda v: load_all([v]), source, after)
    sweep("load_all.verify", lambda v: load_all(["relu.bin"], v), "verify", after)
    sweep("verify", golden.verify, source, after)
    sweep("verify.arena", lambda v: golden.verify("relu.bin", v), "arena", after)
    sweep("tensorfile", tensorfile.read, source, after)
    sweep("tensorfile.verify", lambda v: tensorfile.read("tensors.bin", v), "verify", after)
    try:
        load("relu.bin", shape=3)
        print("BAD load(shape=3)")
    except TypeError:  # as of any function
        pass


def coroutine(made):
    """Run a coroutine to its end."""
    try:
        while True:
            made.send(None)
    except StopIteration:
        pass


def queued(model, x=None, id=1, completed=lambda id, result: None, slice_ms=5):
    """Submit a run and poll it to its end. If its result is an exception, raise it.

    Args:
        model: the model.
        x: as for Model.submit.
        id: as for Model.submit.
        completed: as for Model.submit.
        slice_ms: as for Model.poll.
    """
    results = []

    def done(id, result):
        results.append(result)

    try:
        model.submit(x, id, done if completed is None else completed)
        while model.poll(slice_ms):
            pass
    finally:
        while model.poll():
            pass
    if results and isinstance(results[0], Exception):
        raise results[0]


def run_arguments(each, words):
    """Sweep the arguments of the methods that run a Checked model; errors may name these words."""
    m, after, x = each.model, (each,), each.x
    here = each.name + "."
    has_input = len(m.inputs) == 1
    sweep(here + "run", m.run, words, after)
    if has_input:
        sweep(here + "run by name", lambda v: m.run({m.inputs[0].name: v}), words, after)
    else:
        sweep(here + "run of one", lambda v: m.run([v] + list(x[1:])), words, after)
        sweep(here + "run of last", lambda v: m.run(list(x[:-1]) + [v]), words, after)
    sweep(here + "run.deadline_us", lambda v: m.run(x, v), "deadline_us", after)
    sweep(here + "run_until", lambda v: m.run_until(v, 5), words, after)
    sweep(here + "run_until.deadline_us", lambda v: m.run_until(x, v), "deadline_us", after)
    sweep(here + "run_async", lambda v: coroutine(m.run_async(v)), words, after)
    sweep(here + "run_async.slice_ms", lambda v: coroutine(m.run_async(x, v)), "slice_ms", after)
    sweep(here + "submit", lambda v: queued(m, v, completed=None), words, after)
    sweep(here + "submit.id", lambda v: queued(m, x, v), "id", after)
    sweep(here + "submit.completed", lambda v: queued(m, x, completed=v), "completed", after,
          skip=("None", "function", "type", "lambda"))  # fmt: skip
    sweep(here + "submit.slice_ms", lambda v: m.submit(x, 1, len, v), "slice_ms")
    each.model._queue.waiting.clear()
    sweep(here + "poll", lambda v: queued(m, x, slice_ms=v), "slice_ms", after)
    sweep(here + "predict", m.predict, words, after)
    sweep(here + "profile", m.profile, words, after)
    sweep(here + "profile.runs", lambda v: m.profile(x, v), "runs", after)
    sweep(here + "benchmark.n", lambda v: m.benchmark(v, x, 0), "n:", after)
    sweep(here + "benchmark", lambda v: m.benchmark(1, v, 0), words, after)
    sweep(here + "benchmark.warm_up", lambda v: m.benchmark(1, x, v), "warm_up", after)
    sweep(here + "percentile", m.benchmark(2, x).percentile, "p:")
    if MODE == "kernels":
        from mpconnxr.inspect.trace import follow

        quiet = {"write": lambda line: None}
        sweep(here + "trace", lambda v: m.trace(v, **quiet), words, after)
        sweep(here + "trace.level", lambda v: m.trace(x, v, **quiet), "level", after)
        sweep(here + "trace.write", lambda v: m.trace(x, write=v), "write", after,
              skip=("None", "function", "type", "lambda"))  # fmt: skip
        sweep(here + "trace.dump", lambda v: m.trace(x, 0, dump=v), "dump", after, path="/")
        sweep(here + "follow", lambda v: follow(m, v, x), "each", after,
              skip=("function", "type", "lambda"))  # fmt: skip


def tensor_arguments(each):
    """Sweep the arguments of the methods of a model's inputs and outputs."""
    after = (each,)
    for t in each.model.inputs + each.model.outputs:
        if not hasattr(t, "view"):
            continue
        here = "{}.{}.".format(each.name, t.name)
        sweep(here + "[]", lambda v: get_element(t, v), t.name, after)
        sweep(here + "get", lambda v: get_element(t, v), t.name, after)
        sweep(here + "view", t.view, t.name, after)
        sweep(here + "quantize", t.quantize, t.name, after)
        t.floats(), repr(t), t.shape, t.dtype, t.nelem, t.nbytes, t.scale, t.zero_point
        if t.shape:
            len(t), [row for row in t]
        if hasattr(t, "set_shape"):
            sweep(here + "set_shape", t.set_shape, t.name, after)
        load = t.load_image
        sweep(here + "load_image", lambda v: load(v, 2, 2, "gray8"), t.name + " buf", after)
        if t.image:
            pixels = bytes(8 * 8)
            sweep(here + "width", lambda v: load(pixels, v, 8, "gray8"), "width buf", after)
            sweep(here + "height", lambda v: load(pixels, 8, v, "gray8"), "height buf", after)
            sweep(here + "format", lambda v: load(pixels, 8, 8, v), "format", after)


def get_element(t, i):
    try:
        return t[i]
    except IndexError as e:
        # an integer beyond the rows: without it `for row in t` would not end
        assert isinstance(i, int) and t.shape and t.name in str(e), e


def other_arguments():
    """Sweep the arguments of top_k, of the audio classes and of other helpers."""
    from mpconnxr.io.audio import LogMel
    from mpconnxr.io.mfcc import Mfcc

    top_k = mpconnxr.top_k
    sweep("top_k", top_k, "output")
    sweep("top_k.k", lambda v: top_k([1, 2, 3, 4, 5, 6], v), "k:")
    sweep("top_k.labels", lambda v: top_k([1, 2, 3, 4, 5, 6], 1, v), "labels")
    for make in (LogMel, Mfcc):
        name = make.__name__
        sweep(name, make, "rate low")
        sweep(name + ".size", lambda v: make(8000, v), "size")
        sweep(name + ".bands", lambda v: make(8000, 64, v), "bands coefficients")
        sweep(name + ".low", lambda v: make(8000, 64, 8, v), "low coefficients")
        sweep(name + ".high", lambda v: make(8000, 64, 8, 100, v), "high low coefficients")
        made = make(8000, 64, 13)
        samples, out = bytes(range(200)), array("i", [0] * 20)
        sweep(name + ".frame", lambda v: made.frame(v, 0, out), "samples")
        sweep(name + ".first", lambda v: made.frame(samples, v, out), "first samples")
        sweep(name + ".out", lambda v: made.frame(samples, 0, v), "out")
        sweep(name + ".at", lambda v: made.frame(samples, 0, out, v), "at")
    sweep("Mfcc.coefficients", lambda v: Mfcc(8000, 64, 13, coefficients=v), "coefficients")


def signal_arguments():
    """Sweep the arguments of windows, statistics, spectra and smoothing."""
    from mpconnxr import smoothing, spectrum, statistics, windows

    out = array("f", [0] * 6)
    for channels in (1, 6):
        sample, n = [0] * 6 if channels > 1 else 0, 6 // channels
        any_of = "out sample channels"
        stats = statistics.RunningStats(3, channels)
        window = windows.Window(out, channels, 1)
        sweep("Window", lambda v: fill(windows.Window(v, channels), sample, n), any_of)
        sweep("Window.hop", lambda v: windows.Window(out, channels, v), "hop")
        sweep("Window.push", lambda v: fill(window, v, n), "sample")
        sweep("RunningStats.push", stats.push, "sample")
        sweep("RunningStats.mean", stats.mean, "channel")
        sweep("RunningStats.variance", stats.variance, "channel")
    sweep("Window.channels", lambda v: windows.Window(out, v), "channels")
    sweep("RunningStats", statistics.RunningStats, "n:")
    sweep("RunningStats.channels", lambda v: statistics.RunningStats(3, v), "channels")
    make = spectrum.Spectrum
    sweep("Spectrum", make, "rate low")
    sweep("Spectrum.size", lambda v: make(50, v), "size bands")
    sweep("Spectrum.channels", lambda v: make(50, 16, 2, channels=v), "channels")
    sweep("Spectrum.write", make(50, 16, 2, channels=2).write, "out")
    output = mpconnxr.load("relu.bin").outputs[0]
    average = smoothing.Average(output, 3)
    sweep("Average", lambda v: smoothing.Average(v, 3), "output")
    sweep("Average.n", lambda v: smoothing.Average(output, v), "n:")
    sweep("Average.threshold", lambda v: smoothing.Average(output, 3, v), "threshold")
    sweep("Average.mean", average.mean, "i:")
    sweep("Agreement", lambda v: smoothing.Agreement(v, 2), "n:")
    sweep("Agreement.m", lambda v: smoothing.Agreement(2, v), "m: n:")
    sweep("Agreement.update", smoothing.Agreement(2, 2).update, "answer")
    sweep("Hysteresis", lambda v: smoothing.Hysteresis(v, -2), "on: off:")
    sweep("Hysteresis.off", lambda v: smoothing.Hysteresis(2, v), "off:")
    sweep("Hysteresis.update", smoothing.Hysteresis(1, 0).update, "score")


def fill(window, sample, n):
    """Push a sample n times, so that the window is written."""
    for _ in range(n):
        window.push(sample)


def described(m):
    """Call everything that describes a model, its inputs and its outputs; return the refusals."""
    ends = m.inputs + m.outputs
    calls = [lambda: repr(m), lambda: [repr(t) for t in ends], m.run, m.predict, m.kernels]
    calls += [lambda: str(m.profile()), lambda: str(m.benchmark(2)), lambda: m.labels]
    calls += [lambda: [mpconnxr.top_k(t) for t in m.outputs], lambda: m.trace(write=len), m.reset]
    calls += [lambda: [t.data for t in ends], lambda: [(t.name, t.shape, t.dtype) for t in ends]]
    results = []
    for i, call in enumerate(calls):
        try:
            call()
        except MpconnxrError as e:
            results.append((i, str(e)))
        except Exception as e:
            print("BAD description {}: {}".format(i, shown(e)))
    return results


def closing(name):
    """Load a model from each kind of source, close it twice; check that it refuses to run."""
    with open(name, "rb") as file:
        data = file.read()
    for source in (name, data, io.BytesIO(data), open(name, "rb")):
        m = mpconnxr.load(source)
        m.run()
        m.close()
        m.close()
        try:
            m.run()
            print("BAD close", source)
        except MpconnxrError as e:
            assert "closed" in str(e), e


def attributes(each):
    """Check attributes that a model has, and one that it has not."""
    m = each.model
    assert m.labels is None and m.arena_nbytes >= 0 and m.state_nbytes >= 0
    try:
        print("BAD nope", m.nope)
    except AttributeError as e:
        assert "nope" in str(e)


relu = Checked("relu", [1, -2, 3, -4, 5, -6])
if MODE == "kernels":
    other_arguments()
    signal_arguments()
load_arguments(relu)
attributes(relu)
run_arguments(relu, "image input")
tensor_arguments(relu)
image = Checked("image", bytes(64))
tensor_arguments(image)
three = Checked("three", [[1.0, -2.0], [3.0], 4.0])
run_arguments(three, "a b s: inputs input")
tensor_arguments(three)
if MODE == "kernels":
    opened = Checked("open", [[1.0, 2.0, 3.0]])
    run_arguments(opened, "image input")
    tensor_arguments(opened)
    strings = Checked("strings", ["b", "A"])
    run_arguments(strings, "image input")
    for each in (relu, image, three, opened, strings):
        assert not described(each.model), described(each.model)
    # of two rows
    maps = mpconnxr.load("maps.bin")
    reported = "output: a Tensor, map or numbers are needed; labels: a sequence"
    assert described(maps) == [(8, reported)], described(maps)
    reported = "predict: the outputs are empty, or there are none"
    assert described(mpconnxr.load("none.bin")) == [(3, reported)]
for scalar in [t for t in three.model.inputs + three.model.outputs if not t.shape]:
    for call in (lambda: scalar[0], lambda: len(scalar), lambda: list(scalar)):
        try:
            call()
            print("BAD scalar")
        except InputError as e:
            assert scalar.name in str(e)
closing("relu.bin")
closing("streamed.bin")
print("calls", calls)
