"""Merge modules of the package into their only users, so that a board has fewer files.

A file system stores each file in blocks of its own, of 4 KB on most boards, and most compiled
modules take 1 KB. A module that only loading needs, and that one module alone imports, is put
before the statements of that module. A family of loops that one module alone uses is appended to
that module, which registers itself in sys.modules under the family's name, where mpconnxr.forms
finds it. The loops keep their module alive; a kernel's other contents in it are released.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from mpconnxr.build.load import LOADING

MAX_NBYTES = 480  # largest family that some models hold in memory without need [compiled bytes]
_COMMON = "COMMON"  # global that marks a family in loops/ as written for viper as well
_SELF = "\nimport sys\n\nsys.modules[{!r}] = sys.modules[__name__]\n"
_LET_GO = "\nLET_GO = {!r}\n"  # see mpconnxr.build.load
_LOADING = {f"mpconnxr.{name}" for name in LOADING.split()}
_STEMS = {name.rpartition(".")[2] for name in LOADING.split()} - {"build", "load"}
_SPOKEN_OF = re.compile(rf"\b(?:{'|'.join(sorted(_STEMS))})\b")
_BUILT_IN = {*vars(builtins), "ptr", "ptr8", "ptr16", "ptr32", "uint", "const"}


def joined(
    modules: Mapping[str, Path],
    only_users: Mapping[str, str],
    idle: Callable[[Path], int],
    is_enough: Callable[[Mapping[str, str]], bool] = lambda sources: False,
) -> dict[str, str]:
    """Return the sources of the modules that remain, by module.

    Args:
        modules: {module name, such as mpconnxr.ops.relu: its file}.
        only_users: {module of loops: the only module that uses it}.
        idle: function of a file; returns the compiled bytes that models which use its user may
            hold in memory without need, 0 if all of them need it.
        is_enough: function of sources; returns True if they are so few that no family need be
            merged which some models do not use.
    """
    sources = merged({name: path.read_text() for name, path in modules.items()})
    for name in sorted(only_users, key=lambda name: (idle(modules[name]), name)):
        user, nbytes = only_users[name], idle(modules[name])
        if nbytes > MAX_NBYTES or nbytes and is_enough(_letting_go(sources, modules, only_users)):
            break
        # A module that was merged itself takes none: its users would not find that one.
        is_first = user in sources and sources[user] == modules[user].read_text()
        if user in sources and (text := _added(sources, user, name, is_first)):
            sources[user] = text
            del sources[name]
    return _letting_go(sources, modules, only_users)


def _letting_go(
    sources: Mapping[str, str], modules: Mapping[str, Path], only_users: Mapping[str, str]
) -> dict[str, str]:
    """Add to each module that absorbed others the list of names that load may delete.

    Args:
        sources: {module that remains: its source}.
        modules: {module: its file}.
        only_users: {module of loops: the only module that uses it}.

    Returns:
        The sources with these lists.
    """
    made = dict(sources)
    for user in {only_users[name] for name in only_users if name not in sources} & sources.keys():
        text = modules[user].read_text()
        added = made[user].removeprefix(text)
        used = {n.id for n in ast.walk(ast.parse(added)) if isinstance(n, ast.Name)}
        own = [name for node in ast.parse(text).body for name in _own(node) if name not in used]
        made[user] += _LET_GO.format(tuple(own))
    return made


def _own(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines, or imports from the package."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.ImportFrom) and node.level:
        return [alias.asname or alias.name for alias in node.names]
    return []


def merged(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the sources by module, with modules for loading merged into their only user."""
    made = dict(sources)
    parsed = {name: s for name, s in sources.items() if name in _LOADING or _SPOKEN_OF.search(s)}
    trees = {name: _absolute(source, name) for name, source in parsed.items()}
    while pairs := _pairs(trees):
        name, user = pairs[0]
        own, taken = trees[user], trees.pop(name)
        imported = [n for n in own.body if isinstance(n, ast.ImportFrom) and n.module == name]
        known = {ast.unparse(node) for node in taken.body}
        rest = [n for n in own.body[1:] if n not in imported and ast.unparse(n) not in known]
        own.body = [own.body[0], *taken.body[1:], *rest]
        made[user] = ast.unparse(own) + "\n"
        del made[name]
    return made


def _pairs(trees: Mapping[str, ast.Module]) -> list[tuple[str, str]]:
    """Return (module, its only importer) for modules that can be merged."""
    users: dict[str, list[str]] = {}
    for user, tree in trees.items():
        for name in {name for node in ast.walk(tree) for name in _imported(node)} & trees.keys():
            users.setdefault(name, []).append(user)
    alone = sorted((name, using[0]) for name, using in users.items() if len(using) == 1)
    return [pair for pair in alone if _can_be_one(*(trees[name] for name in pair), *pair)]


def _imported(node: ast.AST) -> set[str]:
    """Return the modules that a statement may import."""
    if not isinstance(node, ast.ImportFrom):
        return set()
    module = node.module or ""
    return {module, *(f"{module}.{alias.name}" for alias in node.names)}


def _can_be_one(taken: ast.Module, own: ast.Module, name: str, user: str) -> bool:
    """Return True if two modules only serve loading, and share no name with two meanings.

    Args:
        taken: syntax tree of the module to merge.
        own: syntax tree of its user.
        name: name of the module to merge.
        user: name of its user.
    """
    heads = [n for n in own.body if isinstance(n, ast.ImportFrom) and n.module == name]
    if not heads or any(alias.asname for node in heads for alias in node.names):
        return False
    if not {name, user} <= _LOADING or not all(map(ast.get_docstring, (taken, own))):
        return False
    one, two = _meanings(taken), _meanings(own)
    names = {alias.name for node in heads for alias in node.names}
    return all(one[n] == two[n] for n in (one.keys() & two.keys()) - names)


def _meanings(tree: ast.Module) -> dict[str, str]:
    """Return the statement that defines each global name; for an import, the object it means."""
    meanings = dict(_Scope(tree).defined)
    for node in tree.body:
        for name, imported in _Scope(ast.Module([node], [])).defined.items():
            meanings[name] = imported or ast.unparse(node)
    return meanings


def _added(sources: Mapping[str, str], user: str, family: str, is_first: bool) -> str:
    """Return a module's source with a family of loops appended; "" if names would clash.

    COMMON applies to a whole file, which can then hold one family only.

    Args:
        sources: source by module.
        user: the module that gets the family.
        family: the family's module.
        is_first: no other family has been appended yet.
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
    """Parse a module, and make its relative imports absolute."""
    tree = ast.parse(source)
    parts = module.split(".")
    for node in [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level]:
        names = [*parts[: -node.level], *filter(None, [node.module])]
        node.module, node.level = ".".join(names), 0
    return tree


class _Scope:
    """The global names of a module.

    Attributes:
        defined: global names, each with the import that binds it, "" for other definitions.
        used: names in it that are global or built in.
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
