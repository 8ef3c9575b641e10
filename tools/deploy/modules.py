"""Which files of mpconnxr/ a model needs on the board: the core, its kernels, and their loops.

The core is what lies in mpconnxr/ and its rooms (see core). A kernel's needs are read from its
source: what it imports, and the families of loops that it takes, `forms.get("conv")` with the name
as it stands, in all forms by default. Those of calls.later are imported when need be.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path

from tools import package
from tools.store import Loops

from . import core
from .certain import always_taken
from .core import Use
from .errors import DeployError

OPTIONAL = frozenset(core.names(Use.OPTIONAL))
OPTIONAL_BY_NAME = {name.rpartition(".")[2]: name for name in OPTIONAL}  # as flash --with says
HOST = frozenset(core.names(Use.HOST))
Forms = Mapping[str, str]  # modules of a family of loops by their forms, the best one first
Pick = Callable[[str, Forms], list[str]]
# Families that a step takes for weights of some dtypes alone (ONNX's numbers).
_NARROW = (2, 3, 4)
_FOR_WEIGHTS = {
    "short": (12,),
    "short_dot": (12,),
    "block_narrow": _NARROW,
    "block_unpack": _NARROW,
    "fpu_narrow": _NARROW,
    "block_rows": (1,),
}
_RENAMED = ("borders", "dynamic", "items", "kernel_load", "loading")  # before there were rooms
_KERNEL = re.compile("[a-z][a-z0-9_]*")  # neither a package's __init__ nor a helper's _name
_MOST_SHOWN = 60  # characters
_TAKES_AT_LOAD = ("forms.get", "calls.fpu")
_TAKES = (*_TAKES_AT_LOAD, "calls.later")


def device_paths(folder: Path | None = None) -> list[Path]:
    """All sources of the device package, of the one in a folder, that may go to a board."""
    folder = folder or package.folder()
    return sorted(p for p in folder.rglob("*.py") if _name_of(p.relative_to(folder)) not in HOST)


class Package:
    """The device package in a folder of this computer.

    own: a folder of more files for ops/; keeps_names: boards get its names as the sources have
    them (see tools/deploy/renaming.py), for scripts that ask for loops by name.
    """

    def __init__(
        self, folder: Path | None = None, own: Path | None = None, keeps_names: bool = False
    ):
        self.keeps_names = keeps_names
        self.folder = folder = folder or package.folder()
        self.loops = Loops(folder)
        self._core = core.modules(folder)
        self._own = {f"ops.{p.stem}": p for p in sorted(own.glob("*.py"))} if own else {}
        if own and not self._own:
            raise DeployError(f"{own} holds no kernels")
        for path in self._own.values():
            if any((folder / "ops" / name).exists() for name in (path.name, f"_{path.name}")):
                raise DeployError(f"{path} has the name of a kernel of mpconnxr: rename it")
        self._trees: dict[str, ast.Module] = {}
        # What was found in them: a report asks for many models and boards.
        self._imports: dict[tuple[str, bool], list[str]] = {}  # of a whole tree, or of its head
        self._taken: dict[tuple[str, tuple[str, ...]], list[str]] = {}

    def files_for(
        self,
        kernels: list[str],
        optional: Iterable[str] = OPTIONAL,
        pick: Pick = lambda family, forms: list(forms.values()),
    ) -> list[Path]:
        """What a model with these kernels needs, and with these optional modules of the core.

        pick: given a family of loops and its forms, the modules to take.
        Raises DeployError for a kernel that is absent.
        """
        wanted = Use.KERNELS | Use.LOADED | Use.OPTIONAL
        flat = {_module_of(name) for name, uses in self._core.items() if uses & wanted}
        spared = OPTIONAL - set(optional)

        def needs(module):
            found = self._needs(self._tree(module), module, pick)
            return found if module not in flat else [m for m in found if m not in spared]

        return self._closure([*(flat - spared), "ops", *self._kernels(kernels)], needs)

    def loaded_for(
        self, kernels: list[str], optional: Iterable[str], weights: Collection[int], pick: Pick
    ) -> list[Path]:
        """Those of the files that a board has in memory once such a model is loaded, with those
        that only loading needs.

        weights: dtypes of its steps' second inputs.
        """

        def used(family, forms):
            dtypes = _FOR_WEIGHTS.get(family)
            return [] if dtypes and not set(dtypes) & set(weights) else pick(family, forms)

        def needs(module):
            imports = [s for s in self._tree(module).body if isinstance(s, ast.ImportFrom)]
            return self._needs(ast.Module(imports, []), module, used, _TAKES_AT_LOAD)

        loaded = [_module_of(name) for name in core.names(Use.LOADED)]
        return self._closure([*loaded, *optional, "ops", *self._kernels(kernels)], needs)

    def module(self, path: Path) -> str:
        """Return the name that a file is imported under."""
        parts = [self.folder.name, *self._relative(path).with_suffix("").parts]
        return ".".join(part for part in parts if part != "__init__")

    def takers(self, paths: Collection[Path], pick: Pick) -> dict[str, str]:
        """Return, of each module of loops that one module alone takes, which one that is.

        It takes it by its name when a model is loaded; nobody imports it, or takes it later.
        """
        found: dict[str, list[str]] = {}
        for path in paths:
            user = _name_of(self._relative(path))
            tree = self._tree(user)
            taken = [m for f in _families(tree, _TAKES_AT_LOAD) for m in pick(f, self._forms(f))]
            for module in self._needs(tree, user, pick):
                found.setdefault(module, []).append(user if module in taken else "")
        alone = {m: users[0] for m, users in found.items() if users[0] and len({*users}) == 1}
        name = self.folder.name
        return {f"{name}.{module}": f"{name}.{user}" for module, user in alone.items()}

    def always_taken(self, paths: Collection[Path], pick: Pick) -> set[Path]:
        """Return the files of loops that one of these takes for every model that uses it."""
        trees = [self._tree(_name_of(self._relative(path))) for path in paths]
        families = {family for tree in trees for family in always_taken(tree)}
        return {self.path(m) for family in families for m in pick(family, self._forms(family))}

    def with_needs(self, paths: Collection[Path], pick: Pick) -> list[Path]:
        """Modules of the package, and all that they import or take of loops; not what those of the
        core import.
        """

        def needs(module):
            is_core = (module or "__init__") in self._core
            return [] if is_core else self._needs(self._tree(module), module, pick)

        return self._closure([_name_of(path.relative_to(self.folder)) for path in paths], needs)

    def has_kernel(self, name: str) -> bool:
        """True if a kernel has this name, which a file may have from anybody.

        The name never becomes a path: it is looked for among those of the files that there are.
        """
        if not _KERNEL.fullmatch(name):
            return False
        module = f"ops.{name}"
        return (module in self._own or name in self._stems) and self._prepares(module)

    def kernels(self) -> list[str]:
        """Return the names of all kernels."""
        stems = {*self._stems, *(path.stem for path in self._own.values())}
        return [name for name in sorted(stems) if self.has_kernel(name)]

    def _kernels(self, names):
        """Modules of kernels by their names. Raises DeployError."""
        for name in names:
            if not self.has_kernel(name):
                raise DeployError(
                    f"mpconnxr has no kernel {_shown(name)}: --ops FOLDER brings kernels of your "
                    "own; for one of mpconnxr's, convert the model again"
                )
        return [f"ops.{name}" for name in names]

    @cached_property
    def _stems(self) -> set[str]:
        """Names of the package's own files in ops/."""
        return {path.stem for path in (self.folder / "ops").glob("*.py")}

    def _prepares(self, module):
        """True if a module has a prepare, however it got it."""
        for statement in self._tree(module).body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "prepare":
                return True
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if any(isinstance(t, ast.Name) and t.id == "prepare" for t in targets):
                return True
            names = statement.names if isinstance(statement, ast.ImportFrom) else []
            if any((alias.asname or alias.name) == "prepare" for alias in names):
                return True
        return False

    def _closure(self, queue, needs):
        """Paths of the modules, of those that they need, and so on."""
        wanted = set()
        while queue:
            module = queue.pop()
            if module not in wanted:
                wanted.add(module)
                queue += needs(module)
        return sorted(self.path(module) for module in wanted)

    def siblings(self, path: Path) -> list[Path]:
        """The files of all forms of the loops that a file is a form of; of no loops itself."""
        is_loop = self.loops.form_of(path) is not None
        return [*self.loops.modules(path.stem).values()] if is_loop else [path]

    def earlier(self) -> list[Path]:
        """Where earlier installations have loops, ops/loops_NAME_FORM, helpers, without the _
        before their names, and the modules of rooms, directly in the package. Nothing of mpconnxr
        has such a name now.
        """
        families = self.loops.families()
        loops = [f"loops_{family}_{form}" for family in families for form in self._forms(family)]
        helpers = [path.stem[1:] for path in (self.folder / "ops").glob("_[a-z]*.py")]
        names = [name.removesuffix("_plain") for name in loops] + helpers
        free = [name for name in names if f"ops.{name}" not in self._own]
        moved = {name.rpartition(".")[2] for name in self._core if "." in name}
        flat = sorted(moved.union(_RENAMED) - {*self._core})
        paths = [self.folder / f"{name}.py" for name in flat]
        return [*paths, *(self.folder / "ops" / f"{name}.py" for name in free)]

    def forms_for(self, kernel: str) -> dict[str, list[str]]:
        """The families of loops that a kernel may take, with their forms, the best one first.

        Raises DeployError for a kernel that is absent.
        """
        paths = {*self.files_for([kernel])} - {*self.files_for([])}
        named = {family for path in paths for family in _families(ast.parse(path.read_text()))}
        families = named & {*self.loops.families()}
        return {family: [*self.loops.forms_of(family)] for family in sorted(families)}

    def place(self, path: Path) -> str:
        """Where a file belongs on the board, below the package's parent."""
        if path in self._own.values():
            return f"{self.folder.name}/ops/{path.name}"
        return path.relative_to(self.folder.parent).as_posix()

    def paths(self) -> list[Path]:
        """All its sources for boards."""
        return [*device_paths(self.folder), *self._own.values()]

    def _relative(self, path: Path) -> Path:
        is_own = path in self._own.values()
        return Path("ops", path.name) if is_own else path.relative_to(self.folder)

    def path(self, module: str) -> Path:
        """Return the file of a module."""
        if module in self._own:
            return self._own[module]
        path = self.folder.joinpath(*module.split(".")) if module else self.folder
        return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")

    def _has(self, module: str) -> bool:
        return self.path(module).is_file()

    def _tree(self, module: str) -> ast.Module:
        if module not in self._trees:
            self._trees[module] = ast.parse(self.path(module).read_text())
        return self._trees[module]

    def _needs(self, tree, module, pick, takes=_TAKES):
        """Modules that a module, or a part of its tree, imports or whose loops it names."""
        is_whole = tree is self._tree(module)
        if (module, is_whole) not in self._imports:
            is_package = self.path(module).name == "__init__.py"
            package = module if is_package else module.rpartition(".")[0]
            nodes = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level]
            names = [m for node in nodes for m in self._imported(package, node)]
            self._imports[module, is_whole] = names
        if (module, takes) not in self._taken:
            self._taken[module, takes] = _families(self._tree(module), takes)
        found = [*self._imports[module, is_whole]]
        for family in self._taken[module, takes]:
            found += pick(family, self._forms(family))
        return found

    def _imported(self, package, node):
        """Modules that `from ..a import b` means: a, or a.b where that is a module."""
        parts = package.split(".") if package else []
        base = parts[: len(parts) - (node.level - 1)] + (node.module or "").split(".")
        base = [part for part in base if part]
        candidates = [".".join([*base, alias.name]) for alias in node.names] + [".".join(base)]
        return [m for m in candidates if m not in HOST and self._has(m)]

    def _forms(self, family: str) -> dict[str, str]:
        """Return a family's modules by form, the best one first."""
        paths = self.loops.modules(family)
        return {form: _name_of(path.relative_to(self.folder)) for form, path in paths.items()}


@cache
def built_package() -> Package:
    """Return the package that is built, with what was read of it so far."""
    return Package()


def _shown(name: str) -> str:
    """A name out of a file, for a terminal."""
    text = name if name.isprintable() and name else ascii(name)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."


def _families(tree: ast.Module, takes: Collection[str] = _TAKES) -> list[str]:
    """Families of loops that a module takes by their names."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args]
    names = [call.args[0] for call in calls if ast.unparse(call.func) in takes]
    return [n.value for n in names if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def _name_of(path: Path) -> str:
    return _module_of(".".join(path.with_suffix("").parts))


def _module_of(name: str) -> str:
    return "" if name == "__init__" else name
