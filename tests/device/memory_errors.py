"""Let one allocation after another fail in load and run; each time the next load must work.

    script MODE FIRST STRIDE N    with model.bin beside it, on a target that has a module guard

MODE: cold (the failing load imports the package's modules) or warm (all are imported before).
FIRST, STRIDE, N: which allocations fail. Prints BAD NUMBER WHY for each allocation after which
something else than an MpconnxrError is raised, or the next load fails or gives other outputs;
last, `tried HOW_MANY`. If N is 0, prints only `allocations HOW_MANY ran`, with `refused` for `ran`
if the kernel refuses these inputs.
"""

import io
import sys

import guard

import mpconnxr

MOST = 200  # checksums are less, so that a process's status can be one
BAD = 255
data = open("model.bin", "rb").read()
STRINGS = ("", "a", "1", "b c", "0")


def fill(t):
    if hasattr(t, "set_shape"):
        t.set_shape(tuple([1 if d < 0 else d for d in t.raw]))
    if hasattr(t, "view"):
        elements = t.view("B")
        for i in range(len(elements)):
            elements[i] = i % 3
    elif hasattr(t, "is_sequence"):
        t.data = {}
    else:
        for i in range(len(t.data)):
            t.data[i] = STRINGS[i % 5]


def attempt(n=0):
    """Run the model with allocation n failing, 0 for none; return (checksum, allocations)."""
    source = bytearray(data)
    before = guard.count()
    try:
        guard.fail_after(n)
        model = mpconnxr.load(source)
    finally:
        guard.fail_after(0)
    in_load = guard.count() - before
    for t in model.inputs:
        fill(t)
    before = guard.count()
    try:
        guard.fail_after(max(n - in_load, 0))
        outputs = model.run()
    finally:
        guard.fail_after(0)
    in_run = guard.count() - before
    total = 0
    for t in outputs:
        if hasattr(t, "view"):
            for byte in t.view("B"):
                total = (total * 31 + byte) % 65521
    return total % MOST, in_load + in_run


def checksum():
    """Return the checksum of an attempt without errors; MOST if the model refuses its inputs."""
    try:
        return attempt()[0]
    except mpconnxr.MpconnxrError:
        return MOST


def text_of(e):
    text = io.StringIO()
    sys.print_exception(e, text)
    return " | ".join([line.strip() for line in text.getvalue().split("\n")[:0:-1]])


def in_child(work, *args):
    """Run work in a child process; return its result, 0 to 255."""
    pid = guard.fork()
    if pid:
        return guard.wait(pid)
    status = BAD
    try:
        guard.alarm(20000)
        status = work(*args)
    except Exception as e:
        print("BAD", args, text_of(e))
    finally:
        guard.exit(status)


def counted():
    before = guard.count()
    try:
        print("allocations", attempt()[1], "ran")
    except mpconnxr.MpconnxrError:  # of these inputs
        print("allocations", guard.count() - before, "refused")
    return 0


def after_failing(n):
    """Return the checksum of a load that follows one whose allocation n failed."""
    try:
        attempt(n)
    except mpconnxr.MpconnxrError:
        pass
    except Exception as e:
        text = text_of(e)
        # MicroPython makes the dict of load's **origin for the caller: no line of load has run.
        if not isinstance(e, MemoryError) or "mpconnxr/" in text:
            print("BAD", n, text)
    result = checksum()
    if not sys.modules["mpconnxr.tensor"].RETYPES:
        print("BAD", n, "views are slow ever after")
    return result


def main(mode, first, stride, n):
    if mode == "warm":
        checksum()
    if not n:
        in_child(counted)
        return
    good = in_child(checksum)
    same = good == in_child(checksum)  # or it is meant to be random
    tried = 0
    for k in range(first, n + 1, stride):
        tried += 1
        status = in_child(after_failing, k)
        if status < 0 or status == BAD or same and status != good:
            print("BAD", k, "ended with", status, "for", good)
    print("tried", tried)


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
