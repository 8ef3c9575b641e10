"""python -m tools.bench.cycles: cycles a multiply-accumulate into boards/*.toml.

They are the instructions in docs/benchmarks.md, of the target that a board's file says it is
counted on, times the cycles an instruction of that board. `make bench` does this, too.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools.deploy.boards import FOLDER, Board, load_boards

PAGE = FOLDER.parent / "docs" / "benchmarks.md"
_INTEGERS = re.compile("int8|_qdq|_qop")  # in the name of a model of integers
_LINE = re.compile(r"^cycles_per_mac = \{.*\}$", re.MULTILINE)


def main() -> None:
    """Write cycles_per_mac into boards/*.toml."""
    write(counts_in(PAGE.read_text()), FOLDER)


def counts_in(page: str) -> dict[str, dict[str, tuple[float, float]]]:
    """By target: of "int8" and "float32", the least and most instructions a MAC of its models."""
    counts = {}
    for section in page.split("\n## ")[1:]:
        target = re.search(r"\(`([\w-]+)`\)\n", section)
        kinds = {"int8": [], "float32": []}
        for model, figure in re.findall(r"^\| (\w+) \| [\d,]+ \| ([\d.]+) \|", section, re.M):
            kinds["int8" if is_integer(model) else "float32"].append(float(figure))
        if target and all(kinds.values()):
            counts[target[1]] = {kind: (min(v), max(v)) for kind, v in kinds.items()}
    return counts


def is_integer(model: str) -> bool:
    """Whether a model of this name computes with integers."""
    return bool(_INTEGERS.search(model))


def cycles(board: Board, counts: dict) -> dict[str, list[float]]:
    """A board's cycles a MAC, of "int8" and of "float32"."""
    least, most = board.cycles_per_instruction
    of = counts[board.counted_on]
    return {k: [round(a * least, 1), round(b * most, 1)] for k, (a, b) in of.items()}


def write(counts: dict, folder: Path) -> None:
    """Brings the line in each board's file up to date; what was not counted stays as it is."""
    for board in load_boards(folder):
        if board.counted_on in counts:
            found = cycles(board, counts)
            pairs = ", ".join(f"{kind} = {found[kind]}" for kind in ("int8", "float32"))
            path = folder / f"{board.name}.toml"
            path.write_text(_LINE.sub(f"cycles_per_mac = {{ {pairs} }}", path.read_text()))


if __name__ == "__main__":
    main()
