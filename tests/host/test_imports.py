"""Imports go in one direction: no module reaches itself, nor does a package of tools/.

Imports count wherever they stand: at the top, in a function, under TYPE_CHECKING. Who imports
`a.b.c` runs `a.b` as well, unless it lies in there itself.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tools import package
from tools.deploy.core import EXCEPTIONS, Use, names, path_of
from tools.deploy.core import modules as core_modules
from tools.program.build import REPLAY

ROOT = Path(__file__).parents[2]

Graph = Mapping[str, Collection[str]]


def modules(package: str) -> dict[str, Path]:
    """The files of a package by module."""
    files = sorted((ROOT / package).rglob("*.py"))
    return {".".join(f.relative_to(ROOT).with_suffix("").parts): f for f in files}


def imports(package: str) -> Graph:
    """What each module of a package imports of it."""
    found = {name.removesuffix(".__init__"): path for name, path in modules(package).items()}
    return {name: set(_imported(name, path, found)) for name, path in found.items()}


def _imported(name: str, path: Path, known: Collection[str]) -> Iterator[str]:
    inside = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        for wanted in _wanted(node, inside):
            while wanted and wanted != name and not f"{inside}.".startswith(f"{wanted}."):
                if wanted in known:
                    yield wanted
                wanted = wanted.rpartition(".")[0]


def _wanted(node: ast.AST, inside: str) -> Iterator[str]:
    """Full names that an import may be of: modules, or what is in them."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        above = inside.split(".")[: len(inside.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, node.module] if node.module else above)
        yield from (f"{base}.{alias.name}" for alias in node.names)


def circle(graph: Graph) -> list[str]:
    """Names of which each needs the one before; none if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as e:
        return e.args[1]
    return []


def packages(graph: Graph) -> Graph:
    """The same for tools' packages, and the modules beside them."""
    found: dict[str, set[str]] = {}
    for name, wanted in graph.items():
        package = _package(name)
        found.setdefault(package, set()).update({_package(w) for w in wanted} - {package})
    return found


def _package(name):
    return ".".join(name.split(".")[:2])


def test_no_module_of_the_tools_imports_itself_by_way_of_others():
    assert not circle(imports("tools"))


def test_no_module_of_the_device_imports_itself_by_way_of_others():
    """Modules that others find by a name in text, such as rare's, are no imports of theirs."""
    assert not circle(imports("mpconnxr"))


def test_no_package_of_the_tools_imports_itself_by_way_of_others():
    assert not circle(packages(imports("tools")))


def test_circles_are_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "p" / "q").mkdir(parents=True)
    files = {"a": "from . import b", "b": "def f():\n    import p.q.c", "q/__init__": ""}
    files["q/c"] = "if TYPE_CHECKING:\n    from ..a import x"
    for name, text in files.items():
        (tmp_path / "p" / f"{name}.py").write_text(text)
    assert set(circle(imports("p"))) == {"p.a", "p.b", "p.q.c"}
    (tmp_path / "p" / "q" / "c.py").write_text("from . import d")
    (tmp_path / "p" / "q" / "__init__.py").write_text("from ..b import f")
    assert set(circle(imports("p"))) == {"p.b", "p.q"}


def test_a_program_has_the_modules_that_its_own_import():
    """At their top, that is: what functions import may be for models with kernels alone."""
    needed = {*names(Use.PROGRAM | Use.ASKED)}
    here = {f"mpconnxr.{name}" for name in needed}
    for name in needed - {REPLAY}:  # which gets its loops into itself
        inside = f"mpconnxr.{name}".rpartition(".")[0]
        for node in ast.parse((package.SOURCES / path_of(name)).read_text()).body:
            for wanted in _wanted(node, inside):
                for module in (wanted, wanted.rpartition(".")[0]):
                    is_module = (ROOT / module.replace(".", "/")).with_suffix(".py").exists()
                    assert not is_module or module in here, f"{name} imports {module}"


def test_modules_with_uses_of_their_own_exist():
    assert not EXCEPTIONS.keys() - core_modules().keys()
