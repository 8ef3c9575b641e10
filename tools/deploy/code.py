"""The package's modules as files for one board: compiled, each family of loops in one form.

The form is the one that the board would choose (mpconnxr.forms): the best that it can run. Where
it has no native code, a family that is written once for Python and viper goes there as plain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from mpconnxr import forms
from tools.machine import Machine, is_native, plain
from tools.mpy.compile import CompileError, compiled

from .board_names import renamed, shown
from .joined import joined, merged
from .model_file import ModelFile
from .modules import Forms, Package
from .shrink import narrow, stripped, with_short_locals

BLOCK = 4096  # bytes: the least that a file takes in a board's flash
ROOM = 1_190_000 // BLOCK  # blocks for a package: a Pico keeps 250 KB of its file system


@dataclass(frozen=True)
class File:
    """path: on the board; data: what shall be there; stale: files that it takes the place of;
    loaded: it is in memory when the model runs, or while it is loaded.
    """

    path: str
    data: bytes
    stale: tuple[str, ...] = ()
    loaded: bool = False

    def under(self, folder: str) -> File:
        """Return the file in a folder of the board."""
        at = folder.rstrip("/")
        stale = tuple(f"{at}/{path}" for path in self.stale)
        return replace(self, path=f"{at}/{self.path}", stale=stale)


def code_for(model: ModelFile, package: Package, machine: Machine | None) -> list[File]:
    """What a model needs of the package, below a folder. Sources in all forms without a machine.

    Raises DeployError.
    """
    builder = Builder(package, machine or Machine(""))
    chosen = package.files_for(model.kernels, model.optional, builder.pick)
    used = model.optional - {"inspect.golden_objects"} | (
        {"stream"} if model.is_streamed else set()
    )
    loaded = package.loaded_for(model.kernels, used, model.weights, builder.pick)
    if machine is None:
        paths = package.files_for(model.kernels, model.optional)
        paths = [path for path in paths if package.loops.form_of(path) not in forms.COMPILED]
        files = [(path, _file(package, path, path.read_bytes(), ".py", paths)) for path in paths]
    else:
        sources = merged({package.module(path): path.read_text() for path in chosen})
        left = {path: sources.get(package.module(path)) for path in chosen}
        built = [(path, builder.build(path, text)) for path, text in left.items() if text]
        files = [(path, _file(package, path, data, ".mpy", chosen)) for path, data in built]
    first, file = files[0]
    paths = package.earlier()
    if machine:
        paths += _without_form(package, model, chosen) + [path for path in left if not left[path]]
    files[0] = first, replace(file, stale=file.stale + _both_kinds(package, paths))
    return [replace(file, loaded=path in loaded) for path, file in files]


def whole(package: Package, machine: Machine | None) -> dict[str, bytes]:
    """Return all of the package by its files' paths on a board, for any model.

    Without a machine it is for any board: sources without docstrings and comments, with the loops
    in viper and in plain Python. Else it is compiled, with each family in its best form. Raises
    DeployError.
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
        package.takers(paths, builder.pick),
        lambda path: 0 if path in always else len(builder.build(path)),
        lambda sources: sum(-(-len(data) // BLOCK) for data in built(sources).values()) <= ROOM,
    )
    places = {name: PurePosixPath(package.place(path)) for name, path in modules.items()}
    return {str(places[name].with_suffix(".mpy")): data for name, data in built(sources).items()}


def _small(package: Package, path: Path) -> str:
    text = stripped(path.read_text())
    return narrow(text if package.loops.form_of(path) is None else with_short_locals(text))


def _viper_and_plain(family: str, modules: Forms) -> list[str]:
    return [modules[form] for form in ("viper", "plain") if form in modules]


def entry_for(package: Package, machine: Machine | None, away: str) -> File:
    """A module that is the package, but whose other modules lie in `away`, a path after its own.

    What has a __path__ is a package for MicroPython, and that is where it finds the modules.
    """
    source = package.path("").read_text()
    source = f'__path__ = __file__[: __file__.rindex(".")] + "{away}"; {source}'
    name = package.folder.name
    if machine is None:
        return File(f"{name}.py", source.encode())
    return File(f"{name}.mpy", compiled(renamed(package, name, source), shown(name)))


def _file(package, path, data, suffix, chosen):
    """Stale are the other kind of file, and the forms of loops that were not chosen."""
    place = PurePosixPath(package.place(path))
    other = place.with_suffix({".py": ".mpy", ".mpy": ".py"}[suffix])
    others = _both_kinds(package, sorted({*package.siblings(path)} - {*chosen}))
    return File(str(place.with_suffix(suffix)), data, (str(other), *others))


def _both_kinds(package, paths):
    """Where these are on the board, as sources and compiled."""
    places = [PurePosixPath(package.place(path)) for path in paths]
    return tuple(str(place.with_suffix(kind)) for place in places for kind in (".py", ".mpy"))


def _without_form(package, model, chosen):
    """Files of the families of loops of which the board takes none."""
    every = package.files_for(model.kernels, model.optional)
    return [path for path in every if not {*chosen}.intersection(package.siblings(path))]


class Builder:
    """Compiles modules for one machine."""

    def __init__(self, package: Package, machine: Machine):
        self._package, self._machine = package, machine

    def pick(self, family: str, modules: Forms) -> list[str]:
        """The module of a family that the board would choose, as a list of one."""
        for form, path in self._package.loops.for_machine(family, self._machine).items():
            if form == "plain" or self._native(path, path.read_text()):
                return [modules.get(form) or modules["plain"]]  # one file may be both
        return []

    def build(self, path: Path, source: str = "") -> bytes:
        """The .mpy of a module; source: in place of its file's text. Raises DeployError."""
        module = self._package.module(path)
        source = renamed(self._package, module, source or path.read_text())
        if not is_native(source):
            return compiled(source, shown(module))
        return self._native(path, source) or compiled(plain(source), shown(module))

    def _native(self, path, source):
        """The .mpy with native code; None where the board or the compiler cannot do it."""
        if not self._machine.runs(source):
            return None
        try:
            return compiled(source, shown(self._package.module(path)), self._machine.arch)
        except CompileError:
            return None
