"""Functions that a module of machine code imports from another form.

`from ..viper.program import run` would keep both modules in a board's memory. Therefore the import
is replaced by the function itself, provided that it uses no names of its module.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping

_IMPORT = re.compile(r"^from \.\.(\w+)\.(\w+) import (\w+)(?:  #.*)?\n", re.MULTILINE)
_KNOWN = {*vars(builtins), "micropython", "data", "ptr", "ptr8", "ptr16", "ptr32", "uint"}


def with_borrowed(text: str, known: Mapping[tuple[str, str], str]) -> str:
    """Return a module's text with functions instead of imports.

    Args:
        text: text of the module.
        known: texts of modules by (family, form).
    """
    for match in list(_IMPORT.finditer(text)):
        form, family, name = match.groups()
        if function := _function(known[family, form], name):
            text = text.replace(match[0], "") + f"\n\n{function}\n"
    return re.sub(r"\n{4,}", "\n\n\n", text)


def _function(text: str, name: str) -> str:
    """Return the source of a function, or "" if it uses names of its module."""
    [node] = [n for n in ast.parse(text).body if getattr(n, "name", "") == name]
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    own = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    own |= {arg.arg for arg in node.args.args}
    if {n.id for n in names} - own - _KNOWN:
        return ""
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
