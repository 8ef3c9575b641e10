"""Write the module of a source: its expanded loops and the code around them."""

from __future__ import annotations

import ast

from ..made import documented, shown
from .expand import Code
from .flow import check_function
from .source import Source, is_for_the_build, is_helper


def module(source: Source, is_common: bool) -> str:
    """Return a module's text; is_common: it serves viper and plain Python.

    Raises:
        LoopError: if the source cannot be translated.
    """
    nodes = [n for n in source.tree.body[1:] if not is_for_the_build(n) and not is_helper(n)]
    packages = [source.line(node) for node in nodes if isinstance(node, ast.Import)]
    packages.append("import micropython")
    modules = [source.line(node) for node in nodes if isinstance(node, ast.ImportFrom)]
    lines = documented(ast.get_docstring(source.tree), "Made", shown(source.path))
    for each in packages:
        lines += ["", each]
    if modules:
        lines += ["", *modules]
    if is_common:
        lines += ["", "COMMON = True"]
    was_function = False
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        is_function = isinstance(node, ast.FunctionDef)
        lines += ["", ""] if is_function or was_function else [""]
        lines += _loop(source, node) if is_function else [source.line(node)]
        was_function = is_function
    return "\n".join(lines) + "\n"


def _loop(source: Source, node: ast.FunctionDef) -> list[str]:
    """Return the lines of a function, which is viper if its arguments have types."""
    check_function(source, node)
    viper = any(arg.annotation for arg in node.args.args)
    above = node.body[0].lineno - 1
    lines = Code(source, viper).block(node.body, above)
    head = ["@micropython.viper"] if viper else []
    head += source.lines[node.lineno - 1 : above]
    return [*head, *(f"    {line}" if line else "" for line in lines)]
