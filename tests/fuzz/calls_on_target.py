"""Call mpconnxr's API in random order with random arguments. Runs on a target.

    script FIRST COUNT SEED CALLS VERBOSE     with *.bin and expected.json beside it

Prints `at K` before each sequence; `find K KIND WHAT` for what no call may do: an exception that
docs/api.md does not name, or a model that does not compute after it; last `done`. With VERBOSE
also `call K TEXT` before each call.
"""

import gc
import io
import json
import random
import sys
from array import array

import mpconnxr

FIRST, COUNT, SEED, CALLS, VERBOSE = [int(a) for a in sys.argv[1:6]]
EXPECTED = json.loads(open("expected.json").read())  # name: [inputs, output]
NAMES = sorted(EXPECTED)
KEY = bytes(range(32))

pick = random.choice
made = 0


class Sized:
    """A sequence with an int(). A function that took the int for an address would fault."""

    def __len__(self):
        return 24

    def __getitem__(self, i):
        if i > 23:
            raise IndexError
        return 1

    def __int__(self):
        return 16


class Reads:
    """A file of which only half can be read."""

    def __init__(self, answer):
        self.answer = answer

    def seek(self, n, whence=0):
        return 400

    def readinto(self, buffer):
        return self.answer


def text_file():
    return open(pick(NAMES) + ".bin")


def closed_file():
    file = open("relu.bin", "rb")
    file.close()
    return file


ODD = (
    lambda: None,
    lambda: pick((-1, 0, 1, 2, 3, 7, 1 << 20, 1 << 31, -(1 << 31), 1 << 64, -(1 << 63))),
    lambda: pick((0.0, 1.5, -2.5, 1e30, float("nan"), float("inf"), True, False)),
    lambda: pick(("", "x", "y", "absent", "a" * 300, "\0", "é", "relu.bin", ".", "O", "plain")),
    lambda: bytes(pick((0, 1, 3, 24, 64, 400))),
    lambda: bytearray(pick((0, 1, 24, 300, 4096))),
    lambda: memoryview(bytearray(4097))[pick((0, 1, 4)) :],
    lambda: memoryview(array(pick("bhHiIqf"), [1] * pick((1, 6, 60, 600)))),
    lambda: array(pick("bBhHiIqQfd"), [1] * pick((0, 1, 6, 24, 60))),
    lambda: [1] * pick((0, 1, 2, 3, 6, 60)),
    lambda: [odd() for _ in range(pick((1, 2, 3, 6)))],
    lambda: [[1, 2, 3], [4, 5, pick((6, "a", None, [1], 1 << 70, float("nan")))]],
    lambda: (odd(), odd()),
    lambda: (1.0,) * 6,
    lambda: {pick(("x", "a", "b", "s", 1, None)): odd() for _ in range(pick((1, 2, 3)))},
    lambda: {1, 2},
    lambda: range(6),
    lambda: iter([1, 2]),
    lambda: len,
    lambda: Sized(),
    lambda: Sized,
    lambda: Reads(pick((None, 0, 64, 1 << 20, "a"))),
    lambda: open(pick(NAMES) + ".bin", "rb"),
    lambda: io.BytesIO(data_of(pick(NAMES))),
    lambda: io.StringIO("text"),
    lambda: data_of(pick(NAMES))[: pick((-1, 60, 400))],
    lambda: pick(models).model if models else None,
    lambda: tensor(),
    lambda: tensor().data,
)


def odd():
    global made
    made += 1
    return None if made > 40 else pick(ODD)()


def data_of(name):
    with open(name + ".bin", "rb") as f:
        return f.read()


