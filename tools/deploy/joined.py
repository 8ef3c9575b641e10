"""Fewer files of the package for one board: what one module alone takes, in that module.

A file system keeps each file in blocks of its own, of 4 KB on most boards, and most compiled
modules have 1 KB. A module that only loading needs, and that one other alone imports, therefore
comes before that one's own statements. A family of loops that one module alone takes goes to the
end of that module, which enters itself in sys.modules under the family's name, where
mpconnxr.forms finds it. Loops hold their module; what a kernel has in it besides is let go of.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from mpconnxr.build.load import LOADING

MOST = 400  # compiled bytes of a family that some models have in memory for nothing
_COMMON = "COMMON"  # what tells mpconnxr.forms that a family in loops/ is in viper as well
_SELF = "\nimport sys\n\nsys.modules[{!r}] = sys.modules[__name__]\n"
_LET_GO = "\nLET_GO = {!r}\n"  # see mpconnxr.build.load
_LOADING = {f"mpconnxr.{name}" for name in LOADING.split()}
_STEMS = {name.rpartition(".")[2] for name in LOADING.split()} - {"build", "load"}
_SPOKEN_OF = re.compile(rf"\b(?:{'|'.join(sorted(_STEMS))})\b")
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
    sources = merged({name: path.read_text() for name, path in modules.items()})
    for name in sorted(taker, key=lambda name: (idle(modules[name]), name)):
        user, nbytes = taker[name], idle(modules[name])
        if nbytes > MOST or nbytes and is_enough(_letting_go(sources, modules, taker)):
            break
        # A module that went elsewhere takes none with it: who takes that one would not find it.
        is_first = user in sources and sources[user] == modules[user].read_text()
        if user in sources and (text := _added(sources, user, name, is_first)):
            sources[user] = text
            del sources[name]
    return _letting_go(sources, modules, taker)


def _letting_go(
    sources: Mapping[str, str], modules: Mapping[str, Path], taker: Mapping[str, str]
) -> dict[str, str]:
    """Return the sources; what took others says which of its own it lets go of."""
    made = dict(sources)
    for user in {taker[name] for name in taker if name not in sources} & sources.keys():
        text = modules[user].read_text()
        added = made[user].removeprefix(text)
        used = {n.id for n in ast.walk(ast.parse(added)) if isinstance(n, ast.Name)}
        own = [name for node in ast.parse(text).body for name in _own(node) if name not in used]
        made[user] += _LET_GO.format(tuple(own))
    return made


def _own(node: ast.stmt) -> list[str]:
    """Return what a statement defines, or imports of the package."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.ImportFrom) and node.level:
        return [alias.asname or alias.name for alias in node.names]
    return []


def merged(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the sources, by module; what one alone imports to load models is in that one."""
    made = dict(sources)
    told = {name: s for name, s in sources.items() if name in _LOADING or _SPOKEN_OF.search(s)}
    trees = {name: _absolute(source, name) for name, source in told.items()}
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
    """Return (module, the only one that imports it) where both can be one."""
    users: dict[str, list[str]] = {}
    for user, tree in trees.items():
        for name in {name for node in ast.walk(tree) for name in _imported(node)} & trees.keys():
            users.setdefault(name, []).append(user)
    alone = sorted((name, found[0]) for name, found in users.items() if len(found) == 1)
    return [pair for pair in alone if _can_be_one(*(trees[name] for name in pair), *pair)]


def _imported(node: ast.AST) -> set[str]:
    """Return the modules that a statement may import."""
    if not isinstance(node, ast.ImportFrom):
        return set()
    module = node.module or ""
    return {module, *(f"{module}.{alias.name}" for alias in node.names)}


def _can_be_one(taken: ast.Module, own: ast.Module, name: str, user: str) -> bool:
    """Return whether both are there to load models, and no name would mean two things."""
    heads = [n for n in own.body if isinstance(n, ast.ImportFrom) and n.module == name]
    if not heads or any(alias.asname for node in heads for alias in node.names):
        return False
    if not {name, user} <= _LOADING or not all(map(ast.get_docstring, (taken, own))):
        return False
    one, two = _meanings(taken), _meanings(own)
    names = {alias.name for node in heads for alias in node.names}
    return all(one[n] == two[n] for n in (one.keys() & two.keys()) - names)


def _meanings(tree: ast.Module) -> dict[str, str]:
    """Return the statements that define the global names; of an import what it means."""
    found = dict(_Scope(tree).defined)
    for node in tree.body:
        for name, imported in _Scope(ast.Module([node], [])).defined.items():
            found[name] = imported or ast.unparse(node)
    return found


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
