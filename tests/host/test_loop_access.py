"""Loops read and write what they declare, in their plain forms.

Each is called with random data in buffers that note what is touched. The other forms:
tests/host/device/test_watched_loops.py.
"""

import ast
from array import array

import pytest

from tests.host.device.test_loop_forms import LONG
from tests.host.loop_calls import calls
from tests.host.test_plain_loops import made
from tools import access, store
from tools.access import Access, AccessError, Values

N_CALLS = 10_000 if LONG else 150
# Declared, and never touched by the plain form.
# They keep weights there, as they multiply by them.
OF_OTHER_FORMS = {("depthwise", "x", "writes"), ("qdot", "x", "writes")}


class Buffer:
    """A buffer that notes which elements a loop has read as they were, and which it has written.

    Attributes:
        is_open: a loop sees a program's memory, whose end says nothing.
    """

    is_open = False

    def __init__(self, elements):
        self.items = elements
        self.touched = {"reads": set(), "writes": set()}
        self.is_bytes = isinstance(elements, bytes | bytearray)
        self.code = "B" if self.is_bytes else getattr(elements, "typecode", None)
        self.nbytes = 1 if self.is_bytes else getattr(elements, "itemsize", None)  # None: objects

    def __len__(self):
        assert not (self.is_open and self.code), "p says how many items there are"
        return len(self.items)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i):
        assert isinstance(i, int), "loops take items one by one"
        if i not in self.touched["writes"]:
            self.touched["reads"].add(i)
        return self.items[i]

    def __setitem__(self, i, value):
        assert isinstance(i, int), "loops take items one by one"
        self.touched["writes"].add(i)
        if self.code and self.code in "bBhHiI":  # MicroPython's arrays take the lower bits
            half = 1 << 8 * self.nbytes - 1 if self.code.islower() else 0
            value = (value + half) % (1 << 8 * self.nbytes) - half
        self.items[i] = value


class Parts:
    """An object with buffers, which some loops take in place of a buffer."""


def watched(name, what, buffers):
    """Return the argument with a Buffer for each buffer in it, which `buffers` gets by name."""
    if what is None or isinstance(what, int | float):
        return what
    if not hasattr(what, "__len__"):
        parts = Parts()
        vars(parts).update({k: watched(f"{name}.{k}", v, buffers) for k, v in vars(what).items()})
        return parts
    if isinstance(what, tuple | list):
        what = [watched(f"{name}[{i}]", v, buffers) for i, v in enumerate(what)]
    buffers[name] = Buffer(what)
    return buffers[name]


def span(declared, buffer):
    """Return the first and the last byte of a declared range; for a list, elements."""
    nbytes = declared.nbytes if declared.nbytes and buffer.nbytes else buffer.nbytes or 1
    return declared.low * nbytes, declared.high * nbytes


def watch(call, loop, declared):
    """Call a loop; return (its undeclared accesses, declared accesses, touched elements)."""
    own = {"out": lambda v: v[:], "p": list}  # boards copy these, too: nothing else is the same
    call = {name: own.get(name, lambda v: v)(what) for name, what in call.items()}
    numbers = {name: what for name, what in call.items() if isinstance(what, int)}
    buffers = {}
    watched_call = [watched(name, what, buffers) for name, what in call.items()]
    lengths = {name: len(buffer) for name, buffer in buffers.items()}
    allowed = declared.accesses(call.get("p", ()), lengths, **numbers)
    for buffer in buffers.values():
        buffer.is_open = True
    loop(*watched_call)
    for buffer in buffers.values():
        buffer.is_open = False
    known = [a for a in allowed if a.argument in buffers]  # an optional part may be None
    results, touched = [], set()
    for each in known:
        buffer = buffers[each.argument]
        low, high = span(each, buffer)
        if not 0 <= low <= high <= len(buffer) * (buffer.nbytes or 1):
            results.append(f"{each} of {len(buffer)} items, {call}")
    for name, buffer in buffers.items():
        for kind, places in buffer.touched.items():
            spans = [span(a, buffer) for a in known if (a.argument, a.kind) == (name, kind)]
            size = buffer.nbytes or 1
            for i in places:
                touched.add((name, kind))
                if not any(low <= i * size and (i + 1) * size <= high for low, high in spans):
                    results.append(f"{kind} {name}[{i}], {call}")
    return results, {(a.argument, a.kind) for a in known}, touched


