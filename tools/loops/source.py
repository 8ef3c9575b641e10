"""Parsed Python that gives back its own text, and the snippets that it defines or imports."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..made import ROOT, shown
from .errors import TemplateError

FORMS = ("common", "viper", "viper64")  # folders of templates


def templates() -> list[Source]:
    """All there are."""
    folder = Path(__file__).parent
    return [Source(path) for form in FORMS for path in sorted((folder / form).glob("*.py"))]


class Source:
    """A template, or a file of snippets."""

    def __init__(self, path: Path):
        self.path = path
        self.lines = path.read_text().splitlines()
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
        """Where a node's text is. All of it is ASCII: columns are of bytes."""
        first = self._starts[node.lineno - 1] + node.col_offset
        return first, self._starts[node.end_lineno - 1] + node.end_col_offset

    @property
    def form(self) -> str:
        """The folder."""
        return self.path.parent.name

    def line(self, node: ast.stmt) -> str:
        """A statement, with the comments behind its lines."""
        return "\n".join(self.lines[node.lineno - 1 : node.end_lineno])

    def wrong(self, node: ast.stmt | ast.expr, what: str) -> TemplateError:
        return TemplateError(f"{shown(self.path)}:{node.lineno}: {what}")

    def snippets(self) -> dict[str, Snippet]:
        """Those that its code may call, by name."""
        found = {}
        for node in self.tree.body:
            if is_snippet(node):
                found[node.name] = Snippet(self, node)
            elif is_of_tools(node):
                known = _snippets(ROOT.joinpath(*node.module.split(".")).with_suffix(".py"))
                found.update({alias.name: known[alias.name] for alias in node.names})
        return found


@dataclass(frozen=True)
class Snippet:
    """A function under @inline."""

    source: Source
    function: ast.FunctionDef

    @property
    def params(self) -> list[str]:
        return [arg.arg for arg in self.function.args.args]

    @property
    def body(self) -> list[ast.stmt]:
        has_doc = ast.get_docstring(self.function) is not None
        return self.function.body[1:] if has_doc else self.function.body


def is_snippet(node: ast.stmt) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any(isinstance(d, ast.Name) and d.id == "inline" for d in decorators)


def is_of_tools(node: ast.stmt) -> bool:
    """True for an import that is not for the device."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tools.")


@cache
def _snippets(path: Path) -> dict[str, Snippet]:
    return Source(path).snippets()
