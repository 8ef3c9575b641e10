"""Load and run damaged model files and report how each ended. Runs on MicroPython.

    script FIRST LIMIT_MS DETAIL    with seed.bin, cases and inputs beside it: see case_format.py

FIRST: number of the first case to run; LIMIT_MS: processor time that a case may take; DETAIL: 1 to
print each step before it is prepared and run, which a crash may make the last line.

If there is a module guard (the targets unix-guard and the like), each case has a process of its
own, and each buffer lies between pages that fault. Elsewhere cases follow one another in this
process: the arena lies between canaries, and a line `at NUMBER` before each case identifies the
one that crashes or hangs. Lines:

    done NUMBER LETTER...     how the cases from NUMBER on ended: see case_format.py
    find NUMBER KIND WHAT     a fault: signal, canary, file, exception, timeout
    where NUMBER PHASE STEP   the current step, in a second run of the case
"""

import io
import struct
import sys

from case_format import (
    AT_LEFT,
    BENEATH,
    CANARY,
    EXCEPTION,
    FAULT,
    FILE_CHANGED,
    HEADER,
    HEADER_NBYTES,
    IN_MEMORY,
    LETTERS,
    POOL_NBYTES,
    POSITIONS,
    RAN,
    REFUSED_AT_LOAD,
    REFUSED_IN_RUN,
    STREAM,
    VERIFY,
)

import mpconnxr

try:
    import guard
except ImportError:
    guard = None

SIGPROF = 27
GAP = 64  # bytes of canary before and behind the arena where nothing guards it
pools = open("inputs", "rb").read()
forms = None


class Outcome(Exception):
    """The end of a case that did not succeed: its arguments are a status and the reason."""


class Places:
    """Print each step before it is prepared and before it is run."""

    def __init__(self, number):
        from mpconnxr.build.loader import Loader

        prepare, prefix = Loader._prepare, "where {} ".format(number)

        def noting(loader, reader, index, node):
            name = "{} {}".format(index, node[0])
            print(prefix + "prepare", name)
            n, step = prepare(loader, reader, index, node)

            def traced(lo, hi):
                print(prefix + "run", name)
                step(lo, hi)

            return n, traced if n else step

        Loader._prepare = noting


def source_of(data, options):
    return bytearray(data) if options & IN_MEMORY else io.BytesIO(data)