def beyond_trust(call, declared):
    """Return the first element that a loop may read beyond its declared limits, or None."""
    lengths = {name: len(what) for name, what in call.items() if hasattr(what, "__len__")}
    if not (limits := declared.trusted(call.get("p", ()), lengths)):
        return None
    reads = [a for a in declared.accesses(call["p"], lengths) if a.kind == "reads"]
    for each in limits:
        what, end = call[each.argument], _end(reads, each)
        elements, size = bytes(what), getattr(what, "itemsize", 1)
        signed = size == 4 and not each.is_magnitude
        for i in range(each.low, min(each.high, end)):
            element = int.from_bytes(elements[size * i : size * (i + 1)], "little", signed=signed)
            element = element & (1 << 31) - 1 if each.is_magnitude else element
            if not each.least <= element <= each.greatest:
                return each, i, element
    return None


def _end(reads, values):
    """Return the end of a call's reads of the argument."""
    return max([a.high for a in reads if a.argument == values.argument], default=0)


def functions(family):
    """Return {name: arguments} of the public functions of a family's module."""
    tree = ast.parse(store.loops().path(family).read_text())
    nodes = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    return {n.name: tuple(a.arg for a in n.args.args) for n in nodes if n.name[0] != "_"}


@pytest.mark.parametrize("family", access.families())
def test_loops_access_what_they_declare(family):
    plain = made(family)  # in the source, a slice of the parameters may be several items
    for name, loop in access.loops(family).items():
        assert loop.is_declared, name
        if loop.of_others:
            continue
        declared, touched = set(), set()
        for call in calls(family, name, N_CALLS):
            result, may, does = watch(call, getattr(plain, name), loop)
            assert not result, (name, result[0])
            assert not beyond_trust(call, loop), name
            declared |= may
            touched |= does
        never = {(family, *each) for each in declared - touched}
        assert not never - OF_OTHER_FORMS, name


def test_every_loop_is_declared():
    results = {f: access.loops(f) for f in access.families()}
    loops = {
        (f, name) for f in results for name, args in functions(f).items() if args == access.ABI
    }
    assert len(loops) >= 147
    assert loops <= {(f, name) for f in results for name, loop in results[f].items()}
    drivers = {(f, name) for f in results for name, loop in results[f].items() if loop.of_others}
    assert drivers == {
        (f, n)
        for f in results
        for n, args in functions(f).items()
        if args[-1] == "w" and args[0] == "p"
    }


def test_typed_forms_have_element_sizes():
    for family in access.families():
        if [*store.loops().forms_of(family)] == ["plain"]:
            continue
        for name, loop in access.loops(family).items():
            if loop.of_others:
                continue
            call = next(calls(family, name, 1))
            lengths = {k: len(v) for k, v in call.items()}
            for each in loop.accesses(call["p"], lengths):
                assert each.nbytes, (family, name, each)


LOOP = """
LEAST = 3

# Parameters of loop, other
_START = 0  # [elements]
_END = 1  # [elements]


def loop(x, w, out, p):
    \"\"\"What it does.

    Access:
        {}
    \"\"\"
    i = p[_START]
    while i < p[_END]:
        out[i] = x[i] + w[i]
        i += 1


def other(x, w, out, p):
    \"\"\"Access: as loop\"\"\"
"""
RIGHT = ("reads x[start : end]", "reads w[start : end]", "writes out[start : end]")


WITH_FOR = [Values("w", 0, 1, 1, 0, False), Values("w", 2, 3, 1, 1, False)]


def declared(folder, *lines):
    path = folder / str(len(list(folder.iterdir()))) / "some.py"  # a module is read once
    path.parent.mkdir()
    path.write_text(LOOP.format("\n        ".join(lines)))
    return access.read(path)


def planted(folder, *lines):
    """Return the undeclared accesses of a call of 4 elements from 2 on."""
    loops, names = declared(folder, *lines), {}
    exec(loops["loop"].path.read_text(), names)
    x, w, out = (array("h", range(6)) for _ in range(3))
    call = {"x": x, "w": w, "out": out, "p": [2, 6]}
    return watch(call, names["loop"], loops["loop"])[0]


def test_a_wrong_declaration_is_found(tmp_path):
    x, w, out = RIGHT
    assert not planted(tmp_path, *RIGHT)
    for wrong in (
        (x, w),
        (x, out),
        (x, w, "reads out[start : end]"),
        ("reads x[start : end - 1]", w, out),
        ("reads x[start + 1 : end]", w, out),
        ("reads x[start : end + 1]", w, out),
        ("reads x[start - 3 : end]", w, out),
        ("reads x as uint8[start : end]", w, out),
        ("reads x as int32[start : end]", w, out),
        ("reads x[start : end] if start > 2", w, out),
    ):
        assert planted(tmp_path, *wrong), wrong


