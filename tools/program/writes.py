"""Which of its arguments a loop writes to, read from its source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache

from tools import store

ALL = frozenset({-1})  # indexes that the source alone does not tell
_TYPES = ("ptr", "ptr8", "ptr16", "ptr32", "int", "uint")  # that viper calls


@cache
def written(function: Callable) -> dict[int, frozenset[int]]:
    """{position of an argument: the indexes that are written, or ALL}; functions that it calls
    by name count.
    """
    tree = _tree(function)
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


@cache
def _tree(function: Callable) -> ast.FunctionDef:
    """Return its statements; a loop's as they are built, with helpers where they are called."""
    package, _, family = function.__module__.rpartition(".")
    if package != "mpconnxr.loops":
        return ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    body = ast.parse(store.loops().path(family).read_text()).body
    return next(node for node in body if getattr(node, "name", "") == function.__name__)


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


@cache
def inner_calls(driver: Callable) -> tuple[tuple[int, tuple[int | None, ...]], ...]:
    """The calls that a driver makes of what is in its list w: the place of the loop in the list,
    and of each argument (None: it is no item of the list, -1: the list itself).

    Raises LookupError for a call that cannot be followed.
    """
    tree = _tree(driver)
    places = {"w": -1}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            place = _place(node.value)
            if place is not None:
                name = node.targets[0].id
                if places.setdefault(name, place) != place:
                    raise LookupError(f"{driver.__name__}: {name} is two things")
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in places:
                names = [a.id if isinstance(a, ast.Name) else "" for a in node.args]
                found.append((places[node.func.id], tuple(places.get(n) for n in names)))
            elif node.func.id not in _TYPES:
                raise LookupError(f"{driver.__name__} calls {node.func.id}")
    return tuple(found)


def _place(node: ast.expr) -> int | None:
    """i of w[i]"""
    is_item = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    if is_item and isinstance(node.value, ast.Name) and node.value.id == "w":
        return node.slice.value
    return None
