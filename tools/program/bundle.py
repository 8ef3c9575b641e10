"""Generate the module of a program: everything besides the model's file and the package's core.

The module is one function, `load`, which is released after the call. It contains start.load and
its helpers, their arguments, and a function that makes the entries of the calls from views and
words of parameters. The loops are inside of that function. So only what is called stays in memory:
no names, no module.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpconnxr.tensor import code_of, name_of
from tools import package, store
from tools.deploy.core import path_of
from tools.format import reader
from tools.format.layout import (
    CHUNK_GOLDEN,
    CHUNK_IMAGES,
    CHUNK_LABELS,
    CHUNK_NODES,
    DIGEST_AT,
    image_records,
)
from tools.machine import Machine, is_native

from .call import INLINE, Call, CannotRecord, Constant, Loop, Recording, StartArgument, Value
from .cores import MEET
from .link import Linker
from .table import MEMORIES, OF_TWO, Slice, Table, View

FOLDER = "programs"  # folder of programs in the package
_START = Path(__file__).with_name("start.py")
_IMAGE_MODULES = ("io.images", "parameters")  # modules for image inputs


@dataclass(frozen=True)
class Bundle:
    """The sources of a program's modules.

    Attributes:
        name: name of the module in the package's folder FOLDER.
        source: source of the module.
        steps: source of the module NAME_steps, from which profile() names the steps.
        code_nbytes: size of the tables of calls.
        arena_nbytes: arena that a run needs.
        arch: architecture that the source is compiled for, "" without native code.
        later: modules of the package that a run may import.
    """

    name: str
    source: str
    steps: str
    code_nbytes: int
    arena_nbytes: int
    arch: str
    later: frozenset[Path]


def form_of(family: str, machine: Machine) -> Path:
    """Return the module of a family in the best form that a board can run.

    Raises:
        CannotRecord: if the board can run none.
    """
    best = store.loops().best(family, machine)
    if best is None:
        raise CannotRecord(f"{family} has no form for this board")
    return best[1]


def has_form(machine: Machine, family: str, form: str) -> bool:
    """Return True if a board runs a family in exactly this form."""
    loops = store.loops()
    best = loops.best(family, machine)
    return best is not None and best[1] == loops.path(family, form)


def bundle(data: bytes, recording: Recording, machine: Machine, tables: list[Table]) -> Bundle:
    """Generate the module for a model file and a board.

    Args:
        data: the model file.
        recording: calls of the first core.
        machine: code that the board can run.
        tables: table of calls of each core.

    Raises:
        CannotRecord: if the board can run no form of a loop.
    """
    used = list(dict.fromkeys(loop for table in tables for loop in _loops(table)))
    linker = Linker(lambda path: bool(machine.arch) and machine.runs(path.read_text()), True, "g")
    rare = [loop for loop in used if loop.is_rare]
    names = {loop: _take(linker, loop, machine) for loop in used if not loop.is_rare}
    names |= {loop: f"r{i}" for i, loop in enumerate(rare)}
    start = Linker(lambda path: False)
    is_pair = len(tables) > 1
    load = start.take(_START, "load_pair" if is_pair else "load")
    parameters = ["v", "s", "w", "v1", "s1", "w1", "h", "i"] if is_pair else ["v", "s"]
    arguments = [repr(_about(data, recording, tables[0])), "entries"]
    arguments += [repr(_of_table(table)) for table in tables[1:]]
    if _has_how(machine):
        arguments += [start.take(_START, name) for name in ("itself", "by_how")]
    else:
        arguments += [start.take(_START, "address"), "None"]
    inner = [
        *start.source().splitlines(),
        f"def entries({', '.join(parameters)}):",
        *_indented(linker.source().splitlines()),
        *_indented(_later(names[loop], loop) for loop in rare),
        *_indented(_entries(tables, names)),
        f"return {load}(*a, {', '.join(arguments)})",
    ]
    source = "\n".join([linker.outer(), "def load(*a):", *_indented(inner)])
    name = "m" + data[DIGEST_AT : DIGEST_AT + 8].hex()
    arch = machine.arch if is_native(source) else ""
    folder = package.folder()
    later = {form_of(loop.family, machine) for loop in rare}
    if _pictures(data):
        later |= {form_of("image", machine), *(folder / path_of(name) for name in _IMAGE_MODULES)}
    later |= {folder / f"{name}.py" for name in ("forms", "later")} if later else set()
    steps = f"steps = {_steps(data, recording, machine)!r}\n"
    if labels := _labels(data):
        steps += f"labels = {labels!r}\n"
    nbytes = sum(len(table.code) for table in tables), recording.arena_nbytes
    return Bundle(name, source, steps, *nbytes, arch, frozenset(later | linker.later))


def replay(machine: Machine) -> str:
    """Return the source of mpconnxr.replay with the loops it uses linked in."""
    return _with_loops("replay", machine, "program", ("advance", "run"))


def cores(machine: Machine) -> str:
    """Return the source of mpconnxr.cores with the loops it uses linked in."""
    return _with_loops("cores", machine, "handover", ("attend", "begin", "fence"))


def _with_loops(name: str, machine: Machine, family: str, loops: tuple[str, ...]) -> str:
    """Return the source of a module of the package with the loops that it uses put into it.

    Args:
        name: name of the module, such as "replay".
        machine: chooses the form of the loops.
        family: family of the loops.
        loops: names of the loops.
    """
    linker = Linker(lambda path: bool(machine.arch) and machine.runs(path.read_text()))
    path = form_of(family, machine)
    names = [linker.take(path, each) for each in loops]
    text = (package.folder() / f"{name}.py").read_text()
    before = text.index("from .forms import")
    first = text.index("_loops = _form(")
    last = text.index("\n\n", first)
    made = f"{linker.source()}{', '.join(loops)} = {', '.join(names)}"
    if name == "replay" and _has_how(machine):
        made += f"\nHOW = {linker.take(path, 'HOW')}"
    text = text[:first] + made + text[last:]
    return text[:before] + text[before:].replace("from .forms import get as _form\n", "", 1)


def _has_how(machine: Machine) -> bool:
    """Return True if a board's form of loops/program takes views, code and words as objects."""
    return "\nHOW = " in form_of("program", machine).read_text()