def test_declared_lines_are_parsed(tmp_path):
    lines = (
        "n, k = p[0:2]",
        "last = [p[i] for i in range(2)][1]",
        "requires n < 9",
        "given what is in w is even",
        "reads x[LEAST : n + 3] if k",
        "reads w as int16[i * k : i * k + 2]",
        "    for i in range(2)",
        "reads w[0 : len(w)]",
        "reads w[1][k : len(w[1])]",
        "updates out as float32[0 : min(last, 7)]",
        "writes p[1 : 2]",
    )
    loop = declared(tmp_path, *lines)["loop"]
    assert loop.trusted_lines == ["what is in w is even"]
    assert loop.accesses([5, 4], {"w": 11, "w[1]": 6}) == [
        Access("p", "reads", 4, 0, 2),
        Access("x", "reads", None, 3, 8),
        Access("w", "reads", 2, 0, 2),
        Access("w", "reads", 2, 4, 6),
        Access("w", "reads", None, 0, 11),
        Access("w[1]", "reads", None, 4, 6),
        Access("out", "reads", 4, 0, 4),
        Access("out", "writes", 4, 0, 4),
        Access("p", "writes", 4, 1, 2),
    ]
    assert [a.argument for a in loop.accesses([5, 0], {"w": 0, "w[1]": 0})] == ["p", "w", "w", "p"]
    for p, lengths in (([9, 4], {"w": 1}), ([5], {"w": 1}), ([5, 4], {})):
        with pytest.raises(AccessError, match="some.py: loop: "):
            loop.accesses(p, lengths)


@pytest.mark.parametrize(
    "line, values",
    (
        ("given 0 <= w[0 : n] < LEAST", [Values("w", 0, 5, 0, 2, False)]),
        ("given w[1 : n] == n - 1", [Values("w", 1, 5, 4, 4, False)]),
        ("given 1 <= w[0 : 2]", [Values("w", 0, 2, 1, (1 << 32) - 1, False)]),
        ("given w[0 : 2] <= 1 << 4", [Values("w", 0, 2, -1 << 31, 16, False)]),
        ("given magnitude(w[0 : 2]) < 255 << 23", [Values("w", 0, 2, 0, (255 << 23) - 1, True)]),
        ("given 0 < w[2 * i : 2 * i + 1] <= i for i in range(2)", WITH_FOR),
        ("given 0 < w[0 : 1] < 9 if n < 5", []),
        ("given n == 5 and start < end", []),
        ("given apart((2, 1), (3, start), (1, 0))", []),
        ("given it is good", []),
    ),
)
def test_trusted_limits_are_checked(tmp_path, line, values):
    loop = declared(tmp_path, "n = end - start", line)["loop"]
    assert loop.trusted([2, 7]) == values
    assert len(loop.accesses([2, 7])) == 1
    assert loop.trusted_lines == [line.removeprefix("given ")]


@pytest.mark.parametrize("line", ("given start > end", "given apart((2, 1), (3, start - 1))"))
def test_parameters_that_violate_requirements_are_refused(tmp_path, line):
    loop = declared(tmp_path, line)["loop"]
    with pytest.raises(AccessError, match="some.py: loop: requires"):
        loop.trusted([2, 7])
    assert loop.accesses([2, 7])


def test_derived_parameters_are_computed(tmp_path):
    for line in ("given end == 2 * start", "requires end == 2 * start and start < 9"):
        p = [4, 0]
        declared(tmp_path, line)["loop"].solve(p)
        assert p == [4, 8]
    p = [4, 0]
    declared(tmp_path, "given end == 8 or start == 3")["loop"].solve(p)
    assert p == [4, 0]


def test_a_loop_may_use_another_loops_declaration(tmp_path):
    loops = declared(tmp_path, *RIGHT)
    assert loops["other"].accesses([0, 3]) == loops["loop"].accesses([0, 3])
    for line in ("as other", "as nothing"):
        with pytest.raises(AccessError):
            declared(tmp_path, line)["other"].accesses([0, 3])


@pytest.mark.parametrize(
    "line",
    (
        "looks at x[0 : 1]",
        "reads y[0 : 1]",
        "reads x",
        "reads x[0]",
        "reads x[0 : 1",
        "reads x[: 1]",
        "reads x[0 : 4 : 2]",
        "reads x as words[0 : 1]",
        "reads x[0 : 1] unless p[0]",
        "reads x[0 : 1.5]",
        "reads x[0 : open(p)]",
        "reads x[0 : p.n]",
        "reads x[0 : 2 ** p[0]]",
        "reads x[0 : (lambda: 1)()]",
        "requires",
        "given w[0 : 1] > 2",
        "given 0 < y[0 : 1]",
        "given 0 < w[0] < 2 **",
        "n = p[0] +",
        "as",
        "of the loops it calls",
    ),
)
def test_a_malformed_line_is_an_error(tmp_path, line):
    with pytest.raises(AccessError, match="some.py: loop: "):
        declared(tmp_path, *RIGHT, line)