class Loaded:
    """A loaded model with an input and the right output for it."""

    def __init__(self, model, name):
        self.model, self.name, self.is_closed = model, name, False
        self.x, self.expected = EXPECTED[name]

    def check(self):
        """Return a text of the fault; None if the model computes, or was closed and says so."""
        try:
            self.model.reset()
            x = self.x
            got = self.model.run(x[0] if len(x) == 1 else x)[0].data
        except mpconnxr.MpconnxrError as e:
            return None if self.is_closed else repr(e)
        except Exception as e:
            return repr(e)
        got = list(got)
        for i in range(len(self.expected)):
            a, b = got[i], self.expected[i]
            if a != b and (isinstance(b, str) or not abs(a - b) < 1e-4):
                return f"gives {got[:6]} where {self.expected[:6]} is right"
        return "ran though it was closed" if self.is_closed else None


models = []


def tensor():
    return pick([t for m in models for t in m.model.inputs + m.model.outputs] or [None])


def odd_source():
    return pick((odd, odd, text_file, closed_file))()


def arg(*good):
    """Return one of the good values, or a wrong one."""
    return pick(good) if random.getrandbits(1) else odd()


def source(name):
    kind = random.getrandbits(2)
    path = name + ".bin"
    return (path, open(path, "rb"), data_of(name), memoryview(bytearray(data_of(name))))[kind]


def keep(model, name):
    if len(models) == 3:
        models.pop(0)
    models.append(Loaded(model, name))


def load():
    name = pick(NAMES)
    options = {}
    for key, good in (
        ("verify", (True, False)),
        ("arena", (None, bytearray(4096))),
        ("prefer", ((), ("plain",), "viper")),
        ("stream", (True, False)),
        ("sha256", (None, None)),
        ("key", (None, KEY)),
        ("counter", (None, "count")),
    ):
        if not random.getrandbits(2):
            options[key] = arg(*good)
    if random.getrandbits(1):
        keep(mpconnxr.load(source(name), **options), name)
    else:
        mpconnxr.load(odd_source(), **options)


def load_good():
    name = pick(NAMES)
    keep(mpconnxr.load(source(name)), name)


def load_all():
    from mpconnxr.sharing import load_all

    names = [pick(NAMES), pick(NAMES)]
    if random.getrandbits(1):
        for model, name in zip(load_all([source(n) for n in names]), names):
            keep(model, name)
    else:
        load_all(
            [odd_source()] if random.getrandbits(1) else odd(),
            arg(True),
            arg(True),
        )


def session():
    s = mpconnxr.InferenceSession("relu.bin" if random.getrandbits(1) else odd_source())
    s.run(arg(None, ["y"]), arg({"x": [1] * 6}))


def close():
    m = pick(models)
    m.is_closed = True
    m.model.close()


def steps_of(coroutine):
    try:
        for _ in range(pick((1, 3, 1000))):
            coroutine.send(None)
    except StopIteration:
        pass
    finally:
        coroutine.close()


def runs():
    m = pick(models)
    pick((
        lambda: m.model.run(arg(m.x[0], m.x)),
        lambda: m.model.run(odd()),
        lambda: m.model.run(odd(), arg(0, 1, 1000)),
        lambda: steps_of(m.model.run_async(arg(None, m.x[0]), arg(1, 5))),
        lambda: m.model.submit(arg(m.x[0]), odd(), arg(lambda id, result: None)),
        lambda: m.model.poll(arg(1, 5)),
        lambda: m.model.reset(),
    ))()  # fmt: skip


def measures():
    m = pick(models).model
    pick((
        lambda: m.kernels(),
        lambda: str(m.profile(arg(None), few(1, 2))),
        lambda: str(m.benchmark(few(1, 2), arg(None), few(0, 1))),
        lambda: m.benchmark(2).percentile(arg(0, 50, 100)),
    ))()  # fmt: skip


def few(*good):
    n = arg(*good)
    return 1 if isinstance(n, (int, float)) and n > 3 else n  # not for hours


