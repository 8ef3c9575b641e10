"""Which families of loops a module takes for every model that uses it.

Read from its source, and only what is plain there: calls that prepare reaches whatever the model
is, through functions and classes of the same module. A branch may be left out by some model.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_BRANCHES = (ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.While, ast.Try, ast.Lambda)
_BRANCHES += (ast.FunctionDef, ast.ClassDef, ast.ListComp, ast.GeneratorExp, ast.DictComp)
_EMPTY = ("return (0, None)", "return")  # of prepare, for a node that has nothing to do


def always_taken(tree: ast.Module) -> set[str]:
    """Return the families that `forms.get` gets by name for every model that uses a module.

    A module without prepare is for others: if it has one class, they make an object of that.
    """
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    made, names = set(), {"prepare"} & functions.keys()
    if not names and len(classes) == 1:
        made = {*classes}
    found: set[str] = set()
    reached: dict[ast.FunctionDef, None] = {}
    while True:
        wanted = [functions[name] for name in names & functions.keys()]
        for method in [n for name in made for n in classes[name].body]:
            if isinstance(method, ast.FunctionDef) and method.name in names | {"__init__"}:
                wanted.append(method)
        if not (new := [function for function in wanted if function not in reached]):
            return found
        reached |= dict.fromkeys(new)
        for call in [call for function in new for call in _certain_calls(function.body)]:
            name = ast.unparse(call.func)
            if name == "forms.get":
                found |= {a.value for a in call.args[:1] if isinstance(a, ast.Constant)}
            names = names | {name.rpartition(".")[2]}
            made = made | ({name} & classes.keys())


def _certain_calls(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the calls that are made each time, up to a branch that may return."""
    for statement in statements:
        if not isinstance(statement, _BRANCHES):
            yield from _calls(statement)
        elif any(_is_result(node) for node in ast.walk(statement)):
            return


def _is_result(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and ast.unparse(node) not in _EMPTY


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _BRANCHES):
            yield from _calls(child)