def _indented(lines: Iterable[str]) -> list[str]:
    return [f" {line}" for line in lines]


def _take(linker: Linker, loop: Loop, machine: Machine) -> str:
    if loop == OF_TWO:
        return linker.take(store.loops().path("program"), loop.name)
    if loop.family.startswith(INLINE):
        scope = package.folder() / "ops" / f"{loop.family.removeprefix(INLINE)}.py"
        return linker.take_source(loop.name, scope, "loop")
    return linker.take(form_of(loop.family, machine), loop.name)


def _later(name: str, loop: Loop) -> str:
    """Return code that imports a rare loop from the package when it is first called."""
    getter = f"__import__('mpconnxr.forms').forms.later({loop.family!r}, {loop.name!r})"
    return f"{name} = lambda p, w: {getter}(p, w)"


def _about(data: bytes, recording: Recording, table: Table) -> tuple:
    """Return the tuple `about` that start.load reads, in its order."""
    return (
        hashlib.sha256(data).digest(),
        len(data),
        recording.arena_nbytes,
        recording.state_nbytes,
        *recording.resident,
        recording.reads,
        *_of_table(table),
        sum(table.calls),
        _interface(data, recording),
        recording.n_inputs,
        _golden(data),
    )


def _of_table(table: Table) -> tuple:
    """Return a table as the tuple that start.load reads.

    The tuple has (memory, struct code, size) of each view, the number of words, the code that sets
    views and words, the code of a run, and the constants.
    """
    kinds = tuple((memory, *_sized(code)) for memory, code in table.views)
    return kinds, table.n_words, table.before, table.code, table.constants


def _steps(data: bytes, recording: Recording, machine: Machine) -> tuple:
    """Return for each step its number, node name, kernel, forms of loops, and number of calls."""
    nodes = _names(data, CHUNK_NODES)
    result = []
    for step in recording.steps:
        calls = [call for call in step.calls if isinstance(call, Call)]
        if calls:
            families = {call.loop.family for call in calls if call.loop != MEET}
            families = {family for family in families if not family.startswith(INLINE)}
            forms_of = {form_of(family, machine).parent.name for family in families}
            taken = tuple(sorted(form.replace("loops", "plain") for form in forms_of))
            node = nodes[step.number] if step.number < len(nodes) else ""
            result.append((str(step.number), node, step.kernel, taken, len(calls)))
    return tuple(result)


