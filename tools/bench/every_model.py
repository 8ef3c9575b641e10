"""python -m tools.bench.every_model [MODEL ...] [--target T]: all models of the collection.

Counts the instructions of a run of each model, converted for the shapes of its first sample, and
what a run allocates. With --write-docs it makes docs/collection.md: a table for each kind of
arithmetic, the models that take most for a multiply-accumulate first.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from tools import arguments
from tools.converter.convert import Converted, Options, convert
from tools.converter.ir import walk
from tools.converter.report import python_floats
from tools.deploy.boards import load_boards
from tools.errors import ConvertError, text_of
from tools.micropython import TargetError

from .measure import collection, count

TARGETS = ("mps2-an385-v6m", "mps2-an385", "mps2-an386")
_DOCS = Path(__file__).parents[2] / "docs"
_CYCLES = {"mps2-an385-v6m": "pico", "mps2-an386": "pico2"}  # boards whose cycles are estimated
_TITLES = {
    "mps2-an385-v6m": "ARMv6-M",
    "mps2-an385": "Cortex-M3",
    "mps2-an386": "Cortex-M4F",
}
_HEAD = """# The collection

Written by `{command}`; do not edit.

Instructions of one steady-state `run()` of each model of the collection, counted in QEMU on
{targets}, and for each nominal multiply-accumulate (MAC; padding included, bodies of loops as
often as they may run). *Cycles* are estimated: the instructions times the cycles an instruction of
[the board](boards.md). *Python* is the share of the run's estimated work that Python's floats do.
*Garbage* is what one run allocates.

Models with few MACs spend their run between the loops: for them the instructions of a whole run
say more.
"""


@dataclass
class Row:
    """counts: instructions by target, 0 where it could not be counted, with the reason in why."""

    name: str
    kind: str
    macs: int
    steps: int
    python: float
    counts: dict[str, int]
    garbage: dict[str, int]
    why: str = ""

    def each(self, target: str) -> float:
        """Instructions a MAC."""
        return self.counts.get(target, 0) / max(self.macs, 1)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 all counted, 1 some could not be, 2 usage."""
    args = _arguments(argv)
    names = args.models or sorted(p.parent.name for p in collection().glob("*/model.onnx"))
    targets = args.target or list(TARGETS)
    rows = []
    for name in names:
        rows.append(row := measured(name, targets))
        counts = ", ".join(f"{t} {n:,}" for t, n in row.counts.items())
        print(f"{name}: {row.macs:,} MACs; {counts}{row.why and '; ' + row.why}", flush=True)
    if args.write_docs:
        command = "python -m tools.bench.every_model --write-docs"
        (_DOCS / "collection.md").write_text(page(rows, targets, command))
    return int(any(row.why for row in rows))


def measured(name: str, targets: Sequence[str]) -> Row:
    """The model of this name on each target."""
    try:
        converted = convert(collection() / name / "model.onnx", options_for(name))
    except ConvertError as e:
        return Row(name, "Not converted", 0, 0, 0.0, {}, {}, text_of(e))
    row = Row(
        name,
        kind_of(converted),
        sum(step.total_macs for step in converted.graph.steps),
        len(list(walk(converted.graph.steps))),
        python_floats.of(converted).share,
        {},
        {},
    )
    for target in targets:
        try:
            found = count(converted, target)
        except TargetError as e:
            row.why = f"{target}: {text_of(e).splitlines()[-1]}"
            continue
        row.counts[target], row.garbage[target] = found.instructions, found.heap_growth_bytes or 0
    return row


def options_for(name: str) -> Options:
    """Those with the shapes of the model's first sample."""
    folder = collection() / name
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    constant = {t.name for t in model.graph.initializer}
    inputs = [i.name for i in model.graph.input if i.name not in constant]
    shapes = {}
    for i, input_name in enumerate(inputs):
        file = folder / (f"input_0_{i}.npy" if i else "input_0.npy")
        if file.exists():
            shapes[input_name] = np.load(file, mmap_mode="r").shape
    return Options(shapes=shapes, strip=True)


def kind_of(converted: Converted) -> str:
    """What most of its products are computed with."""
    work = {"Integers": 0, "Floats": 0}
    for step in walk(converted.graph.steps):
        if step.macs:
            work["Floats" if step.outputs[0].np_dtype.kind == "f" else "Integers"] += step.macs
    return max(work, key=lambda kind: work[kind]) if any(work.values()) else "Without products"


def page(rows: Sequence[Row], targets: Sequence[str], command: str) -> str:
    """The text of docs/collection.md."""
    boards = {b.name: b for b in load_boards()}
    cycles = {t: boards[b].cycles_per_instruction for t, b in _CYCLES.items() if t in targets}
    shown = ", ".join(f"{_TITLES.get(t, t)} (`{t}`)" for t in targets)
    parts = [_HEAD.format(command=command, targets=shown)]
    for kind in sorted({row.kind for row in rows}):
        of_kind = sorted(
            (row for row in rows if row.kind == kind), key=lambda r: -r.each(targets[0])
        )
        parts.append(f"## {kind}\n\n{_table(of_kind, targets, cycles)}")
    return "\n".join(parts)


def _table(rows, targets, cycles):
    heads = ["model", "MACs", "steps"]
    for target in targets:
        heads.append(f"{_TITLES.get(target, target)}, a run")
        heads.append("a MAC")
        if target in cycles:
            heads.append(f"cycles a MAC, {_CYCLES[target]}")
    heads += ["Python", "garbage, bytes"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    for row in rows:
        cells = [row.name, f"{row.macs:,}" if row.macs else "–", f"{row.steps}"]
        for target in targets:
            n = row.counts.get(target, 0)
            cells.append(f"{n:,}" if n else row.why or "–")
            each = row.each(target)
            cells.append(f"{each:,.2f}" if n and row.macs else "–")
            if target in cycles:
                low, high = (each * v for v in cycles[target])
                cells.append(f"{low:,.1f} to {high:,.1f}" if n and row.macs else "–")
        cells.append(f"{row.python:.0%}" if row.python else "0")
        cells.append(f"{max(row.garbage.values(), default=0):,}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _arguments(argv):
    found = arguments.parser_for("bench.every_model", description=__doc__.split("\n")[0])
    found.add_argument("models", nargs="*", metavar="MODEL", help="names; default: all")
    found.add_argument("--target", action="append", metavar="T", help=", ".join(TARGETS))
    found.add_argument("--write-docs", action="store_true", help="make docs/collection.md of it")
    asked = found.parse_args(argv)
    if not collection().is_dir():
        found.error("MPCONNXR_ZOO has no models")
    return asked


if __name__ == "__main__":
    sys.exit(main())
