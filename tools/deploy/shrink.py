"""Names for boards: those that a module need not have are some that all firmware has.

MicroPython keeps each name of an argument, a global or an attribute for ever, in some 14 bytes of
the heap. Names of methods, such as "append", are part of any firmware.
"""

from __future__ import annotations

import ast
import functools
import keyword
import string
from collections import Counter
from itertools import product

_KNOWN = (
    *("append", "clear", "copy", "count", "end", "endswith", "extend", "find", "from_bytes"),
    *("get", "index", "insert", "isalpha", "isdigit", "islower", "isspace", "isupper", "join"),
    *("keys", "little", "lower", "lstrip", "main", "pop", "popitem", "remove", "replace", "rfind"),
    *("rindex", "rsplit", "rstrip", "setdefault", "sort", "startswith", "stop", "strip", "throw"),
    *("to_bytes", "update", "upper", "value", "write"),
)
# The same for fields and methods of replay's classes that no other module uses.
_FIELDS = {
    "_chunks": "items",
    "_of": "key",
    "_read": "readline",
    "_what": "values",
}


_SHORT = [*string.ascii_letters, *map("".join, product(string.ascii_letters, repeat=2))]
_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global)

SHOWN = "mpconnxr"  # as what these modules appear in tracebacks: a name of their own stays, too


@functools.lru_cache(64)  # a report, or a deployment, builds programs that share modules
def shrunk(source: str) -> str:
    """A module with other names for what nobody else knows: its private functions and globals,
    functions within functions, and the arguments of all these.
    """
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if "sys.implementation" not in _test(node)]
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    methods = [f for c in classes for f in c.body if f in functions]
    public = [f for f in functions if f in tree.body and f.name[0] != "_"]
    ours = [f for f in functions if f not in methods and f not in public]
    ours = [f for f in ours if not f.name.startswith("__")]
    private = [f for f in methods if f.name in _FIELDS or f.name == "__init__"]
    fixed = {a.arg for f in functions if f not in (*ours, *private) for a in f.args.args}
    fixed |= {f.name for f in public}
    fixed |= {alias.asname or alias.name for n in ast.walk(tree) for alias in _imports(n)}
    targets = [t for n in tree.body if isinstance(n, ast.Assign) for t in n.targets]
    found = [f.name for f in ours]
    found += [t.id for t in targets if isinstance(t, ast.Name) and t.id[0] == "_"]
    for f in (*ours, *private):
        found += [a.arg for a in f.args.args if not f.decorator_list]
    for f in [n for n in ast.walk(tree) if isinstance(n, ast.Lambda)]:
        found += [a.arg for a in f.args.args]
    taken = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    free = iter([name for name in _KNOWN if name not in taken | fixed])
    names = {name: next(free, name) for name in dict.fromkeys(found) if name not in fixed}
    called = {f.name: names[f.name] for f in ours if f.name in names}
    return ast.unparse(_Renamed(names, called).visit(tree)) + "\n"


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


def _imports(node: ast.AST) -> list[ast.alias]:
    return node.names if isinstance(node, ast.Import | ast.ImportFrom) else []


def _test(node: ast.stmt) -> str:
    """What an `if` asks: boards need no branch for CPython."""
    return ast.unparse(node.test) if isinstance(node, ast.If) else ""


class _Called(ast.NodeTransformer):
    """Within native functions, whose own names take no memory."""

    def __init__(self, names: dict[str, str]):
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node


class _Renamed(ast.NodeTransformer):
    """functions: those of the names that are of functions."""

    def __init__(self, names: dict[str, str], functions: dict[str, str]):
        self._names = names
        self._functions = _Called(functions)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = _FIELDS.get(node.name) or self._names.get(node.name, node.name)
        is_native = any(ast.unparse(d).startswith("micropython.") for d in node.decorator_list)
        return self._functions.visit(node) if is_native else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = _FIELDS.get(node.attr, node.attr)
        return self.generic_visit(node)
