"""Which of its arguments a loop writes to, read from its source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache

ALL = frozenset({-1})  # indexes that the source alone does not tell


@cache
def written(function: Callable) -> dict[int, frozenset[int]]:
    """{position of an argument: the indexes that are written, or ALL}; functions that it calls
    by name count.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    names = [a.arg for a in tree.args.args]
    found: dict[int, set[int]] = {}
    for target, index in _stores(tree):
        if target in names:
            found.setdefault(names.index(target), set()).add(index)
    for call in ast.walk(tree):
        helper = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        helper = helper and function.__globals__.get(call.func.id)
        if inspect.isfunction(helper) and helper is not function:
            inner = written(helper)
            for i, argument in enumerate(call.args):
                if i in inner and isinstance(argument, ast.Name) and argument.id in names:
                    found.setdefault(names.index(argument.id), set()).update(inner[i])
    return {i: ALL if -1 in indexes else frozenset(indexes) for i, indexes in found.items()}


def _stores(tree: ast.FunctionDef) -> list[tuple[str, int]]:
    """(name, index) of each store to an item, in the order of the source; -1: any index.

    An index may be a name that holds a number since the line before it: `i = 12`, `p[i] = n`.
    """
    found: list[tuple[str, int]] = []
    known: dict[str, int] = {}

    def walk(body: list[ast.stmt]) -> None:
        for node in body:
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            for target in [t for t in targets if t is not None]:
                for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name):
                        found.append((each.value.id, _value(each.slice, known)))
                    elif isinstance(each, ast.Name):
                        known.pop(each.id, None)
                        if isinstance(node, ast.Assign) and _value(node.value, {}) >= 0:
                            known[each.id] = _value(node.value, {})
            inner = [getattr(node, part, []) for part in ("body", "orelse", "finalbody")]
            for part in inner:
                if part:
                    changed = {n.id for n in ast.walk(node) if _is_stored(n)}
                    for name in changed:
                        known.pop(name, None)
                    walk(part)
                    for name in changed:
                        known.pop(name, None)

    walk(tree.body)
    return found


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _value(node: ast.expr, known: dict[str, int]) -> int:
    """The number of an expression of numbers and known names; -1 where it is another one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return known.get(node.id, -1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _value(node.left, known), _value(node.right, known)
        return left + right if min(left, right) >= 0 else -1
    return -1
