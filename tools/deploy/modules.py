"""Select the files of mpconnxr/ that a model needs on a board: core, kernels, and their loops.

The core lies in mpconnxr/ and its rooms (see core.py). What a kernel needs is read from its
source: its imports, and the families of loops that it uses, `forms.get("conv")` with a literal
name, by default in all forms. Modules named by `calls.later` are imported when need be.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path

from tools import package
from tools.store import Loops

from . import core
from .core import Use
from .errors import DeployError

OPTIONAL = frozenset(core.names(Use.OPTIONAL))
OPTIONAL_BY_NAME = {name.rpartition(".")[2]: name for name in OPTIONAL}  # as flash --with says
HOST = frozenset(core.names(Use.HOST))
Forms = Mapping[str, str]  # {form: module} of a family, best first
Pick = Callable[[str, Forms], list[str]]
# Families that a step uses only for weights of some dtypes (ONNX's numbers).
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
_KERNEL = re.compile("[a-z][a-z0-9_]*")  # excludes __init__ and helpers' _name
_MAX_SHOWN = 60  # characters of a name in a message
_TAKES_AT_LOAD = ("forms.get", "calls.fpu")
_TAKES = (*_TAKES_AT_LOAD, "calls.later")
_BRANCHES = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Try, ast.Lambda)
_BRANCHES += (ast.FunctionDef, ast.ClassDef, ast.ListComp, ast.GeneratorExp, ast.DictComp)
_EMPTY = ("return (0, None)", "return")  # results of prepare for a node without work


def device_paths(folder: Path | None = None) -> list[Path]:
    """Return all sources of a device package that may go to a board."""
    folder = folder or package.folder()
    return sorted(p for p in folder.rglob("*.py") if _name_of(p.relative_to(folder)) not in HOST)


class Package:
    """The device package in a folder of this computer.

    Args:
        folder: the package; None for the one that tools.package builds.
        own: a folder of the user's kernels, which join ops/.
        keeps_names: keep all names as in the sources (see renaming.py), for scripts that get loops
            by name.
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
        # Caches: a report covers many models and boards.
        self._imports: dict[tuple[str, bool], list[str]] = {}  # by module; True: whole tree
        self._taken: dict[tuple[str, tuple[str, ...]], list[str]] = {}

    def files_for(
        self,
        kernels: list[str],
        optional: Iterable[str] = OPTIONAL,
        pick: Pick = lambda family, forms: list(forms.values()),
    ) -> list[Path]:
        """Return the files that a model needs.

        Args:
            kernels: kernels of the model.
            optional: optional modules of the core that it needs.
            pick: function of a family of loops and its forms; returns the modules to take.

        Raises:
            DeployError: if a kernel is missing.
        """
        expected = Use.KERNELS | Use.LOADED | Use.OPTIONAL
        flat = {_module_of(name) for name, uses in self._core.items() if uses & expected}
        spared = OPTIONAL - set(optional)

        def needs(module):
            needed = self._dependencies(self._tree(module), module, pick)
            if module not in flat or module in OPTIONAL:
                return needed
            return [m for m in needed if m not in spared]

        return self._closure([*(flat - spared), "ops", *self._kernels(kernels)], needs)

    def loaded_for(
        self, kernels: list[str], optional: Iterable[str], weights: Collection[int], pick: Pick
    ) -> list[Path]:
        """Return the files that a board holds in memory once a model is loaded.

        Files that only loading needs are among them.

        Args:
            kernels: kernels of the model.
            optional: optional modules of the core that it needs.
            weights: dtypes of the steps' second inputs.
            pick: function of a family of loops and its forms; returns the modules to take.
        """

        def used(family, forms):
            dtypes = _FOR_WEIGHTS.get(family)
            return [] if dtypes and not set(dtypes) & set(weights) else pick(family, forms)

        def needs(module):
            imports = [s for s in self._tree(module).body if isinstance(s, ast.ImportFrom)]
            return self._dependencies(ast.Module(imports, []), module, used, _TAKES_AT_LOAD)

        loaded = [_module_of(name) for name in core.names(Use.LOADED)]
        return self._closure([*loaded, *optional, "ops", *self._kernels(kernels)], needs)

    def module(self, path: Path) -> str:
        """Return the name under which a file is imported."""
        parts = [self.folder.name, *self._relative(path).with_suffix("").parts]
        return ".".join(part for part in parts if part != "__init__")

    def only_users(self, paths: Collection[Path], pick: Pick) -> dict[str, str]:
        """Return the only user of each module of loops that a single module uses, by module.

        The user gets the loops by name when a model is loaded; no module imports them, or gets
        them later.
        """
        users_of: dict[str, list[str]] = {}
        for path in paths:
            user = _name_of(self._relative(path))
            tree = self._tree(user)
            taken = [m for f in _families(tree, _TAKES_AT_LOAD) for m in pick(f, self._forms(f))]
            for module in self._dependencies(tree, user, pick):
                users_of.setdefault(module, []).append(user if module in taken else "")
        alone = {m: users[0] for m, users in users_of.items() if users[0] and len({*users}) == 1}
        name = self.folder.name
        return {f"{name}.{module}": f"{name}.{user}" for module, user in alone.items()}

    def always_taken(self, paths: Collection[Path], pick: Pick) -> set[Path]:
        """Return the files of loops that one of the modules uses for every model."""
        trees = [self._tree(_name_of(self._relative(path))) for path in paths]
        families = {family for tree in trees for family in always_taken(tree)}
        return {self.path(m) for family in families for m in pick(family, self._forms(family))}

    def with_dependencies(self, paths: Collection[Path], pick: Pick) -> list[Path]:
        """Return modules with everything they import or use.

        Imports of modules of the core are not followed.
        """

        def needs(module):
            is_core = (module or "__init__") in self._core
            return [] if is_core else self._dependencies(self._tree(module), module, pick)

        return self._closure([_name_of(path.relative_to(self.folder)) for path in paths], needs)

    def with_imports(self, names: Iterable[str], pick: Pick) -> list[Path]:
        """Return modules with everything they import or use, the core included."""
        return self._closure(
            [*names], lambda module: self._dependencies(self._tree(module), module, pick)
        )

    def has_kernel(self, name: str) -> bool:
        """Return True if the package has a kernel with this name.

        The name may come from an untrusted file. It never becomes a path: it is looked up among
        the names of existing files.
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
        """Return the modules of kernels; raise DeployError if one is missing."""
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
        """Return True if a module defines, assigns or imports `prepare`."""
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
        """Return the paths of modules and, transitively, of all that they need."""
        modules = set()
        while queue:
            module = queue.pop()
            if module not in modules:
                modules.add(module)
                queue += needs(module)
        return sorted(self.path(module) for module in modules)

    def siblings(self, path: Path) -> list[Path]:
        """Return the files of all forms of a loop's family; for other files, the file itself."""
        is_loop = self.loops.form_of(path) is not None
        return [*self.loops.modules(path.stem).values()] if is_loop else [path]

    def obsolete(self) -> list[Path]:
        """Return files of obsolete releases, to be removed from boards.

        Old releases had loops in ops/loops_NAME_FORM, helpers in ops/ without a leading
        underscore, and the modules of rooms directly in the package; no file of mpconnxr has such
        a name now.
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
        """Return the families of loops that a kernel may use, each with its forms, best first.

        Raises:
            DeployError: if the kernel is missing.
        """
        paths = {*self.files_for([kernel])} - {*self.files_for([])}
        named = {family for path in paths for family in _families(ast.parse(path.read_text()))}
        families = named & {*self.loops.families()}
        return {family: [*self.loops.forms_of(family)] for family in sorted(families)}

    def place(self, path: Path) -> str:
        """Return a file's path on the board, relative to the package's parent."""
        if path in self._own.values():
            return f"{self.folder.name}/ops/{path.name}"
        return path.relative_to(self.folder.parent).as_posix()

    def paths(self) -> list[Path]:
        """Return all sources that may go to a board."""
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

    def _dependencies(self, tree, module, pick, takes=_TAKES):
        """Return the modules from which a module, or a part of it, imports names or takes loops.

        Args:
            tree: syntax tree of the module or of its part.
            module: name of the module.
            pick: chooses the form of a family.
            takes: adds families of loops that the tree takes.
        """
        is_whole = tree is self._tree(module)
        if (module, is_whole) not in self._imports:
            is_package = self.path(module).name == "__init__.py"
            package = module if is_package else module.rpartition(".")[0]
            nodes = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level]
            names = [m for node in nodes for m in self._imported(package, node)]
            self._imports[module, is_whole] = names
        if (module, takes) not in self._taken:
            self._taken[module, takes] = _families(self._tree(module), takes)
        needed = [*self._imports[module, is_whole]]
        for family in self._taken[module, takes]:
            needed += pick(family, self._forms(family))
        return needed

    def _imported(self, package, node):
        """Return the modules that `from ..a import b` imports: a, or a.b if that is a module."""
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
    """Return the built package. All callers share its parsed modules."""
    return Package()


def _shown(name: str) -> str:
    """Return a name from a file in a form that is safe to print on a terminal."""
    text = name if name.isprintable() and name else ascii(name)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."


def _families(tree: ast.Module, takes: Collection[str] = _TAKES) -> list[str]:
    """Return the families of loops that a module names in calls."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args]
    names = [call.args[0] for call in calls if ast.unparse(call.func) in takes]
    return [n.value for n in names if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def _name_of(path: Path) -> str:
    return _module_of(".".join(path.with_suffix("").parts))


def _module_of(name: str) -> str:
    return "" if name == "__init__" else name


def always_taken(tree: ast.Module) -> set[str]:
    """Return the families that a module gets with `forms.get` for every model that uses it.

    Only calls count that `prepare` reaches for any model, through functions and classes of the
    same module; a branch may be skipped by some model. A module without `prepare` serves other
    modules: if it has one class, that class is instantiated.
    """
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    made, names = set(), {"prepare"} & functions.keys()
    if not names and len(classes) == 1:
        made = {*classes}
    families: set[str] = set()
    reached: dict[ast.FunctionDef, None] = {}
    while True:
        callees = [functions[name] for name in names & functions.keys()]
        for method in [n for name in made for n in classes[name].body]:
            if isinstance(method, ast.FunctionDef) and method.name in names | {"__init__"}:
                callees.append(method)
        if not (new := [function for function in callees if function not in reached]):
            return families
        reached |= dict.fromkeys(new)
        for call in [call for function in new for call in _certain_calls(function.body)]:
            name = ast.unparse(call.func)
            if name == "forms.get":
                families |= {a.value for a in call.args[:1] if isinstance(a, ast.Constant)}
            names = names | {name.rpartition(".")[2]}
            made = made | ({name} & classes.keys())


def _certain_calls(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the calls that run every time, up to a branch that may return."""
    for statement in statements:
        if not isinstance(statement, _BRANCHES):
            yield from _calls(statement)
        elif any(_is_result(node) for node in ast.walk(statement)):
            return


def _is_result(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and ast.unparse(node) not in _EMPTY


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _BRANCHES):
            yield from _calls(child)