def fill(t, seed):
    """Fill an input with values of a kind that the seed selects."""
    if not hasattr(t, "view"):
        fill_objects(t, seed)
        return
    kind = seed % (len(pools) // POOL_NBYTES)
    if t.dtype in ("int32", "int64") and seed & 32:
        kind = POSITIONS  # what kernels take for an index is refused if it is none
    pool = memoryview(pools)[kind * POOL_NBYTES : (kind + 1) * POOL_NBYTES]
    elements = t.view("B")
    at = 0
    while at < t.nbytes:
        n = min(POOL_NBYTES, t.nbytes - at)
        elements[at : at + n] = pool[:n]
        at += n


STRINGS = ("", "a", "1", "-2.5e3", "nan", "b c", "\u00e9\u4e2d", "x" * 40, "0", "inf", " a ", "A")


def fill_objects(t, seed):
    if hasattr(t, "is_sequence"):
        key = STRINGS[seed % 12] if t.keys == "string" else seed % 9 - 2
        t.data = {} if seed % 3 == 0 else {key: "" if t.values == "string" else 1.5}
        return
    for i in range(len(t.data)):
        t.data[i] = STRINGS[(seed + i) % 12]


def decide_shape(t, seed):
    """Set the shape of an input whose shape the caller decides."""
    shape = list(t.raw)
    for axis in t._dims:
        bound = t._runtime.bounds[t._dims[axis]]
        shape[axis] = (1, bound, min(2, bound), max(1, bound - 1), 1 + seed % max(bound, 1))[
            (seed + axis) % 5
        ]
    t.set_shape(tuple(shape))


def load(data, options, form, arena=None):
    prefer = (forms[(form - 1) % len(forms)],) if form else ()
    return mpconnxr.load(data, bool(options & VERIFY), arena, prefer, bool(options & STREAM))


def run(model, seed):
    for i in range(len(model.inputs)):
        t = model.inputs[i]
        if hasattr(t, "set_shape"):
            decide_shape(t, seed >> 3 + i & 255)
        fill(t, (seed >> 2 * i) + i)
    for t in model.run():
        len(t.data)


def outcome_of(source, options, form, runs, seed, arena=None):
    """Load and run a file; return the status of the case.

    Args:
        source: the file.
        options: bits of case_format.
        form: 0 for the default, or 1 plus the index of the preferred form.
        runs: number of runs.
        seed: decides the inputs.
        arena: the caller's arena, or None.

    Raises:
        Outcome: for an exception that must not occur.
    """
    at_load = True
    try:
        model = load(source, options, form, arena)
        at_load = False
        for i in range(runs):
            run(model, seed >> 5 * i)
    except mpconnxr.MpconnxrError as e:
        if at_load:
            return REFUSED_AT_LOAD
        return BENEATH if "cannot compute" in str(e) else REFUSED_IN_RUN
    except Exception as e:
        raise Outcome(EXCEPTION, ("load " if at_load else "run ") + text_of(e))
    return RAN


def text_of(e):
    text = io.StringIO()
    sys.print_exception(e, text)
    lines = text.getvalue().strip().split("\n")
    return " | ".join([lines[-1]] + [line.strip() for line in lines[:0:-1] if "File" in line][:3])


def in_process(number, data, options, form, runs, seed, limit, detail):
    """Run a case in a child process; return its status, or less than 0 for a signal.

    Args:
        number: number of the case.
        data: the file.
        options: as for outcome_of.
        form: as for outcome_of.
        runs: as for outcome_of.
        seed: as for outcome_of.
        limit: milliseconds for the case.
        detail: print each step before it is prepared or run.
    """
    pid = guard.fork()
    if pid:
        return guard.wait(pid)
    status = EXCEPTION
    try:
        guard.alarm(limit)
        if detail:
            Places(number)
        guard.align(bool(options & AT_LEFT))
        source = source_of(data, options)
        status = outcome_of(source, options, form, runs, seed)
        if guard.check():
            status = CANARY
        elif options & IN_MEMORY and source != data:
            status = FILE_CHANGED
    except Outcome as e:
        print("find", number, "exception", e.args[1])
    finally:
        guard.exit(status)


class Canaries:
    """An arena of the size that a file asks for, with canaries around it."""

    def __init__(self, data):
        from mpconnxr.build.reader import Reader

        try:
            sizes = Reader(data, False)
            nbytes = max(sizes.arena_nbytes, sizes.streamed_nbytes)
            self.memory = bytearray(GAP + nbytes + GAP)
        except (mpconnxr.MpconnxrError, MemoryError, OverflowError):
            nbytes, self.memory = 0, bytearray(2 * GAP)
        self.arena = memoryview(self.memory)[GAP : GAP + nbytes]
        self.canary = bytes([0xA5 ^ i for i in range(GAP)])
        self.memory[:GAP] = self.memory[GAP + nbytes :] = self.canary

    def damaged(self):
        return self.memory[:GAP] != self.canary or self.memory[-GAP:] != self.canary


def in_place(number, data, options, form, runs, seed, limit, detail):
    """Run a case in this very process; return its status. Arguments are those of in_process."""
    print("at", number)
    around = Canaries(data)
    source = source_of(data, options)
    try:
        status = outcome_of(source, options, form, runs, seed, around.arena)
    except Outcome as e:
        print("find", number, "exception", e.args[1])
        return EXCEPTION
    if around.damaged():
        return CANARY
    if options & IN_MEMORY and source != data:
        return FILE_CHANGED
    return status


attempt = in_process if guard else in_place


def letter_of(number, status, case, limit, detail):
    """Return the letter of a case; print its fault, if any.

    Args:
        number: number of the case.
        status: status of the case, as in_process returns it.
        case: arguments of the case, to run it again for details.
        limit: milliseconds for the case.
        detail: the case has printed its details; otherwise it runs again to print them.
    """
    if 0 <= status < len(LETTERS):
        return LETTERS[status]
    if status == CANARY:
        print("find", number, "canary")
    elif status == FILE_CHANGED:
        print("find", number, "file")
    elif status == -SIGPROF:
        print("find", number, "timeout")
    elif status < 0:
        print("find", number, "signal", -status)
    elif status != EXCEPTION:
        print("find", number, "status", status)
    if guard and not detail:
        attempt(number, *case, limit, True)
    return FAULT


def warm_up(used):
    """Import what the undamaged file needs in these forms, so that no case has to import it."""
    seed = open("seed.bin", "rb").read()
    for form in used:
        for options in (IN_MEMORY | VERIFY, STREAM | VERIFY):
            try:
                outcome_of(source_of(seed, options), options, form, 2, 0)
            except Outcome as e:
                print("seed", e.args[1])


def cases(file, first):
    while True:
        header = file.read(HEADER_NBYTES)
        if len(header) < HEADER_NBYTES:
            return
        about = struct.unpack(HEADER, header)
        data = file.read(about[0])
        if about[1] >= first:
            yield about[1], (data,) + about[2:]


def main(first, limit, detail):
    global forms
    from mpconnxr import forms as module

    forms = [form for form in module.order if module.suits(form, module.arch())]
    warm_up(range(1, 1 + len(forms)) if guard else (0,))
    letters = []
    for number, case in cases(open("cases", "rb"), first):
        status = attempt(number, *case, limit, detail)
        letters.append(letter_of(number, status, case, limit, detail))
        if not guard:
            print("done", number, letters.pop())
    if letters:
        print("done", first, "".join(letters))


main(*[int(text) for text in sys.argv[1:]])
