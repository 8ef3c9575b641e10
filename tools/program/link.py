"""One source of functions from several modules: just what is called, under short names."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

_PACKAGE = Path(__file__).parents[2] / "mpconnxr"
_DECORATOR = "micropython."


class LinkError(Exception):
    """A module says what this linker cannot follow; the text is the whole report."""


class Linker:
    """Collects functions. native: whether the board has the emitters that decorators name."""

    def __init__(self, native: Callable[[Path], bool]):
        self._native = native
        self._trees: dict[Path, dict[str, ast.stmt]] = {}
        self._names: dict[tuple[Path, str], str] = {}
        self._imports: set[str] = set()
        self._made: list[str] = []

    def take(self, path: Path, name: str) -> str:
        """What a module's function or constant is called in the result."""
        key = path, name
        if key not in self._names:
            statement = self._statements(path).get(name)
            if statement is None:
                raise LinkError(f"{path.name} has no {name}")
            if isinstance(statement, ast.ImportFrom):
                return self._imported(path, statement, name)
            mark = "_" if name.startswith("_") and _is_constant(statement) else ""
            self._names[key] = f"{mark}l{len(self._names)}"
            self._made.append(self._source(path, statement, name))
        return self._names[key]

    def take_source(self, source: str, scope: Path, name: str) -> str:
        """The same of a function that is no module's, among the names of one."""
        key = Path(source), name
        if key not in self._names:
            [function] = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
            self._names[key] = f"l{len(self._names)}"
            self._made.append(self._function(scope, function, self._names[key]))
        return self._names[key]

    def source(self) -> str:
        imports = [f"import {name}" for name in sorted(self._imports)]
        return "\n".join([*imports, *self._made]) + "\n"

    def _statements(self, path: Path) -> dict[str, ast.stmt]:
        """What a module defines, by names."""
        if path not in self._trees:
            found: dict[str, ast.stmt] = {}
            for node in ast.parse(path.read_text()).body:
                for name in _defined(node):
                    found[name] = node
            self._trees[path] = found
        return self._trees[path]

    def _imported(self, path: Path, node: ast.ImportFrom, name: str) -> str:
        [alias] = [a for a in node.names if (a.asname or a.name) == name]
        if not node.level:
            self._imports.add(node.module)
            return f"{node.module}.{alias.name}"
        return self.take(_module(path, node, ""), alias.name)

    def _source(self, path: Path, node: ast.stmt, name: str) -> str:
        if isinstance(node, ast.FunctionDef):
            return self._function(path, node, self._names[path, name])
        if isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) for t in node.targets):
            value = self._resolved(path, node.value, set())
            return f"{self._names[path, name]} = {ast.unparse(value)}"
        raise LinkError(f"{path.name}: {name} is no function and no constant")

    def _function(self, path: Path, node: ast.FunctionDef, name: str) -> str:
        native = self._native(path)
        made = ast.FunctionDef(
            name=name,
            args=node.args,
            body=[s for s in node.body if not _is_text(s)],
            decorator_list=[
                d for d in node.decorator_list if native or not _of_emitter(ast.unparse(d))
            ],
            returns=node.returns,
            lineno=0,
        )
        if made.decorator_list:
            self._imports.add("micropython")
        bound = {a.arg for a in node.args.args} | _stored(node)
        made.body = [self._resolved(path, s, bound) for s in made.body] or [ast.Pass()]
        return ast.unparse(ast.fix_missing_locations(made))

    def _resolved(self, path: Path, node: ast.AST, bound: set[str]) -> ast.AST:
        """A copy in which the module's names are those of the result."""
        return _Names(self, path, bound, self._statements(path)).visit(_copy(node))

    def module(self, path: Path, name: str) -> Path | None:
        """The module that a name stands for in another one, if it does."""
        node = self._statements(path).get(name)
        if isinstance(node, ast.ImportFrom) and node.level:
            [alias] = [a for a in node.names if (a.asname or a.name) == name]
            found = _module(path, node, alias.name)
            return found if found.is_file() else None
        return None

    def keep_import(self, name: str) -> None:
        self._imports.add(name)


class _Names(ast.NodeTransformer):
    def __init__(self, linker: Linker, path: Path, bound: set[str], names: dict[str, ast.stmt]):
        self._linker, self._path, self._bound, self._names = linker, path, bound, names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id not in self._bound:
            module = self._linker.module(self._path, node.value.id)
            if module:
                return _name(self._linker.take(module, node.attr))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._bound or node.id not in self._names:
            return node
        if isinstance(self._names[node.id], ast.Import):
            self._linker.keep_import(node.id)
            return node
        return _name(self._linker.take(self._path, node.id))


def _name(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _copy(node: ast.AST) -> ast.AST:
    import copy

    return copy.deepcopy(node)


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)]
    if isinstance(node, ast.ImportFrom | ast.Import):
        return [a.asname or a.name for a in node.names]
    return []


def _module(path: Path, node: ast.ImportFrom, name: str) -> Path:
    """The file of the module that is imported, or of one in it."""
    folder = path.parents[node.level - 1]
    parts = [p for p in (node.module or "").split(".") if p] + ([name] if name else [])
    return folder.joinpath(*parts).with_suffix(".py")


def _stored(node: ast.FunctionDef) -> set[str]:
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}


def _is_text(node: ast.stmt) -> bool:
    value = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(getattr(value, "value", None), str)


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign)


def _of_emitter(decorator: str) -> bool:
    return decorator.startswith(_DECORATOR)
