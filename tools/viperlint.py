"""python -m tools.viperlint [FILE.py ...]: refuse viper code that MicroPython compiles wrongly.

In functions under @micropython.viper, of all of mpconnxr unless files are given:

1. `-x`: changes x itself if that is in a register, on every core, up to 1.28. Write `0 - x`.
2. `~x`: wrong on Xtensa, in every version. Write `x ^ -1`.
3. `p[3] = v`: 1.25 on Xtensa stores garbage at constant indices other than 0. Use a variable.
4. `min()`, `max()` and `abs()`: viper calls them with objects, which allocates.
5. A constant beyond 2**30 - 1: an object, not a word, on 32-bit boards. Shift a variable.
6. `p[i]` of a ptr16 or ptr32 where i is one of the first three locals, arguments among them:
   1.26 and 1.27 on Thumb multiply i itself by 2 or 4. Write `p[i + 0]`, or let others come first.

A constant is a number, an expression of constants, or a name of `const()`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tools import package
from tools.deploy.folding import integer

LARGEST = (1 << 30) - 1  # a small integer of 32-bit MicroPython
_IN_REGISTERS = 3  # locals of a viper function that Thumb keeps in registers
_CALLS = ("min", "max", "abs")


def main(paths: list[str]) -> int:
    """Check files; return 1 if code is refused, else 0."""
    files = [Path(path) for path in paths] or sorted(package.folder().rglob("*.py"))
    lines = [
        f"{path}:{line}: {what}" for path in files for line, what in problems(path.read_text())
    ]
    print("\n".join(lines) if lines else f"viperlint: {len(files)} files are fine")
    return 1 if lines else 0


def problems(source: str) -> list[tuple[int, str]]:
    """Return (line, problem) of all refused code."""
    tree = ast.parse(source)
    names = _named_constants(tree)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and _is_viper(n)]
    refused = {p for f in functions for node in f.body for p in _Refused(names).of(node)}
    return sorted(refused.union(*map(_shifted, functions)))


def _shifted(function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """Yield the subscripts whose index is a local in a register."""
    scope = _Locals(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
            name, base = node.slice.id, ast.unparse(node.value)
            if name in scope.order[:_IN_REGISTERS] and base in scope.wide:
                text = ast.unparse(node)
                yield node.lineno, f"{text} changes {name} itself: write {base}[{name} + 0]"


class _Locals(ast.NodeVisitor):
    """The local variables of a function.

    Attributes:
        order: names in the order in which MicroPython numbers them: arguments, then others as they
            are met, an assigned value before its target.
        wide: names of pointers to elements of two or four bytes.
    """

    def __init__(self, function: ast.FunctionDef):
        args = function.args.args
        self.order = [a.arg for a in args]
        self.wide = {a.arg for a in args if a.annotation and _is_wide(a.annotation)}
        stored = (n for n in ast.walk(function) if isinstance(n, ast.Name))
        self._assigned = {n.id for n in stored if isinstance(n.ctx, ast.Store)}
        for statement in function.body:
            self.visit(statement)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)
            is_cast = isinstance(node.value, ast.Call) and _is_wide(node.value.func)
            if is_cast and isinstance(target, ast.Name):
                self.wide.add(target.id)

    def visit_For(self, node: ast.For) -> None:
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self._assigned and node.id not in self.order:
            self.order.append(node.id)


def _is_wide(node: ast.expr) -> bool:
    return ast.unparse(node) in ("ptr16", "ptr32")


def _is_viper(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(d) == "micropython.viper" for d in function.decorator_list)


def _named_constants(tree: ast.Module) -> dict[str, int]:
    """Return the names that MicroPython's compiler replaces by their values."""
    names = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            call = node.value
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("const"):
                value = integer(call.args[0], names)
                if value is not None:
                    names[node.targets[0].id] = value
    return names


class _Refused:
    """Find refused code in statements; a constant expression is checked as a whole."""

    def __init__(self, names: dict[str, int]):
        self._names = names

    def of(self, node: ast.AST) -> Iterator[tuple[int, str]]:
        value = integer(node, self._names) if isinstance(node, ast.expr) else None
        if value is not None:
            if not -LARGEST - 1 <= value <= LARGEST:
                yield node.lineno, f"the constant {value:#x} is not a small integer"
            return
        what = self._wrong_with(node)
        if what:
            yield node.lineno, what
        for child in ast.iter_child_nodes(node):
            yield from self.of(child)

    def _wrong_with(self, node: ast.AST) -> str:
        if isinstance(node, ast.UnaryOp):
            x = ast.unparse(node.operand)
            if isinstance(node.op, ast.USub):
                return f"-{x} changes {x} itself: write 0 - {x}"
            if isinstance(node.op, ast.Invert):
                return f"~{x} is wrong on Xtensa: write {x} ^ -1"
        stored = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if stored and integer(node.slice, self._names):
            return f"{ast.unparse(node)} = ... stores at a constant index: use a variable"
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _CALLS:
            return f"{ast.unparse(node)} is not viper: write an if"
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
