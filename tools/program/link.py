"""Link functions from several modules into one source: only what is called, under short names."""

from __future__ import annotations

import ast
import functools
import pickle
from collections.abc import Callable
from pathlib import Path

from tools import package
from tools.deploy.folding import integer

_DECORATOR = "micropython."


class LinkError(Exception):
    """A module contains something that this linker cannot follow; the text is the whole report."""


class Linker:
    """Collect functions, in an order in which each stands behind those that it calls.

    Args:
        native: function of a module's file; returns True if the board has its emitters.
        nested: the functions are put inside of another function. Those that use others, and the
            used ones, then go to the module itself (`outer`): a native function has no cells for
            them, and another one would take memory at each call.
        letter: first letter of the short names.

    Attributes:
        later: modules that functions import when they are called.
    """

    def __init__(self, native: Callable[[Path], bool], nested: bool = False, letter: str = "f"):
        self._native, self._nested, self._letter = native, nested, letter
        self._trees: dict[Path, dict[str, ast.stmt]] = {}
        self._names: dict[tuple[Path, str], str] = {}
        self._imports: set[str] = set()
        self.later: set[Path] = set()  # modules that functions import when they are called
        self._made: dict[str, str] = {}  # source by short name
        self._uses: dict[str, list[str]] = {}
        self._outer: set[str] = set()

    def take(self, path: Path, name: str) -> str:
        """Add a module's function or constant; return its name in the result."""
        key = path, name
        if key not in self._names:
            statement = self._statements(path).get(name)
            if statement is None:
                raise LinkError(f"{path.name} has no {name}")
            if isinstance(statement, ast.ImportFrom):
                return self._imported(path, statement, name)
            if isinstance(statement, ast.Assign):
                self._names[key] = self._assigned(path, statement, name)
            elif isinstance(statement, ast.FunctionDef):
                self._names[key] = self._short()
                self._add(path, statement, self._names[key])
            else:
                raise LinkError(f"{path.name}: {name} is neither a function nor a constant")
        return self._names[key]

    def take_source(self, source: str, scope: Path, name: str) -> str:
        """Add a function from source text, with the globals of module `scope`. Return its name."""
        key = Path(source), name
        if key not in self._names:
            [function] = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
            self._names[key] = self._short()
            self._add(scope, function, self._names[key])
        return self._names[key]

    def source(self) -> str:
        """Return the source of the linked functions."""
        imports = [f"import {name}" for name in sorted(self._imports)]
        inner = [text for name, text in self._made.items() if name not in self._outer]
        return "\n".join([*imports, *inner]) + "\n"

    def outer(self) -> str:
        """Return the source of the functions that must stand in the module itself."""
        made = [self._made[name] for name in self._made if name in self._outer]
        imports = [f"import {name}" for name in sorted(self._imports)] if made else []
        return "".join(f"{text}\n" for text in [*imports, *made])

    def _short(self) -> str:
        return f"{self._letter}{len(self._names)}"

    def _add(self, path: Path, function: ast.FunctionDef, name: str) -> None:
        text, used = self._function(path, function, name)
        self._made[name], self._uses[name] = text, used
        if self._nested and used:
            self._move_out(name)

    def _move_out(self, name: str) -> None:
        if name in self._imports:
            return
        self._outer.add(name)
        for used in self._uses[name]:
            self._move_out(used)

    def _assigned(self, path: Path, node: ast.Assign, name: str) -> str:
        """Return the expression for a constant: a number, another name, or a new name."""
        names = _Names(self, path, set(), self._statements(path))
        value = names.visit(_copied(node.value))
        if isinstance(value, ast.Name):
            return value.id
        if (number := integer(value, {})) is not None:
            return repr(number)
        made = f"{self._short()}_"  # without "_" the name may be used again
        self._made[made], self._uses[made] = f"{made} = {ast.unparse(value)}", names.used
        return made

    def _statements(self, path: Path) -> dict[str, ast.stmt]:
        if path not in self._trees:
            self._trees[path] = _definitions(path.read_text())
        return self._trees[path]

    def _imported(self, path: Path, node: ast.ImportFrom, name: str) -> str:
        [alias] = [a for a in node.names if (a.asname or a.name) == name]
        if not node.level:
            self._imports.add(node.module)
            return f"{node.module}.{alias.name}"
        return self.take(_module(path, node, ""), alias.name)

    def _function(self, path: Path, node: ast.FunctionDef, name: str) -> tuple[str, list[str]]:
        """Return the source of a function, and the names that it uses."""
        native = self._native(path)
        decorators = [d for d in node.decorator_list if native or not _of_emitter(ast.unparse(d))]
        bound = {a.arg for a in node.args.args} | _stored(node)
        names = _Names(self, path, bound, self._statements(path))
        body = [names.visit(_copied(s)) for s in node.body if not _is_text(s)]
        arguments = _copied(node.args)
        arguments.defaults = [names.visit(d) for d in arguments.defaults]
        made = ast.FunctionDef(
            name=name,
            args=arguments,
            body=body or [ast.Pass()],
            decorator_list=decorators,
            returns=node.returns,
            lineno=0,
        )
        return ast.unparse(ast.fix_missing_locations(made)), names.used

    def module(self, path: Path, name: str) -> Path | None:
        """Return the module that a name in another module denotes; None if it is not a module."""
        node = self._statements(path).get(name)
        if isinstance(node, ast.ImportFrom) and node.level:
            [alias] = [a for a in node.names if (a.asname or a.name) == name]
            file = _module(path, node, alias.name)
            return file if file.is_file() else None
        return None

    def keep_import(self, name: str) -> None:
        """Keep the import of a built-in module."""
        self._imports.add(name)

    def inner_import(self, path: Path, node: ast.ImportFrom) -> ast.ImportFrom:
        """Return an import within a function as an absolute one; note its modules in `later`."""
        files = [_module(path, node, a.name) for a in node.names]
        files += [_module(path, node, "")] if node.module else []
        self.later |= {p for p in files if p.is_file()}
        above = next(folder.parent for folder in path.parents if folder.name == package.NAME)
        folder = path.parents[node.level - 1]
        parts = [*folder.relative_to(above).parts, *(node.module or "").split(".")]
        return ast.ImportFrom(".".join(filter(None, parts)), node.names, 0)


