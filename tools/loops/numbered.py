"""Replace the names of loops' parameters by numbers in sources that are built.

Names would take memory on a board, and so would mpconnxr.blocks, which looks them up. `loops` and
`kernel` return a file of mpconnxr/loops or mpconnxr/ops as tools.package builds it; `definitions`
returns the numbers for assembler and C. tools.loops.parameters explains the names.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from mpconnxr.blocks import ordered

from ..made import shown
from .errors import LoopError
from .parameters import LOOPS, block_of, groups

_AT_ONCE = 20  # numbers that a kernel passes in one list
_IMPORT_OF_CONSTANT = re.compile(r"from \S+ import (\([^)]*|[^\n]*)\b_[A-Z]")
_BY_NAME, _BUILT = "from ..blocks import block\n", "from ..parameters import block\n"
_BUILT_OF = "from ..parameters import block, block_of\n"


def positions(path: Path) -> dict[str, int]:
    """Return the positions of the constants that a file of loops may use, such as _X_START.

    Raises:
        LoopError: if a declaration cannot be parsed.
    """
    text = path.read_text()
    positions_by_name: dict[str, int] = {}
    plain = LOOPS / path.name
    if path.parent.parent == LOOPS and plain.exists():
        positions_by_name |= positions(plain)
    for _line, _names, other, constants in groups(path):
        if other:
            names = {f"_{each.name.upper()}": each.position for each in block_of(*other)}
            positions_by_name |= {
                name: at for name, at in names.items() if f"\n{name} = " not in text
            }
        positions_by_name |= {name: int(at) for _line, name, at, _comment in constants}
    for node in _imports(text):
        other = path.parents[node.level - 1] / f"{node.module}.py"
        positions_by_name |= _imported(path, other, _constants(node))
    return positions_by_name


def definitions(family: str) -> Mapping[str, int]:
    """Return the positions of a family's parameters by their names in assembler and C.

    _X_START is p_x_start there. Constants of the form for an FPU (folder vfp) are included.
    """
    positions_by_name = {}
    for form in ("", "vfp"):
        path = LOOPS / form / f"{family}.py"
        if path.exists():
            positions_by_name |= {f"p{name.lower()}": i for name, i in positions(path).items()}
    return positions_by_name


def loops(path: Path) -> str:
    """Return the text of a file of loops with numbers, on the same lines, for constants.

    Raises:
        LoopError: if a declaration cannot be parsed.
    """
    text = path.read_text()
    lines = _numbered(text, positions(path))
    for number, _names, _other, constants in groups(path):
        for at in (number, *(constant[0] for constant in constants)):
            lines[at - 1] = ""
    _remove(lines, _imports(text))
    return "\n".join(lines) + "\n"


def kernel(path: Path) -> str:
    """Return the text of a kernel with numbers instead of names.

    `block("move", start=0, end=7)` becomes `block(0, 7)`, and imported constants of loops become
    positions.

    Raises:
        LoopError: if a declaration cannot be parsed.
        TypeError: if a name is missing or unknown to the loop.
    """
    text = path.read_text()
    if _BY_NAME in text:
        text = _with_numbers(text)
    imports = [node for node in _imports(text) if node.module.startswith("loops.")]
    if not imports:
        return text
    known = {}
    for node in imports:
        other = LOOPS.parent / f"{node.module.replace('.', '/')}.py"
        known |= _imported(path, other, _constants(node))
    lines = _numbered(text, known)
    _remove(lines, imports)
    return "\n".join(lines) + "\n"


@cache
def _imports(text: str) -> list[ast.ImportFrom]:
    """Return the statements that import constants such as _X_START from another file."""
    if not _IMPORT_OF_CONSTANT.search(text):  # parsing takes longer
        return []
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return [node for node in nodes if _constants(node)]


def _constants(node: ast.ImportFrom) -> list[ast.alias]:
    """Return the imported names that look like parameter constants."""
    return [alias for alias in node.names if re.fullmatch("_[A-Z][A-Z0-9_]*", alias.name)]


def _imported(path: Path, other: Path, aliases: Iterable[ast.alias]) -> dict[str, int]:
    """Return the positions of imported constants, by their names in the importing file.

    Args:
        path: the importing file, for the message.
        other: the file of loops that declares the constants.
        aliases: the imported names.

    Raises:
        LoopError: if `other` does not declare one of them.
    """
    known = positions(other)
    for alias in aliases:
        if alias.name not in known:
            raise LoopError(f"{shown(path)}: {shown(other)} declares no {alias.name}")
    return {alias.asname or alias.name: known[alias.name] for alias in aliases}


def _numbered(text: str, known: Mapping[str, int]) -> list[str]:
    """Return the lines of a text with numbers instead of these names."""
    lines = text.splitlines()
    if not known:
        return lines
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type == tokenize.NAME and token.string in known:
            row, (_, end) = token.start[0] - 1, token.end
            lines[row] = lines[row][: token.start[1]] + str(known[token.string]) + lines[row][end:]
    return lines


def _remove(lines: list[str], imports: Iterable[ast.ImportFrom]) -> None:
    """Remove the constants from statements that import them."""
    for node in imports:
        first, end, constants = node.lineno - 1, node.end_lineno, _constants(node)
        lines[first:end] = [""] * (end - first)
        others = [alias for alias in node.names if alias not in constants]
        if others:
            statement = ast.ImportFrom(node.module, others, node.level)
            lines[first] = " " * node.col_offset + ast.unparse(statement)


def _with_numbers(text: str) -> str:
    """Replace block("loop", name=value, ...) by block(value, ...), in order of position.

    Values stay the source text of their expressions. mpconnxr.blocks.ordered sorts them as
    _Number, which acts as a number (BIAS is added to it) or as an iterable of numbers.
    """
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node: ast.expr) -> tuple[int, int]:
        first = starts[node.lineno - 1] + node.col_offset
        return first, starts[node.end_lineno - 1] + node.end_col_offset

    def numbers(node: ast.expr) -> _Number | list[_Number]:
        if isinstance(node, ast.Tuple):
            return [_Number(text[slice(*span(each))]) for each in node.elts]
        return _Number(text[slice(*span(node))])

    made = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "block" and node.keywords:
            keywords = {each.arg: numbers(each.value) for each in node.keywords}
            words = ordered(node.args[0].value, keywords)
            made[span(node)] = _made([number.text for number in words])
    for (first, end), new in sorted(made.items(), reverse=True):
        text = text[:first] + new + text[end:]
    return text.replace(_BY_NAME, _BUILT if "block_of(" not in text else _BUILT_OF)


class _Number:
    """The text of a number or an iterable of numbers, which mpconnxr.blocks.ordered sorts."""

    def __init__(self, text: str):
        self.text = text

    def __add__(self, bias: int) -> _Number:
        return _Number(f"({self.text}) + {bias}")

    def __iter__(self) -> Iterator[_Number]:
        yield _Number(f"*{self.text}")


def _made(numbers: list[str]) -> str:
    """Return the call that makes a block.

    Many numbers are passed as lists: a frame has space for all of them at once.
    """
    if len(numbers) <= _AT_ONCE:
        return f"block({', '.join(numbers)})"
    parts: list[str] = []
    while numbers:
        n = next((i for i, each in enumerate(numbers[:_AT_ONCE]) if each[0] == "*"), _AT_ONCE)
        parts.append(f"[{', '.join(numbers[:n])}]" if n else f"list({numbers[0][1:]})")
        numbers = numbers[n or 1 :]
    return f"block_of({' + '.join(parts)})"
