"""The module of a program: what a board needs besides the model's file and the package's core.

It is one function, load, which is let go of: in it start.load and its helpers, what that reads,
and a function that makes the entries of the calls, from views and from words of parameters. The
loops are within that function. So nothing stays but what is called: no names, no module.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpconnxr import forms
from mpconnxr.tensor import code_of, name_of
from tools.deploy.machine import Machine, is_native
from tools.deploy.shrink import shrunk
from tools.format import reader
from tools.format.layout import (
    CHUNK_GOLDEN,
    CHUNK_IMAGES,
    CHUNK_LABELS,
    CHUNK_NODES,
    DIGEST_AT,
    IMAGE,
)

from .encode import encode
from .layout import Entry, Layout, Slice, View
from .link import Linker
from .record import INLINE, Call, CannotRecord, Loop, Recording, Table, Value

FOLDER = "programs"  # in the package
_PACKAGE = Path(__file__).parents[2] / "mpconnxr"
_LOOPS = _PACKAGE / "loops"
_START = Path(__file__).with_name("start.py")
_ARCHS_OF_64 = ("x64", "rv64imc")
_WORDS_OF_32 = 'raise ImportError("words of 64 bits")'
_MEMORIES = {"a": 0, "s": 1, "f": 2}  # as start.load counts them
_OF_PICTURES = ("images", "borders", "parameters")  # modules of the package that they take
_ADVANCE, _OF_TWO = Loop("program", "advance"), Loop("program", "of_two")


@dataclass(frozen=True)
class Bundle:
    """name: of the module, in the package's folder FOLDER; source; code_nbytes: of its calls;
    arch: what it is to be compiled for, "" if it has no native code; later: modules of
    the package that it may import in a run; steps: source of the module beside it, name and
    "_steps", from which profile() tells steps.
    """

    name: str
    source: str
    steps: str
    code_nbytes: int
    arch: str
    later: frozenset[Path]


def form_of(family: str, machine: Machine) -> Path:
    """The module of a family that a board takes: the best form that it can run.

    Raises CannotRecord where it has none.
    """
    plain = _LOOPS / f"{family}.py"
    for form in forms.order:
        path = _path(family, form)
        if form == "viper" and not path.exists():
            path = plain  # written once, if it has viper at all
        if not path.exists() or not forms.suits(form, machine.number):
            continue
        source = path.read_text()
        if _WORDS_OF_32 in source and machine.arch in _ARCHS_OF_64:
            continue
        if form == "plain" or machine.arch and is_native(source) and machine.runs(source):
            return path
    raise CannotRecord(f"{family} has no form for this board")


def has_form(machine: Machine, family: str, form: str) -> bool:
    """Whether a board runs a family in this very form."""
    path = _path(family, form)
    return path.exists() and forms.suits(form, machine.number) and form_of(family, machine) == path


def _path(family: str, form: str) -> Path:
    return (_LOOPS if form == "plain" else _LOOPS / form) / f"{family}.py"


def bundle(data: bytes, recording: Recording, machine: Machine) -> Bundle:
    """The module for a model file and a board. Raises CannotRecord."""
    layout = Layout(recording)
    code = encode(layout)
    wanted = layout.loops()
    if any(len(entry.arguments) == 2 for entry in layout.entries):
        wanted.append(_OF_TWO)
    linker = Linker(lambda path: bool(machine.arch) and machine.runs(path.read_text()), True, "g")
    rare = [loop for loop in wanted if loop.is_rare]
    names = {loop: _take(linker, loop, machine) for loop in wanted if not loop.is_rare}
    names |= {loop: f"r{i}" for i, loop in enumerate(rare)}
    start = Linker(lambda path: False)
    load = start.take(_START, "load")
    inner = [
        *start.source().splitlines(),
        "def entries(v, s):",
        *_indented(linker.source().splitlines()),
        *_indented(_later(names[loop], loop) for loop in rare),
        *_indented(_entries(layout, names)),
        f"return {load}(*a, {_about(data, recording, layout, code, machine)!r}, entries)",
    ]
    text = "\n".join([linker.outer(), "def load(*a):", *_indented(inner)])
    source = shrunk(text)
    name = "m" + data[DIGEST_AT : DIGEST_AT + 8].hex()
    arch = machine.arch if is_native(source) else ""
    later = {form_of(loop.family, machine) for loop in rare}
    if _pictures(data):
        later |= {form_of("image", machine), *(_PACKAGE / f"{name}.py" for name in _OF_PICTURES)}
    later |= {_PACKAGE / "forms.py"} if later else set()
    steps = f"steps = {_steps(data, recording, machine)!r}\n"
    if labels := _labels(data):
        steps += f"labels = {labels!r}\n"
    return Bundle(name, source, steps, len(code), arch, frozenset(later | linker.later))


def replay(machine: Machine) -> str:
    """The source of mpconnxr.replay with the loops that it takes in it."""
    linker = Linker(lambda path: bool(machine.arch) and machine.runs(path.read_text()))
    path = form_of(_ADVANCE.family, machine)
    names = [linker.take(path, name) for name in ("advance", "run")]
    text = (_PACKAGE / "replay.py").read_text()
    first, last = text.index("from .forms import"), text.index("_FIELDS =")
    loops = f"{linker.source()}advance, run = {', '.join(names)}\n"
    return text[:first] + loops + text[last:]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f" {line}" for line in lines]


def _take(linker: Linker, loop: Loop, machine: Machine) -> str:
    if loop == _OF_TWO:
        return linker.take(_LOOPS / "program.py", loop.name)
    if loop.family.startswith(INLINE):
        scope = _PACKAGE / "ops" / f"{loop.family.removeprefix(INLINE)}.py"
        return linker.take_source(loop.name, scope, "loop")
    return linker.take(form_of(loop.family, machine), loop.name)


def _later(name: str, loop: Loop) -> str:
    """A rare loop stays in the package, as the kernels have it."""
    found = f"__import__('mpconnxr.forms').forms.later({loop.family!r}, {loop.name!r})"
    return f"{name} = lambda p, w: {found}(p, w)"


def _about(
    data: bytes, recording: Recording, layout: Layout, code: bytes, machine: Machine
) -> tuple:
    """What start.load reads, in its order."""
    calls = sum(len(step.calls) for step in recording.steps) - recording.n_reads
    return (
        hashlib.sha256(data).digest(),
        len(data),
        recording.arena_nbytes,
        recording.state_nbytes,
        *recording.resident,
        recording.reads,
        form_of(_ADVANCE.family, machine) == _path(_ADVANCE.family, "plain"),
        tuple((_MEMORIES[v.memory[0]], *_item(v.code)) for v in layout.views),
        sum(layout.slots),
        calls,
        code,
        _borders(data, recording),
        recording.n_inputs,
        _golden(data),
    )


def _steps(data: bytes, recording: Recording, machine: Machine) -> tuple:
    """Of each step: its number, the node's name, its kernel, forms of its loops, its calls."""
    chunks = [c.data for c in reader.read(data).chunks if c.kind == CHUNK_NODES]
    nodes = bytes(chunks[0]).decode().split("\0") if chunks else []
    found = []
    for step in recording.steps:
        calls = [call for call in step.calls if isinstance(call, Call)]
        if calls:
            families = {
                call.loop.family for call in calls if not call.loop.family.startswith(INLINE)
            }
            forms_of = {form_of(family, machine).parent.name for family in families}
            taken = tuple(sorted(form.replace("loops", "plain") for form in forms_of))
            node = nodes[step.number] if step.number < len(nodes) else ""
            found.append((str(step.number), node, step.kernel, taken, len(calls)))
    return tuple(found)