def _labels(data: bytes) -> tuple[str, ...]:
    """Return the names of the classes; none if the file has none."""
    return tuple(_names(data, CHUNK_LABELS))


def _names(data: bytes, kind: int) -> list[str]:
    """Return the names in a file's chunk; bytes that are not UTF-8 are marked."""
    chunk = reader.read(data).chunk(kind)
    return chunk.data.decode(errors="replace").split("\0")[:-1] if chunk else []


def _golden(data: bytes) -> tuple[int, int]:
    """Return offset and size of the golden vectors in the file; (0, 0) without any."""
    chunk = reader.read(data).chunk(CHUNK_GOLDEN)
    return (chunk.offset, len(chunk.data)) if chunk else (0, 0)


def _interface(data: bytes, recording: Recording) -> tuple:
    pictures = _pictures(data)
    return tuple(_interface_tensor(*b, pictures.get(i)) for i, b in enumerate(recording.interface))


def _interface_tensor(memory, offset, nbytes, dtype, shape, name, grid, picture) -> tuple:
    """Return the tuple from which start.py makes an input or output.

    Args:
        memory: name of the tensor's memory.
        offset: its offset there [bytes].
        nbytes: its size.
        dtype: ONNX number.
        shape: its shape.
        name: its name.
        grid: (scale, zero point), or None.
        picture: the file's record of the image that the input takes, or None.
    """
    if grid:  # as bits: boards parse decimals less exactly
        grid = struct.pack("<fi", *grid)
    fields = nbytes, name_of(dtype), shape, name
    more = () if picture is None else (picture,)
    return (
        MEMORIES.index(memory),
        *_sized(code_of(dtype)),
        offset,
        fields,
        dtype,
        grid,
        more,
    )


def _pictures(data: bytes) -> dict[int, bytes]:
    """Return the record of each image input, by input, as if it were the only one."""
    chunks = [c for c in reader.read(data).chunks if c.kind == CHUNK_IMAGES]
    records = [record for c in chunks for record in image_records(c.data)]
    return {record[0]: bytes(1) + record[1:] for record in records}


def _sized(code: str) -> tuple[int, int]:
    """Return a struct code as its number, and its size."""
    return ord(code), struct.calcsize(code)


def _loops(table: Table) -> Iterator[Loop]:
    """Yield the loops that a table calls, or passes to other loops."""
    yield from (thing for thing in _things(table.entries) if isinstance(thing, Loop))


def _things(thing: Any) -> Iterator[Any]:
    if isinstance(thing, list | tuple):
        for each in thing:
            yield from _things(each)
    else:
        yield thing


def _entries(tables: list[Table], names: dict[Loop, str]) -> list[str]:
    """Return statements that make the entries of all tables.

    In them `v` are the views and `s` the words of all blocks; the second core has `v1` and `s1`.
    """
    head, entries = [], []
    for table, which in zip(tables, ("", "1"), strict=False):
        held = [t for t in _things(table.entries) if isinstance(t, Constant)]
        held = list(dict.fromkeys(held))
        made = [f"array({t.code!r}, {t.contents!r})" for t in held]
        head += ["from array import array", f"t{which} = [{', '.join(made)}]"] if made else []
        entries.append(_of_core(table, held, names, which))
    if len(entries) == 1:
        return [*head, "return (", *entries[0], ")"]
    return [*head, "return (", *(f" ({' '.join(each)})," for each in entries), ")"]


def _of_core(table: Table, held: list[Constant], names: dict[Loop, str], which: str) -> list[str]:
    """Return the entries of one core's table as source lines.

    Args:
        table: the table.
        held: the constants that the module holds.
        names: names of the loops in the module.
        which: suffix of the names of this core's views (v), blocks (s), words (w) and constants
            (t).
    """

    def text(a: Any) -> str:
        if isinstance(a, View):
            return f"v{which}[{a.number}]"
        if isinstance(a, Slice):
            return f"s{which}[{a.first}:{a.last}]"
        if isinstance(a, Loop):
            return names[a]
        if isinstance(a, Value):
            return repr(a.value)
        if isinstance(a, StartArgument):
            return f"w{which}" if a.name == "w" else a.name
        if isinstance(a, Constant):
            return f"t{which}[{held.index(a)}]"
        return f"[{', '.join(map(text, a))}]"

    return [f" ({', '.join(map(text, entry))})," for entry in table.entries]
