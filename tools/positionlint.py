"""python -m tools.positionlint: refuse numbers where a loop's parameters have names.

In sources of loops `p[7]` has to be `p[_COLUMNS]`, as the family's file declares it, and in
kernels, too: those import the names. In assembler and C it is `p_columns`. See
tools.loops.parameters.
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
    """Exit status: 0 nothing found, 1 something."""
    loops = sorted((package.SOURCES / "loops").rglob("*.py"))
    others = sorted(path for kind in ("*.S", "*.c", "*.h") for path in ASSEMBLER.rglob(kind))
    found = [(path, *each) for path in loops for each in in_python(path.read_text())]
    kernels = sorted(package.KERNELS.glob("*.py"))
    found += [(path, *each) for path in kernels for each in in_kernel(path.read_text())]
    found += [(path, *each) for path in others for each in in_assembler(path.read_text())]
    for path, line, what in found:
        print(f"{shown(path)}:{line}: {what} is a parameter without its name")
    if not found:
        print(f"positionlint: {len(loops) + len(kernels) + len(others)} files are fine")
    return 1 if found else 0


def in_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines where a number is an index into p, and the expression."""
    for node in ast.walk(ast.parse(text)):
        is_p = isinstance(node, ast.Subscript) and ast.unparse(node.value) == "p"
        if is_p and any(_is_number(each) for each in _ends(node.slice)):
            yield node.lineno, ast.unparse(node)


def in_kernel(text: str) -> Iterator[tuple[int, str]]:
    """Yield the same where the number is above 1, of all that is named as blocks are."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            name = ast.unparse(node.value).rpartition(".")[2]
            is_block = name in ("p", "q", "places") or name.endswith("_p")
            if is_block and isinstance(node.slice.value, int) and node.slice.value > 1:
                yield node.lineno, ast.unparse(node)


def in_assembler(text: str) -> Iterator[tuple[int, str]]:
    """Yield the same of C, and of Python in the comments of assembler."""
    for number, line in enumerate(text.splitlines(), 1):
        if _NUMBER.search(line):
            yield number, line.strip()


def _ends(index: ast.expr) -> list[ast.expr | None]:
    return [index.lower, index.upper] if isinstance(index, ast.Slice) else [index]


def _is_number(node: ast.expr | None) -> bool:
    """Whether an index is made of nothing but numbers."""
    return node is not None and not any(isinstance(n, ast.Name) for n in ast.walk(node))


if __name__ == "__main__":
    sys.exit(main())