def _labels(data: bytes) -> tuple[str, ...]:
    """Of the classes; none where the file has none."""
    chunks = [c.data for c in reader.read(data).chunks if c.kind == CHUNK_LABELS]
    return tuple(bytes(chunks[0]).decode().split("\0")[:-1]) if chunks else ()


def _golden(data: bytes) -> tuple[int, int]:
    """Where the golden vectors lie in the file, and their bytes; (0, 0) without any."""
    chunks = [c for c in reader.read(data).chunks if c.kind == CHUNK_GOLDEN]
    return (chunks[0].offset, len(chunks[0].data)) if chunks else (0, 0)


def _borders(data: bytes, recording: Recording) -> tuple:
    pictures = _pictures(data)
    return tuple(_border(*b, pictures.get(i)) for i, b in enumerate(recording.borders))


def _border(letter, offset, nbytes, dtype, shape, name, grid, picture) -> tuple:
    if grid:  # its bits: boards read decimals less exactly
        grid = struct.pack("<fi", *grid)
    fields = nbytes, name_of(dtype), shape, name
    more = () if picture is None else (picture,)
    return _MEMORIES[letter], *_item(code_of(dtype)), offset, fields, dtype, grid, more


def _pictures(data: bytes) -> dict[int, bytes]:
    """Records of images by the number of their input, each as if this were the only one."""
    chunks = [c for c in reader.read(data).chunks if c.kind == CHUNK_IMAGES]
    records = [record for c in chunks for record in IMAGE.iter_unpack(c.data)]
    return {record[0]: IMAGE.pack(0, *record[1:]) for record in records}


def _item(code: str) -> tuple[int, int]:
    """A struct code as its number, and its size."""
    return ord(code), struct.calcsize(code)


def _entries(layout: Layout, names: dict[Loop, str]) -> list[str]:
    """Statements that make them: v are the views, s the words of all slots."""
    tables = layout.tables()
    firsts = [sum(layout.slots[:i]) for i in range(len(layout.slots))]

    def text(a: Any) -> str:
        if isinstance(a, View):
            return f"v[{layout.views[a]}]"
        if isinstance(a, Slice):
            return f"s[{firsts[a.slot] + a.first}:{firsts[a.slot] + a.last}]"
        if isinstance(a, Loop):
            return names[a]
        if isinstance(a, Value):
            return repr(a.value)
        if isinstance(a, Table):
            return f"t[{tables.index(a)}]"
        return f"[{', '.join(map(text, a))}]"

    def entry(e: Entry) -> str:
        first = [names[e.loop], *map(text, e.arguments)]
        if len(e.arguments) == 2:
            first = [names[_OF_TWO], *map(text, e.arguments), names[e.loop], "0"]
        return f" ({', '.join(first)}),"

    made = [f"array({t.code!r}, {t.contents!r})" for t in tables]
    head = ["from array import array", f"t = [{', '.join(made)}]"] if made else []
    return [*head, "return (", *map(entry, layout.entries), ")"]
