"""Resolve the names in a module's source: the scope that binds each, and its place in the text.

renaming.py replaces names in place, so that lines keep their numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Place(NamedTuple):
    """Bytes start to end - 1 of a line; the first line is 1."""

    line: int
    start: int
    end: int


@dataclass(eq=False)
class Scope:
    """A module, function, class or comprehension with the names in it.

    Attributes:
        node: its syntax tree.
        parent: enclosing scope; None for a module.
        bound: names that it binds.
        functions: bound names that are functions.
        arguments: bound names that are arguments.
        shared: names that it declares global or nonlocal.
        uses: (name, place, is_store) of each use, whichever scope the name belongs to.
        imports: its import statements, by alias.
        children: scopes directly in it.
    """

    node: ast.AST
    parent: Scope | None
    bound: set[str] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)
    uses: list[tuple[str, Place, bool]] = field(default_factory=list)
    imports: list[tuple[ast.alias, ast.Import | ast.ImportFrom]] = field(default_factory=list)
    children: list[Scope] = field(default_factory=list)

    @property
    def is_class(self) -> bool:
        """True for the body of a class, whose names functions in it do not see."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def decorators(self) -> list[str]:
        """Decorators as text, such as "micropython.viper"."""
        return [ast.unparse(d) for d in getattr(self.node, "decorator_list", [])]

    @property
    def is_assembler(self) -> bool:
        """True for a function of machine code, in which no name is Python's."""
        return any(d.startswith("micropython.asm_") for d in self.decorators)

    @property
    def is_viper(self) -> bool:
        """True for a viper function, whose arguments' names are not stored."""
        return "micropython.viper" in self.decorators

    @property
    def is_in_viper(self) -> bool:
        """True for a viper function and for functions in it."""
        return self.is_viper or bool(self.parent and self.parent.is_in_viper)

    def walk(self) -> Iterator[Scope]:
        """Yield this scope and all scopes in it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def owner(self, name: str) -> Scope | None:
        """Return the scope that binds a name used here; None for a built-in or unknown name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bound and (scope is self or not scope.is_class):
                return scope
            if name in scope.shared and isinstance(scope.node, _FUNCTIONS):
                root = scope
                while root.parent is not None:
                    root = root.parent
                return self._nonlocal(scope, name) or (root if name in root.bound else None)
            scope = scope.parent
        return None

    @staticmethod
    def _nonlocal(scope: Scope, name: str) -> Scope | None:
        """Return the enclosing function that binds a name which a scope declares nonlocal."""
        for node in ast.walk(scope.node):
            if isinstance(node, ast.Nonlocal) and name in node.names:
                return scope.parent.owner(name) if scope.parent else None
        return None


class _Reader(ast.NodeVisitor):
    def __init__(self, source: str, tree: ast.Module):
        self._lines = source.encode().split(b"\n")
        self.module = self._scope = Scope(tree, None)

    def _inner(self, node):
        scope = Scope(node, self._scope)
        self._scope.children.append(scope)
        return scope

    def _use(self, name, place, is_store):
        self._scope.uses.append((name, place, is_store))
        if is_store and name not in self._scope.shared:
            self._scope.bound.add(name)

    def _named(self, node, keyword):
        """Return the place of a function's or class's name in its definition."""
        match = re.compile(rb"\b%s\s+" % keyword).search(
            self._lines[node.lineno - 1], node.col_offset
        )
        return Place(node.lineno, match.end(), match.end() + len(node.name.encode()))

    def visit_Name(self, node):
        place = Place(node.lineno, node.col_offset, node.end_col_offset)
        self._use(node.id, place, not isinstance(node.ctx, ast.Load))

    def visit_FunctionDef(self, node):
        scope = self._inner(node)
        for each in node.decorator_list:
            if not ast.unparse(each).startswith("micropython."):
                self.visit(each)
        self._use(node.name, self._named(node, b"def"), True)
        self._scope.functions.append(node.name)
        self._function(node, scope)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self._function(node, self._inner(node))

    def _function(self, node, scope):
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        outer, self._scope = self._scope, scope
        if not scope.is_assembler:
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            scope.shared = _declared_in(body)
            every = node.args
            for a in [
                *every.posonlyargs,
                *every.args,
                *every.kwonlyargs,
                every.vararg,
                every.kwarg,
            ]:
                if a is not None:
                    scope.arguments.append(a.arg)
                    end = a.col_offset + len(a.arg.encode())
                    self._use(a.arg, Place(a.lineno, a.col_offset, end), True)
            for each in body:
                self.visit(each)
        self._scope = outer

    def visit_ClassDef(self, node):
        for each in [*node.decorator_list, *node.bases]:
            self.visit(each)
        self._use(node.name, self._named(node, b"class"), True)
        outer, self._scope = self._scope, self._inner(node)
        for each in node.body:
            self.visit(each)
        self._scope = outer

    def _comprehension(self, node):
        first, *rest = node.generators
        self.visit(first.iter)
        outer, self._scope = self._scope, self._inner(node)
        for each in node.generators:
            self.visit(each.target)
        for test in first.ifs:
            self.visit(test)
        for each in rest:
            self.visit(each.iter)
            for test in each.ifs:
                self.visit(test)
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                self.visit(getattr(node, part))
        self._scope = outer

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_AnnAssign(self, node):
        self.visit(node.target)
        if node.value:
            self.visit(node.value)

    def visit_Import(self, node):
        for alias in node.names:
            self._scope.imports.append((alias, node))
            self._scope.bound.add(alias.asname or alias.name.partition(".")[0])

    visit_ImportFrom = visit_Import

    def _declared(self, node):
        for name in node.names:
            line = self._lines[node.lineno - 1]
            match = re.compile(rb"\b%s\b" % name.encode()).search(line, node.col_offset + 6)
            self._use(name, Place(node.lineno, match.start(), match.end()), False)

    visit_Global = visit_Nonlocal = _declared

    def visit_ExceptHandler(self, node):
        if node.type:
            self.visit(node.type)
        if node.name:
            at = node.type.end_col_offset
            line = self._lines[node.type.end_lineno - 1]
            match = re.compile(rb"\s+as\s+").match(line, at)
            end = match.end() + len(node.name.encode())
            self._use(node.name, Place(node.type.end_lineno, match.end(), end), True)
        for each in node.body:
            self.visit(each)


def _declared_in(statements: Iterable[ast.AST]) -> set[str]:
    """Return the names that a function's own statements declare global or nonlocal."""
    names: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.Global | ast.Nonlocal):
            names |= {*statement.names}
        elif not isinstance(statement, (*_FUNCTIONS, ast.expr)):
            names |= _declared_in(ast.iter_child_nodes(statement))
    return names


def scopes(source: str, tree: ast.Module) -> Scope:
    """Return a module's scope, which contains all others."""
    reader = _Reader(source, tree)
    for node in ast.walk(tree):  # globals that functions assign
        if isinstance(node, ast.Global):
            reader.module.bound |= {*node.names}
    for statement in tree.body:
        reader.visit(statement)
    return reader.module


def is_for_cpython(node: ast.stmt) -> bool:
    """Return True for `if sys.implementation.name != "micropython":`, which no board needs."""
    test = ast.unparse(node.test) if isinstance(node, ast.If) else ""
    return test == "sys.implementation.name != 'micropython'"