def tensors():
    t = tensor()
    method = pick((
        lambda: t.floats(),
        lambda: t.quantize(odd()),
        lambda: t.dequantize(),
        lambda: t.load_image(arg(bytes(48)), arg(4, 8), arg(4, 2), arg("rgb888", "gray8")),
        lambda: list(t.view(arg(*"BbhHiIqQfdOPSs?")))[:3],
        lambda: t.set_shape(arg((2, 3), (1, 3), [2, 3])),
        lambda: (t.name, t.dtype, t.shape, t.nelem, t.nbytes, len(t.data)),
        lambda: mpconnxr.top_k(arg(t), arg(1, 3), arg(None, ["a"] * 60)),
    ))  # fmt: skip
    try:
        method()
    except AttributeError as e:
        if "no attribute" not in str(e) or hasattr(t, str(e).split("'")[-2]):
            raise  # else strings have no view(), and shapes that are fixed no set_shape()


def data():
    """Use a tensor's view with odd arguments: it may raise Python's own errors."""
    view = tensor().data
    try:
        pick((
            lambda: view[odd()],
            lambda: view.__setitem__(odd(), odd()),
            lambda: view.__setitem__(pick((0, -1, len(view))), odd()),
        ))()  # fmt: skip
    except (IndexError, ValueError, OverflowError, TypeError, NotImplementedError, AttributeError):
        pass


def files():
    from mpconnxr import golden, tensorfile

    pick((
        lambda: golden.verify(pick(NAMES) + ".bin", arg(None, bytearray(4096))),
        lambda: golden.verify(odd_source()),
        lambda: tensorfile.read(odd_source(), arg(True)),
    ))()  # fmt: skip


def sound():
    from mpconnxr.io.audio import LogMel
    from mpconnxr.io.mfcc import Mfcc

    rate, size, bands = arg(8000, 16000), arg(16, 64), arg(4, 16)
    made = pick((LogMel, Mfcc))(rate, size, bands, arg(100), arg(None, 3000))
    made.frame(arg(bytes(200)), arg(0, 10), arg([0] * 20), arg(0, 1))


def sensors():
    from mpconnxr import smoothing, spectrum, statistics, windows

    channels = pick((1, 3))
    window = windows.Window(arg([0] * 6, bytearray(6)), channels, arg(None, 1), arg(False))
    stats, good = statistics.RunningStats(arg(1, 3), channels), 5 if channels == 1 else (1, -2, 3)
    for _ in range(4):
        window.push(arg(good))
        stats.push(arg(good))
    pick((
        lambda: stats.variance(arg(0)) + stats.mean(arg(0)),
        lambda: spectrum.Spectrum(arg(50), arg(16), arg(2), channels=channels).write(arg([0] * 9)),
        lambda: smoothing.Average(arg(tensor()), arg(1, 3), arg(None, 0.5)).update(),
        lambda: smoothing.Agreement(arg(2), arg(3)).update(arg("a", 1, None)),
        lambda: smoothing.Hysteresis(arg(0.75), arg(0.25)).update(arg(0.5)),
    ))()  # fmt: skip


CALLS_THERE_ARE = (load, load_good, load_all, session, close, runs, runs, runs, measures, tensors,
                   tensors, data, files, sound, sensors)  # fmt: skip
NAMED = (mpconnxr.MpconnxrError, OSError)


def sequence(k):
    global made
    random.seed((SEED * 1000003 + k) & 0x3FFFFFFF)
    models.clear()
    load_good()
    for i in range(CALLS):
        made = 0
        call = pick(CALLS_THERE_ARE)
        if VERBOSE:
            print("call", k, i, call.__name__)
        if not models:
            load_good()
        raised = ""
        try:
            call()
        except NAMED as e:
            raised = "behind " + repr(e)[:90]
            if VERBOSE:
                print("call", k, i, "raised", raised)
        except Exception as e:
            print("find", k, "exception", call.__name__, repr(e)[:200])
            if VERBOSE:
                sys.print_exception(e)
            return
        for m in models:
            what = m.check()
            if what:
                print("find", k, "broken", call.__name__, m.name, what[:200], raised)
                return


for k in range(FIRST, FIRST + COUNT):
    print("at", k)
    sequence(k)
    gc.collect()
print("done")
