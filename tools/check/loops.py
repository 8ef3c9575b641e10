"""Random calls of all loops: the board's results against those of plain Python on this computer.

tools.check.recipes makes the calls from declarations; those of some loops are written by hand, in
calls/, a file a family. Each is the same on every machine.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import numpy as np

from tools import access, package, store
from tools.check.recipes import recipes
from tools.deploy.code import code_for
from tools.deploy.core import Use, names
from tools.deploy.modules import Package
from tools.machine import Machine
from tools.micropython import get_target
from tools.mpy.compile import compiled

CALLS = Path(__file__).with_name("calls")
SCRIPT = Path(__file__).with_name("on_board_loops.py")
A_PART = 8  # families, whose code and data fit the heap of the smallest board together
_OF_TWO_CORES = ("handover",)  # its loops wait for each other: tests/host/program/test_cores.py
_CORE = (package.NAME, *names(Use.LOOPS))  # with the module that leads to the package
_WORDS = 4096
_SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38, 1.0, -1.0]


@dataclass(frozen=True)
class Loop:
    """What a machine found: form is the one it took; digest: of all results, "" where its own
    forms disagree.
    """

    family: str
    name: str
    form: str
    digest: str

    @property
    def key(self) -> tuple[str, str]:
        """Family and name."""
        return self.family, self.name


def families() -> dict[str, list[str]]:
    """{family: forms besides plain}, of those that have any and that one core runs."""
    found = {}
    loops = store.loops()
    for family in loops.families():
        forms = [form for form in loops.modules(family) if form != "plain"]
        forms = forms or [form for form in loops.forms_of(family) if form != "plain"]
        if forms and "plain" in loops.modules(family) and family not in _OF_TWO_CORES:
            found[family] = forms
    return found


def parts() -> list[list[str]]:
    """Return the families, so many at once as the smallest board takes."""
    names = list(families())
    return [names[i : i + A_PART] for i in range(0, len(names), A_PART)]


def data() -> bytes:
    """Words for calls: special floats, small numbers, any bits."""
    rng = np.random.default_rng(11)
    words = rng.integers(-(1 << 31), 1 << 31, _WORDS).astype(np.int32)
    kind = rng.integers(0, 4, _WORDS)
    special = np.array(_SPECIAL, np.float32).view(np.int32)
    words[kind == 0] = rng.choice(special, _WORDS)[kind == 0]
    words[kind == 1] = rng.normal(0, 9, _WORDS).astype(np.float32).view(np.int32)[kind == 1]
    words[kind == 2] = rng.integers(-300, 300, _WORDS)[kind == 2]
    return words.tobytes()


def files_for(names: list[str], n: int, machine: Machine | None) -> dict[str, bytes]:
    """Return these families, each in the form that suits the machine, and n calls of each loop."""
    takes = [f"    forms.get({name!r})\n" for name in names]
    source = ["from .. import forms\n\ndef prepare(node):\n", *takes]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "every_loop.py").write_text("".join(source))
        model = SimpleNamespace(
            kernels=["every_loop"], optional=frozenset(), weights=(), is_streamed=False
        )
        code = code_for(model, Package(own=Path(folder), keeps_names=True), machine)
    found = {f.path: f.data for f in code if _is_for_loops(PurePosixPath(f.path))}
    return found | {"data": data()} | calls_for(names, n, machine)


def _is_for_loops(path):
    """Of a package's file: loops, what kernels share, and what either imports of the core."""
    return path.parts[1] == "loops" or path.stem in _CORE or path.stem.startswith("_")


def written_by_hand(family: str) -> set[str]:
    """Return the names of functions in calls/FAMILY.py."""
    path = CALLS / f"{family}.py"
    nodes = ast.parse(path.read_text()).body if path.exists() else []
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def loops_of(family: str) -> list[str]:
    """Return the names of a family's loops that take x, w, out and p, and call no others."""
    found = access.loops(family).items()
    return [name for name, loop in found if tuple(loop.args) == access.ABI and not loop.of_others]


def calls_for(names: Sequence[str], n: int, machine: Machine | None = None) -> dict[str, bytes]:
    """Return what on_board_loops.py makes n calls of each loop from, by path in its folder."""
    found = _written_calls(names, machine)
    for family in names:
        loops = [name for name in loops_of(family) if name not in written_by_hand(family)]
        lines = [line for name in loops for line in recipes(family, name)[:n]]
        if lines:
            found[f"calls/{family}.txt"] = "".join(f"{line}\n" for line in lines).encode()
    return found


def _written_calls(names, machine):
    """calls/FAMILY.py for each that has one, with what these files import of each other."""
    found: dict[str, bytes] = {}
    wanted = ["draw", *[name for name in names if (CALLS / f"{name}.py").exists()]]
    while wanted:
        name = wanted.pop()
        source = (CALLS / f"{name}.py").read_text()
        made = compiled(source, f"{name}.py") if machine else source.encode()
        found[f"calls/{name}.{'mpy' if machine else 'py'}"] = made
        others = re.findall(r"^from (?:calls)?\.(\w+) import", source, re.MULTILINE)
        wanted += [other for other in others if not any(f"/{other}." in path for path in found)]
    return found


def parsed(lines: list[str]) -> Iterator[Loop]:
    """What on_board_loops.py printed."""
    for line in lines:
        fields = line.split()
        if fields[:1] == ["differs"]:
            yield Loop(fields[1], fields[2], fields[3], "")
        elif len(fields) == 5:
            yield Loop(fields[0], fields[1], fields[4], fields[3])


def expected(names: list[str], n: int) -> dict[tuple[str, str], str]:
    """Digests of n calls of each loop in plain Python."""
    files = {"mpconnxr": package.folder(), "data": data()} | calls_for(names, n)
    done = get_target("cpython").run(SCRIPT, files=files, args=(str(n), *names), timeout=3600)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return {loop.key: loop.digest for loop in parsed(done.stdout.splitlines())}
