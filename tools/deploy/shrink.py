"""Sources for boards, as short as they can be: a file system holds each byte of them."""

from __future__ import annotations

import ast
import keyword
import string
from collections import Counter
from itertools import product

_SHORT = [*string.ascii_letters, *map("".join, product(string.ascii_letters, repeat=2))]
_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global)


def stripped(source: str) -> str:
    """Return a module's text without docstrings and comments."""
    tree = ast.parse(source)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef
    for node in [n for n in ast.walk(tree) if isinstance(n, documented) and ast.get_docstring(n)]:
        node.body = node.body[1:] or ([] if isinstance(node, ast.Module) else [ast.Pass()])
    return ast.unparse(tree) + "\n"


def with_short_locals(source: str) -> str:
    """Return a module of loops in which local variables have names of one letter, or of two.

    A board's file system holds each byte of a source; no traceback shows these names.
    """
    tree = ast.parse(source)
    for function in tree.body:
        inner = [*ast.walk(function)][1:] if isinstance(function, ast.FunctionDef) else []
        if not any(isinstance(node, _SCOPES) for node in inner):
            names = [node for node in inner if isinstance(node, ast.Name)]
            args = [node.arg for node in inner if isinstance(node, ast.arg)]
            local = {n.id for n in names if isinstance(n.ctx, ast.Store)} - {*args}
            often = Counter(name.id for name in names if name.id in local)
            taken = {name.id for name in names} - local | {*args, *keyword.kwlist}
            free = (name for name in _SHORT if name not in taken)
            short = {name: next(free) for name, _ in often.most_common()}
            for name in names:
                name.id = short.get(name.id, name.id)
    return ast.unparse(tree) + "\n"


def narrow(source: str) -> str:
    """Return what ast.unparse has made, indented by one space instead of four."""
    lines = [(line.lstrip(" "), line) for line in source.split("\n")]
    return "\n".join(" " * ((len(line) - len(text)) // 4) + text for text, line in lines)
