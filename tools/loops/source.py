"""Parsed source of loops, with the text of its nodes and the helpers that it may call.

Names of parameters are replaced by numbers: see tools.loops.numbered.
"""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from ..made import shown
from . import numbered
from .errors import LoopError

_NO_HELPERS = ("_hints", "_viper")  # modules without code


class Source:
    """A family's loops, or a file of helpers."""

    def __init__(self, path: Path):
        self.path = path
        self.lines = numbered.loops(path).splitlines()
        self.text = "\n".join(self.lines)
        self.tree = ast.parse(self.text)
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.comments: dict[int, str] = {}  # by line
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.COMMENT:
                self.comments[token.start[0]] = token.string

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return start and end of a node's text. Sources are ASCII, so that columns are bytes."""
        first = self._starts[node.lineno - 1] + node.col_offset
        return first, self._starts[node.end_lineno - 1] + node.end_col_offset

    @property
    def is_typed(self) -> bool:
        """True if its functions' arguments have types, so that viper can be made of it."""
        functions = [node for node in self.tree.body if isinstance(node, ast.FunctionDef)]
        return any(arg.annotation for node in functions for arg in node.args.args)

    def line(self, node: ast.stmt) -> str:
        """Return a statement's text, including the comments after its lines."""
        return "\n".join(self.lines[node.lineno - 1 : node.end_lineno])

    def wrong(self, node: ast.stmt | ast.expr, what: str) -> LoopError:
        return LoopError(f"{shown(self.path)}:{node.lineno}: {what}")

    @cached_property
    def helpers(self) -> dict[str, Helper]:
        """Helpers that its code may call, by name. Raises LoopError."""
        helpers = {}
        for node in self.tree.body:
            if is_helper(node):
                helpers[node.name] = Helper(self, node)
            elif is_for_the_build(node) and node.module not in _NO_HELPERS:
                folder = self.path.parents[node.level - 1]
                known = _helpers(folder / f"{node.module}.py")
                helpers.update({alias.name: known[alias.name] for alias in node.names})
        return helpers

    @cached_property
    def known(self) -> set[str]:
        """Names of the module, which every function may read."""
        result = set()
        for node in self.tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                result |= {alias.asname or alias.name for alias in node.names}
            elif isinstance(node, ast.FunctionDef):
                result.add(node.name)
            elif isinstance(node, ast.Assign):
                result |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return result


@dataclass(frozen=True, eq=False)
class Helper:
    """A function under @inline, whose body replaces its calls."""

    source: Source
    function: ast.FunctionDef

    @property
    def name(self) -> str:
        return self.function.name

    @cached_property
    def params(self) -> list[str]:
        return [arg.arg for arg in self.function.args.args]

    @cached_property
    def body(self) -> list[ast.stmt]:
        """Its statements, without docstring and return."""
        body = self.function.body
        if ast.get_docstring(self.function) is not None:
            body = body[1:]
        return body[:-1] if isinstance(body[-1], ast.Return) else body

    @cached_property
    def results(self) -> list[str]:
        """Names that it returns or yields. Raises LoopError."""
        returns = [n for n in ast.walk(self.function) if isinstance(n, ast.Return | ast.Yield)]
        for node in returns:
            if isinstance(node, ast.Return) and node is not self.function.body[-1]:
                raise self.source.wrong(node, f"{self.name} returns before its last statement")
        if len(returns) > 1:
            raise self.source.wrong(returns[1], f"{self.name} has more than one return or yield")
        if not returns or returns[0].value is None:
            return []
        value = returns[0].value
        names = value.elts if isinstance(value, ast.Tuple) else [value]
        if not all(isinstance(name, ast.Name) for name in names):
            raise self.source.wrong(returns[0], f"{self.name} may return nothing but names")
        return [name.id for name in names]

    @cached_property
    def is_generator(self) -> bool:
        return any(isinstance(node, ast.Yield) for node in ast.walk(self.function))


def is_helper(node: ast.stmt) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any(isinstance(d, ast.Name) and d.id == "inline" for d in decorators)


def is_for_the_build(node: ast.stmt) -> bool:
    """Return True if a statement imports helpers, hints or types, which no built module needs."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("_")


@cache
def _helpers(path: Path) -> dict[str, Helper]:
    return Source(path).helpers
