"""python -m benchmarks.cycles: write the cycles per multiply-accumulate into boards/*.toml.

A board's file names the target that its core is counted on (`counted_on`) and its cycles per
instruction. This module multiplies the latter with the instructions in docs/benchmarks.md. `make
bench` calls it.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools.deploy.boards import FOLDER, Board, load_boards

PAGE = FOLDER.parent / "docs" / "benchmarks.md"
_INTEGERS = re.compile("int8|_qdq|_qop")  # in the names of quantized models
_LINE = re.compile(r"^cycles_per_mac = \{.*\}$", re.MULTILINE)


def main() -> None:
    """Write cycles_per_mac into boards/*.toml."""
    write(counts_in(PAGE.read_text()), FOLDER)


def counts_in(page: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Parse docs/benchmarks.md.

    Returns:
        {target: {"int8" or "float32": (least, most) instructions per MAC of its models}}
    """
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
    """Return True if the model's name says that it computes with integers."""
    return bool(_INTEGERS.search(model))


def cycles(board: Board, counts: dict) -> dict[str, list[float]]:
    """Return a board's [least, most] cycles per MAC for "int8" and "float32"."""
    least, most = board.cycles_per_instruction
    ranges = counts[board.counted_on].items()
    return {kind: [round(a * least, 1), round(b * most, 1)] for kind, (a, b) in ranges}


def write(counts: dict, folder: Path) -> None:
    """Update the cycles_per_mac line in the file of each board whose target was counted."""
    for board in load_boards(folder):
        if board.counted_on in counts:
            ranges = cycles(board, counts)
            pairs = ", ".join(f"{kind} = {ranges[kind]}" for kind in ("int8", "float32"))
            path = folder / f"{board.name}.toml"
            path.write_text(_LINE.sub(f"cycles_per_mac = {{ {pairs} }}", path.read_text()))


if __name__ == "__main__":
    main()
