"""Find a module's globals that are constant integers: a board needs no name for them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from .scopes import Scope

_NODES = (ast.Constant, ast.Name, ast.Load, ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator)


def integers(
    tree: ast.Module, scope: Scope, known: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Return the constant integers among a module's globals, by name.

    Args:
        tree: the module's syntax tree.
        scope: the module's scope.
        known: integers that it imports, by name.
    """
    stores = Counter()
    for each in scope.walk():
        stores.update(n for n, _, is_store in each.uses if is_store and each.owner(n) is scope)
    values = dict(known or {})
    own: dict[str, int] = {}
    for name, value in (pair for statement in tree.body for pair in assigned(statement)):
        number = integer(value, values)
        if number is not None and stores[name] == 1:
            values[name] = own[name] = number
    return own


def assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield (name, value) of an assignment statement, and two pairs for `a, b = 1, 2`.

    Other statements yield nothing.
    """
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    targets, values = statement.targets, [statement.value]
    if isinstance(targets[0], ast.Tuple) and isinstance(values[0], ast.Tuple):
        targets, values = targets[0].elts, values[0].elts
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if len(names) == len(targets) == len(values):
        yield from zip(names, values, strict=True)


def integer(node: ast.expr, known: Mapping[str, int]) -> int | None:
    """Return the value of an expression of integers and known names; None for others."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "const":
        [node] = node.args
    for part in ast.walk(node):
        if not isinstance(part, _NODES):
            return None
        if isinstance(part, ast.Constant) and type(part.value) is not int:
            return None
        if isinstance(part, ast.Name) and part.id not in known:
            return None
    code = compile(ast.Expression(node), "constant", "eval")
    value = eval(code, {"__builtins__": {}}, dict(known))
    return value if type(value) is int else None
