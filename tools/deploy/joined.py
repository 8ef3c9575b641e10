"""Fewer files of the package for one board: small loops in the module that takes them.

A file system keeps each file in blocks of its own, of 4 KB on most boards, and most compiled
modules have 1 KB. A family of loops that one module alone takes therefore goes to the end of that
module, which enters itself in sys.modules under the family's name: mpconnxr.forms finds it there.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from pathlib import Path

MOST = 400  # compiled bytes of a family that some models have in memory for nothing
_COMMON = "COMMON"  # what tells mpconnxr.forms that a family in loops/ is in viper as well
_SELF = "\nimport sys\n\nsys.modules[{!r}] = sys.modules[__name__]\n"
_BUILT_IN = {*vars(builtins), "ptr", "ptr8", "ptr16", "ptr32", "uint", "const"}


def joined(
    modules: Mapping[str, Path],
    taker: Mapping[str, str],
    idle: Callable[[Path], int],
    is_enough: Callable[[Mapping[str, str]], bool] = lambda sources: False,
) -> dict[str, str]:
    """Return the sources that are left, by module.

    modules: files by their modules' names, such as mpconnxr.ops.relu; taker: of a loops' module
    that one module alone takes, which one; idle: of a file, the compiled bytes that models which
    use its taker may have in memory for nothing, 0 if all of them need it; is_enough: whether
    these sources are few enough to join no family that may be there for nothing.
    """
    sources = {name: path.read_text() for name, path in modules.items()}
    for name in sorted(taker, key=lambda name: (idle(modules[name]), name)):
        user, nbytes = taker[name], idle(modules[name])
        if nbytes > MOST or nbytes and is_enough(sources):
            break
        # A module that went elsewhere takes none with it: who takes that one would not find it.
        is_first = user in sources and sources[user] == modules[user].read_text()
        if user in sources and (text := _added(sources, user, name, is_first)):
            sources[user] = text
            del sources[name]
    return sources


def _added(sources: Mapping[str, str], user: str, family: str, is_first: bool) -> str:
    """Return the source of a module with a family in it; "" where names would mean two things.

    is_first: no other family is in it. COMMON speaks for a whole file, which then has one family.
    """
    tree = _absolute(sources[family], family)
    own, taken = _Scope(_absolute(sources[user], user)), _Scope(tree)
    if _COMMON in own.defined or _COMMON in taken.defined and not is_first:
        return ""
    both = own.defined.keys() & taken.defined.keys()
    if any(not own.defined[name] or own.defined[name] != taken.defined[name] for name in both):
        return ""
    if own.defined.keys() & taken.used - both or taken.defined.keys() & own.used - both:
        return ""
    if isinstance(tree.body[0], ast.Expr):
        del tree.body[0]  # its docstring
    return sources[user] + "\n\n" + ast.unparse(tree) + _SELF.format(family)


def _absolute(source: str, module: str) -> ast.Module:
    """Return a module's statements, whose imports name the package."""
    tree = ast.parse(source)
    parts = module.split(".")
    for node in [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level]:
        names = [*parts[: -node.level], *filter(None, [node.module])]
        node.module, node.level = ".".join(names), 0
    return tree


class _Scope:
    """defined: global names with the import that they are of, "" for others; used: names that are
    global or built in.
    """

    def __init__(self, tree: ast.Module):
        self.defined: dict[str, str] = {}
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", "") or ""
                for alias in node.names:
                    self.defined[alias.asname or alias.name] = f"{module}.{alias.name}"
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                self.defined[node.name] = ""
            else:
                stored = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
                names = [n.id for n in stored if isinstance(n.ctx, ast.Store)]
                self.defined |= dict.fromkeys(names, "")
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        self.used = {name for name in names if name in _BUILT_IN or name in self.defined}
