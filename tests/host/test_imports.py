"""Imports have no circles, between modules and between the packages of tools/.

Imports count at the top, in a function, and under TYPE_CHECKING. A module that imports `a.b.c`
also runs `a.b`, unless it is inside of it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tools.deploy.core import EXCEPTIONS, Use, names, path_of
from tools.deploy.core import modules as core_modules
from tools.package import SOURCES
from tools.program.build import REPLAY

ROOT = Path(__file__).parents[2]

Graph = Mapping[str, Collection[str]]


def modules(package: str) -> dict[str, Path]:
    """Return the files of a package by module."""
    files = sorted((ROOT / package).rglob("*.py"))
    return {".".join(f.relative_to(ROOT).with_suffix("").parts): f for f in files}


def imports(package: str) -> Graph:
    """Return what each module of a package imports of it."""
    results = {name.removesuffix(".__init__"): path for name, path in modules(package).items()}
    return {name: set(_imported(name, path, results)) for name, path in results.items()}


def _imported(name: str, path: Path, known: Collection[str]) -> Iterator[str]:
    inside = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        for expected in _names_in_import(node, inside):
            while expected and expected != name and not f"{inside}.".startswith(f"{expected}."):
                if expected in known:
                    yield expected
                expected = expected.rpartition(".")[0]


def _names_in_import(node: ast.AST, inside: str) -> Iterator[str]:
    """Yield all full names that an import may refer to: modules, or their contents."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        above = inside.split(".")[: len(inside.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, node.module] if node.module else above)
        yield from (f"{base}.{alias.name}" for alias in node.names)


def circle(graph: Graph) -> list[str]:
    """Return a circle of imports; an empty list if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as e:
        return e.args[1]
    return []


def packages(graph: Graph) -> Graph:
    """Return the imports between tools' packages, and the modules beside them."""
    results: dict[str, set[str]] = {}
    for name, expected in graph.items():
        package = _package(name)
        results.setdefault(package, set()).update({_package(w) for w in expected} - {package})
    return results


def _package(name):
    return ".".join(name.split(".")[:2])


def test_modules_of_the_tools_have_no_import_circle():
    assert not circle(imports("tools"))


def test_modules_of_the_device_have_no_import_circle():
    """A module that another one finds by a name in text, such as rare's, is not its import."""
    assert not circle(imports("mpconnxr"))


def test_packages_of_the_tools_have_no_import_circle():
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


def test_a_program_gets_the_modules_that_it_imports():
    """Imports in functions may be for models with kernels only."""
    needed = {*names(Use.PROGRAM | Use.REQUESTED)}
    here = {f"mpconnxr.{name}" for name in needed}
    for name in needed - {REPLAY}:  # which gets its loops into itself
        inside = f"mpconnxr.{name}".rpartition(".")[0]
        for node in ast.parse((SOURCES / path_of(name)).read_text()).body:
            for expected in _names_in_import(node, inside):
                for module in (expected, expected.rpartition(".")[0]):
                    is_module = (ROOT / module.replace(".", "/")).with_suffix(".py").exists()
                    assert not is_module or module in here, f"{name} imports {module}"


def test_modules_with_uses_of_their_own_exist():
    assert not EXCEPTIONS.keys() - core_modules().keys()
