"""python -m tools.positionlint: refuse numbers where a loop's parameters have names.

In sources of loops `p[7]` must be `p[_COLUMNS]`, as the family's file declares it; kernels import
these names. In assembler and C it is `p_columns`. See tools.loops.parameters.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from tools import package
from tools.asm.forms import SOURCES as ASSEMBLER
from tools.made import shown

_NUMBER = re.compile(r"\bp\[\s*\d")


def main() -> int:
    """Check all files; return 1 if a number is found, else 0."""
    loops = sorted((package.SOURCES / "loops").rglob("*.py"))
    others = sorted(path for kind in ("*.S", "*.c", "*.h") for path in ASSEMBLER.rglob(kind))
    problems = [(path, *each) for path in loops for each in in_python(path.read_text())]
    kernels = sorted(package.KERNELS.glob("*.py"))
    problems += [(path, *each) for path in kernels for each in in_kernel(path.read_text())]
    problems += [(path, *each) for path in others for each in in_assembler(path.read_text())]
    for path, line, what in problems:
        print(f"{shown(path)}:{line}: {what} is a parameter without its name")
    if not problems:
        print(f"positionlint: {len(loops) + len(kernels) + len(others)} files are fine")
    return 1 if problems else 0


def in_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, expression) where a number is an index into p."""
    for node in ast.walk(ast.parse(text)):
        is_p = isinstance(node, ast.Subscript) and ast.unparse(node.value) == "p"
        if is_p and any(_is_number(each) for each in _ends(node.slice)):
            yield node.lineno, ast.unparse(node)


def in_kernel(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, expression) where a number above 1 is an index into a block, by its name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            name = ast.unparse(node.value).rpartition(".")[2]
            is_block = name in ("p", "q", "places") or name.endswith("_p")
            if is_block and isinstance(node.slice.value, int) and node.slice.value > 1:
                yield node.lineno, ast.unparse(node)


def in_assembler(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) where p has a number: in C, and in Python in comments of assembler."""
    for number, line in enumerate(text.splitlines(), 1):
        if _NUMBER.search(line):
            yield number, line.strip()


def _ends(index: ast.expr) -> list[ast.expr | None]:
    return [index.lower, index.upper] if isinstance(index, ast.Slice) else [index]


def _is_number(node: ast.expr | None) -> bool:
    """Return True if an index consists of nothing but numbers."""
    return node is not None and not any(isinstance(n, ast.Name) for n in ast.walk(node))


if __name__ == "__main__":
    sys.exit(main())
