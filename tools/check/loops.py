"""Compare random calls of all loops on a board with plain Python on this computer.

recipes.py makes the calls from declarations; those of some loops are written by hand, in calls/, a
file for each family. The calls are the same on every machine.
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
A_PART = 8  # families whose code and data together fit the heap of the smallest board
_TWO_CORE_FAMILIES = ("handover",)  # its loops wait for each other: see test_cores.py
_CORE = (package.NAME, *names(Use.LOOPS))  # with the module that leads to the package
_WORDS = 4096
_SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38, 1.0, -1.0]


@dataclass(frozen=True)
class Loop:
    """Result of one loop on a machine.

    Attributes:
        form: the form that the machine uses.
        digest: digest of all results; "" if its forms disagree.
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
    """Return {family: forms} of the families that have forms besides plain and run on one core."""
    result = {}
    loops = store.loops()
    for family in loops.families():
        forms = [form for form in loops.modules(family) if form != "plain"]
        forms = forms or [form for form in loops.forms_of(family) if form != "plain"]
        if forms and "plain" in loops.modules(family) and family not in _TWO_CORE_FAMILIES:
            result[family] = forms
    return result


def parts() -> list[list[str]]:
    """Return the families in groups that fit the smallest board."""
    names = list(families())
    return [names[i : i + A_PART] for i in range(0, len(names), A_PART)]


def data() -> bytes:
    """Return random words for calls: special floats, small numbers, any bits."""
    rng = np.random.default_rng(11)
    words = rng.integers(-(1 << 31), 1 << 31, _WORDS).astype(np.int32)
    kind = rng.integers(0, 4, _WORDS)
    special = np.array(_SPECIAL, np.float32).view(np.int32)
    words[kind == 0] = rng.choice(special, _WORDS)[kind == 0]
    words[kind == 1] = rng.normal(0, 9, _WORDS).astype(np.float32).view(np.int32)[kind == 1]
    words[kind == 2] = rng.integers(-300, 300, _WORDS)[kind == 2]
    return words.tobytes()


def files_for(names: list[str], n: int, machine: Machine | None) -> dict[str, bytes]:
    """Return the files for n calls of each loop of families, in the forms that suit a machine."""
    takes = [f"    forms.get({name!r})\n" for name in names]
    source = ["from .. import forms\n\ndef prepare(node):\n", *takes]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "every_loop.py").write_text("".join(source))
        model = SimpleNamespace(
            kernels=["every_loop"], optional=frozenset(), weights=(), is_streamed=False
        )
        code = code_for(model, Package(own=Path(folder), keeps_names=True), machine)
    files = {f.path: f.data for f in code if _is_for_loops(PurePosixPath(f.path))}
    return files | {"data": data()} | calls_for(names, n, machine)


def _is_for_loops(path):
    """Return True for a loop, and for helpers and modules of the core that loops need."""
    return path.parts[1] == "loops" or path.stem in _CORE or path.stem.startswith("_")


def written_by_hand(family: str) -> set[str]:
    """Return the names of functions in calls/FAMILY.py."""
    path = CALLS / f"{family}.py"
    nodes = ast.parse(path.read_text()).body if path.exists() else []
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def loops_of(family: str) -> list[str]:
    """Return the names of a family's loops that take x, w, out and p, and call no others."""
    known = access.loops(family).items()
    return [name for name, loop in known if tuple(loop.args) == access.ABI and not loop.of_others]


def calls_for(names: Sequence[str], n: int, machine: Machine | None = None) -> dict[str, bytes]:
    """Return the files from which on_board_loops.py makes n calls of each loop, by path."""
    files = _written_calls(names, machine)
    for family in names:
        loops = [name for name in loops_of(family) if name not in written_by_hand(family)]
        lines = [line for name in loops for line in recipes(family, name)[:n]]
        if lines:
            files[f"calls/{family}.txt"] = "".join(f"{line}\n" for line in lines).encode()
    return files


def _written_calls(names, machine):
    """Return calls/FAMILY.py of each family that has one, with the files that they import."""
    files: dict[str, bytes] = {}
    pending = ["draw", *[name for name in names if (CALLS / f"{name}.py").exists()]]
    while pending:
        name = pending.pop()
        source = (CALLS / f"{name}.py").read_text()
        made = compiled(source, f"{name}.py") if machine else source.encode()
        files[f"calls/{name}.{'mpy' if machine else 'py'}"] = made
        others = re.findall(r"^from (?:calls)?\.(\w+) import", source, re.MULTILINE)
        pending += [other for other in others if not any(f"/{other}." in path for path in files)]
    return files


def parsed(lines: list[str]) -> Iterator[Loop]:
    """Yield the results that on_board_loops.py printed."""
    for line in lines:
        fields = line.split()
        if fields[:1] == ["differs"]:
            yield Loop(fields[1], fields[2], fields[3], "")
        elif len(fields) == 5:
            yield Loop(fields[0], fields[1], fields[4], fields[3])


def expected(names: list[str], n: int) -> dict[tuple[str, str], str]:
    """Return the digests of n calls of each loop in plain Python."""
    files = {"mpconnxr": package.folder(), "data": data()} | calls_for(names, n)
    completed = get_target("cpython").run(SCRIPT, files=files, args=(str(n), *names), timeout=3600)
    if completed.returncode:
        raise RuntimeError(completed.stderr)
    return {loop.key: loop.digest for loop in parsed(completed.stdout.splitlines())}