class _Names(ast.NodeTransformer):
    """Replace the names in a function by the short names of the linked source.

    Attributes:
        used: the short names that it has inserted.
    """

    def __init__(self, linker: Linker, path: Path, bound: set[str], names: dict[str, ast.stmt]):
        self._linker, self._path, self._bound, self._names = linker, path, bound, names
        self.used: list[str] = []

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return self._linker.inner_import(self._path, node) if node.level else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id not in self._bound:
            module = self._linker.module(self._path, node.value.id)
            if module:
                return self._of(self._linker.take(module, node.attr))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._bound or node.id not in self._names:
            return node
        if isinstance(self._names[node.id], ast.Import):
            self._linker.keep_import(node.id)
            return self._of(node.id)
        return self._of(self._linker.take(self._path, node.id))

    def _of(self, text: str) -> ast.expr:
        made = _name(text)
        for node in ast.walk(made):
            if isinstance(node, ast.Name) and node.id not in self.used:
                self.used.append(node.id)
        return made


def _copied(node: ast.AST) -> ast.AST:
    """Return a deep copy. copy.deepcopy is several times slower, and dominates a build."""
    return pickle.loads(pickle.dumps(node, pickle.HIGHEST_PROTOCOL))


def _name(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@functools.lru_cache(256)
def _definitions(source: str) -> dict[str, ast.stmt]:
    """Return a module's definitions by name. They are shared, and must not be changed."""
    return {name: node for node in ast.parse(source).body for name in _defined(node)}


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)]
    if isinstance(node, ast.ImportFrom | ast.Import):
        return [a.asname or a.name for a in node.names]
    return []


def _module(path: Path, node: ast.ImportFrom, name: str) -> Path:
    """Return the file of the module that is imported, or of a module in it."""
    folder = path.parents[node.level - 1]
    parts = [p for p in (node.module or "").split(".") if p] + ([name] if name else [])
    return folder.joinpath(*parts).with_suffix(".py")


def _stored(node: ast.FunctionDef) -> set[str]:
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _is_stored(n)}
    imports = [n for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
    return names | {a.asname or a.name for n in imports for a in n.names}


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _is_text(node: ast.stmt) -> bool:
    value = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(getattr(value, "value", None), str)


def _of_emitter(decorator: str) -> bool:
    return decorator.startswith(_DECORATOR)
