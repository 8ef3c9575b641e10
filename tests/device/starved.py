"""Exhaust memory in a public call until the call ends; then everything must work again.

    script KIND MODE MOST    with model.bin and x beside it, on a target that has a module guard

KIND: kernels or program, how the model is loaded. MODE: cold (the call imports what it needs) or
warm (all is imported before). MOST: number of its allocations to try. Prints `BAD CALL NUMBER WHY`
if the call ends in something else than a result or an MpconnxrError, or if the same model or the
next one then gives wrong outputs; last, `tried HOW_MANY`.
"""

import io
import sys
from array import array

import guard

import mpconnxr
from mpconnxr import golden

KIND, MODE, MOST = sys.argv[1], sys.argv[2], int(sys.argv[3])
BAD = 255
with open("x", "rb") as f:
    X = f.read()
with open("model.bin", "rb") as f:
    SOURCE = f.read()
LIST = list(array("f", X))
completed = []


def text_of(e):
    text = io.StringIO()
    sys.print_exception(e, text)
    return " | ".join([line.strip() for line in text.getvalue().split("\n")[:0:-1]])


def later(id, result):
    completed.append(result)


def polled(m):
    m.submit(X, 1, later)
    while m.poll():
        pass


CALLS = {
    "load a path": lambda m: mpconnxr.load("model.bin"),
    "load bytes": lambda m: mpconnxr.load(SOURCE),
    "run": lambda m: m.run(),
    "run of bytes": lambda m: m.run(X),
    "run of a list": lambda m: m.run(LIST),
    "run_until": lambda m: m.run_until(X, 5),
    "verify a path": lambda m: golden.verify("model.bin"),
    "verify bytes": lambda m: golden.verify(SOURCE),
    "predict": lambda m: m.predict(X),
    "labels": lambda m: m.labels,
    "profile": lambda m: m.profile(X),
    "benchmark": lambda m: m.benchmark(1, X),
    "submit and poll": polled,
    "reset": lambda m: m.reset(),
    "a row": lambda m: m.outputs[0][0],
    "floats": lambda m: m.outputs[0].floats(),
    "close": lambda m: m.close(),
}
if KIND == "kernels":
    CALLS["trace"] = lambda m: m.trace(X, 0)
    CALLS["text"] = lambda m: m.__repr__()  # repr itself allocates, too
    CALLS["kernels"] = lambda m: m.kernels()
NAMES = sorted(CALLS)


def checksum(m):
    total = 0
    for t in m.outputs:
        for byte in t.view("B"):
            total = (total * 31 + byte) % 65521
    return total


def allocations(call):
    m = mpconnxr.load("model.bin")
    before = guard.count()
    call(m)
    return guard.count() - before


def in_child(work, *args):
    """Run work in a child process; return its result, 0 to 254."""
    pid = guard.fork()
    if pid:
        return guard.wait(pid)
    status = BAD
    try:
        guard.alarm(20000)
        status = work(*args)
    except BaseException as e:
        guard.fail_from(0)
        print("BAD", args[0], args[1:], text_of(e))
    finally:
        guard.exit(status)


def measure(path):
    """Write the right outputs' checksum and each call's number of allocations to a file."""
    m = mpconnxr.load("model.bin")
    m.run(X)
    expected = checksum(m)
    each = [allocations(CALLS[name]) for name in NAMES]
    with open(path, "w") as f:
        f.write(repr([expected] + each))
    return 0


def after_starving(name, n, expected):
    """Let memory end in a call; print BAD unless the call fails as it must and all works then.

    Args:
        name: the call.
        n: number of the first allocation that fails.
        expected: checksum of the right outputs.
    """
    call, m, error = CALLS[name], mpconnxr.load("model.bin"), None
    guard.fail_from(n)
    try:
        call(m)
        guard.fail_from(0)
    except BaseException as e:
        guard.fail_from(0)
        error = e
    if error and not isinstance(error, mpconnxr.MpconnxrError):
        print("BAD", name, n, text_of(error))
    if name != "close":
        m.reset()
        m.run(X)
        if checksum(m) != expected:
            print("BAD", name, n, "the same model gives other outputs")
    m = mpconnxr.load("model.bin")
    if type(m).__name__ != ("Program" if KIND == "program" else "Model"):
        print("BAD", name, n, "the next load is a", type(m).__name__)
    m.run(X)
    if checksum(m) != expected:
        print("BAD", name, n, "the next model gives other outputs")
    return 0


def main():
    if MODE == "warm":
        for name in NAMES:
            CALLS[name](mpconnxr.load("model.bin"))
    in_child(measure, "measured")
    with open("measured") as f:
        expected, *most = eval(f.read())
    tried = 0
    for name, n in zip(NAMES, most):
        stride = max(1, n // MOST)
        for k in range(1 + len(name) % stride, n + 1, stride):
            tried += 1
            status = in_child(after_starving, name, k, expected)
            if status:
                print("BAD", name, k, "ended with", status)
    print("tried", tried)


main()
