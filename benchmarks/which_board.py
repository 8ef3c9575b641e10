"""python -m benchmarks.which_board [MODEL ...] [--write-docs]: which models fit which board.

Each model of examples/ and of the collection is converted, and its heap is estimated for a board
of each size, as `mpconnxr convert --summary` does. Nothing is run. --write-docs writes
docs/fits.md: all models take about five minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import arguments
from tools.bench.measure import collection
from tools.converter.convert import Options, convert
from tools.converter.report.fits import Fit, fit_of
from tools.deploy.boards import Board, load_boards
from tools.errors import ConvertError, text_of

from .every_model import options_for

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "fits.md"
# One board for each size of heap, smallest first.
BOARDS = (
    *("pyboard", "esp32", "pyboard-d-sf2", "esp32-s3", "pico", "pico2", "teensy41"),
    "esp32-spiram",
)
_HEAD = """# Which models fit which board

Written by `python -m benchmarks.which_board --write-docs`; do not edit.

For each model, the heap that loading and a run take at most, in KB of 1,000 bytes: tensors, the
buffer for weights, and code. It is the estimate that `mpconnxr convert --summary` prints for your
model ([how good it is](boards.md#what-the-estimates-are)); no board was asked. Each model is taken
as it is: [options](advise.md) make many of them smaller.

| cell | |
|---|---|
| 36 | it fits, and takes 36 KB |
| (36) | it may fit: the estimate is within 10 % of the board's heap |
| 36* | it fits if the [weights are read in place](deploy.md#weights-in-place) |
| – | it does not fit |

Boards with about the same heap have about the same answers: [boards.md](boards.md#the-boards)
lists them, and says why an ESP8266 is not in this table.
"""


@dataclass
class Row:
    """One model's figures.

    Attributes:
        macs: multiply-accumulates of a run.
        file_bytes: of the model file.
        fits: a Fit for each board, in the order of BOARDS.
    """

    name: str
    macs: int
    file_bytes: int
    fits: list[Fit]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit status: 0 all estimated, 1 some models failed, 2 usage."""
    args = _arguments(argv)
    paths = [*example_models(), *sorted(collection().glob("*/model.onnx"))]
    chosen = [path for path in paths if not args.models or name_of(path) in args.models]
    rows, failed = {}, False
    for path in chosen:
        try:
            rows[path] = row_of(path)
            print(line_of(rows[path]), flush=True)
        except ConvertError as e:
            failed = True
            print(f"{name_of(path)}: {text_of(e)}", file=sys.stderr)
    if args.write_docs:
        PAGE.write_text(page(rows))
    return int(failed)


def example_models() -> list[Path]:
    """Return the models of examples/."""
    return sorted(ROOT.glob("examples/*/*.onnx"))


def name_of(path: Path) -> str:
    """Return the name of a model's folder, which is the model's name."""
    return path.parent.name


def row_of(path: Path) -> Row:
    """Convert a model and estimate its needs. Raises ConvertError."""
    options = options_for(name_of(path)) if path.name == "model.onnx" else Options(strip=True)
    converted = convert(path, options)
    macs = sum(step.total_macs for step in converted.graph.steps)
    fits = [fit_of(converted, board) for board in boards()]
    return Row(name_of(path), macs, len(converted.data), fits)


def boards() -> list[Board]:
    """Return the boards of the table."""
    known = {board.name: board for board in load_boards()}
    return [known[name] for name in BOARDS]


def page(rows: dict[Path, Row]) -> str:
    """Return the text of docs/fits.md."""
    examples = [row for path, row in rows.items() if path.name != "model.onnx"]
    others = [row for path, row in rows.items() if path.name == "model.onnx"]
    return "\n".join(
        [
            _HEAD,
            f"## The examples\n\n{_table(examples, '[{0}](../examples/{0}/README.md)')}",
            f"## The collection\n\n{_table(others)}",
        ]
    )


def _table(rows: Sequence[Row], name: str = "{0}") -> str:
    heads = [f"{b.name}, {b.free_heap_bytes / 1000:,.0f} KB" for b in boards()]
    lines = [f"| model | MACs | file, KB | {' | '.join(heads)} |"]
    lines.append("|---|" + "---:|" * (2 + len(heads)))
    for row in sorted(rows, key=lambda row: (row.fits[-1].needs.total, row.name)):
        lines.append(line_of(row, name))
    return "\n".join(lines) + "\n"


def line_of(row: Row, name: str = "{0}") -> str:
    """Return a row's line in the table."""
    macs = f"{row.macs:,}" if row.macs else "–"
    cells = [name.format(row.name), macs, _kilobytes(row.file_bytes), *map(_cell, row.fits)]
    return f"| {' | '.join(cells)} |"


def _cell(fit: Fit) -> str:
    if fit.verdict == "fits":
        return _kilobytes(fit.needs.total)
    if fit.verdict == "may fit":
        return f"({_kilobytes(fit.needs.total)})"
    return f"{_kilobytes(fit.in_place.total)}*" if fit.verdict == "weights in place" else "–"


def _kilobytes(nbytes):
    return f"{nbytes / 1000:,.0f}" if nbytes >= 9_500 else f"{nbytes / 1000:.1f}"


def _arguments(argv):
    parser = arguments.parser_for(
        "benchmarks.which_board", description="Estimate which models fit which board."
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", help="name; default: all")
    parser.add_argument("--write-docs", action="store_true", help=f"write docs/{PAGE.name}")
    args = parser.parse_args(argv)
    if args.write_docs and args.models:
        parser.error("--write-docs takes all models")
    if not collection().is_dir():
        parser.error("no models: set MPCONNXR_ZOO to the folder of the collection")
    return args


if __name__ == "__main__":
    sys.exit(main())
