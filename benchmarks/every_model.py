"""python -m benchmarks.every_model [MODEL ...] [--target T]: count all models of the collection.

Each model is converted for the shapes of its first sample and run once. The command prints its
instructions, estimates its cycles, and lists models that exceed the limits of `limits`. A model
that fails does not stop the others. --resume FILE keeps the counts of an interrupted call.
--write-docs writes docs/collection.md, a table for each kind of model, worst models first.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import onnx

from tools import arguments
from tools.bench.measure import collection, count, cycles
from tools.bench.timing.cores import CORES
from tools.converter.convert import Converted, Options, convert
from tools.converter.ir import Step, walk
from tools.converter.report import python_floats
from tools.converter.report.costs import work_of
from tools.deploy.errors import DeployError
from tools.errors import ConvertError, text_of
from tools.micropython import TargetError
from tools.program.call import CannotRecord

from . import limits
from .nodes_visited import nodes_visited

TARGETS = ("mps2-an385-v6m", "mps2-an385", "mps2-an386")
_DOCS = Path(__file__).parents[1] / "docs"
_RECURRENT = {"LSTM", "GRU", "RNN", "Scan", "Loop", "DynamicQuantizeLSTM"}
_HEAD = """# The collection

Written by `{command}`; do not edit.

One steady-state `run()` of each model of the collection in QEMU, as it is deployed: as a
[program](programs.md), or with its kernels if it can be none. Instructions are counted exactly,
cycles [estimated](benchmarks.md#estimated-cycles), with the loops in SRAM. Both are also given for
each nominal multiply-accumulate (MAC; padding included, bodies of loops as often as they may run).
*Python* is the share of the run's estimated work that Python's floats do. *Garbage* is what one
run allocates. Targets: {targets}.

Models with few MACs spend their run between the loops: for them the figures of a whole run say
more.
"""


@dataclass
class Row:
    """Counts of one model.

    Attributes:
        kind: heading of its table.
        steps: steps of a run, each as often as it runs.
        elements: elements that the steps compute, or their MACs if more, plus tree nodes visited.
        python: share of the estimated work that is done in Python's floats.
        deployed_as: "program" or "kernels".
        counts: instructions by target.
        cycles: estimated cycles by target.
        loops: instructions inside loops by target.
        garbage: bytes that a run allocates, by target.
        why: error message, if the model failed.
    """

    name: str
    kind: str
    macs: int = 0
    steps: int = 0
    elements: int = 0
    python: float = 0.0
    deployed_as: str = "program"
    counts: dict[str, int] = field(default_factory=dict)
    cycles: dict[str, int] = field(default_factory=dict)
    loops: dict[str, int] = field(default_factory=dict)
    garbage: dict[str, int] = field(default_factory=dict)
    why: str = ""

    def each(self, target: str) -> float:
        """Return the instructions per MAC."""
        return self.counts.get(target, 0) / max(self.macs, 1)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Exit status: 0 all counted, 1 some models failed, 2 usage."""
    args, began = _arguments(argv), time.monotonic()
    names = args.models or sorted(p.parent.name for p in collection().glob("*/model.onnx"))
    targets = args.target or list(TARGETS)
    known = _resumed(args.resume, targets)
    rows = []
    for name in names:
        row = known.get(name) or measured(name, targets)
        rows.append(row)
        if args.resume and name not in known and not row.why:
            with open(args.resume, "a") as file:
                file.write(json.dumps(asdict(row)) + "\n")
        texts = [f"{row.macs:,} MACs", *(f"{t} {n:,}" for t, n in row.counts.items()), row.why]
        print(f"{name}: {', '.join(filter(None, texts))}", flush=True)
    for line in limits.broken(rows, targets):
        print(f"over the limit: {line}")
    print(f"{len(rows)} models in {time.monotonic() - began:,.0f} s")
    if args.write_docs:
        command = "python -m benchmarks.every_model --write-docs"
        (_DOCS / "collection.md").write_text(page(rows, targets, command))
    return int(any(row.why for row in rows))


def _resumed(path, targets):
    """Return {name: row} for the rows of an earlier call that have all the targets."""
    if not path or not path.is_file():
        return {}
    rows = [Row(**json.loads(line)) for line in path.read_text().splitlines()]
    return {row.name: row for row in rows if set(targets) <= set(row.counts)}


def measured(name: str, targets: Sequence[str]) -> Row:
    """Count the model on each target. Never raises: the row carries the error message."""
    path = collection() / name / "model.onnx"
    try:
        model = onnx.load(path, load_external_data=False)
        converted = convert(path, options_for(name))
        row = _described(name, model, converted)
    except ConvertError as e:
        return Row(name, "Not converted", why=text_of(e))
    except Exception as e:  # one model must not end the count of all others
        return Row(name, "Not converted", why=f"{type(e).__name__}: {e}")
    for target in targets:
        try:
            _count(row, converted, target)
        except (TargetError, DeployError) as e:
            row.why = f"{target}: {(text_of(e).splitlines() or ['failed'])[-1]}"
    return row


def _count(row, converted, target):
    """Count a model's run as it is deployed: as a program or, if it cannot be one, with kernels.

    Args:
        row: gets the counts.
        converted: the converted model.
        target: the target to count on.
    """
    counted = kernels = cycles(converted, target)
    try:
        counted = cycles(converted, target, program=True)
    except CannotRecord:
        row.deployed_as = "kernels"
    within = kernels.estimate.loaded  # excludes the Python parts of loops that call others
    if row.macs < limits.MANY_MACS:
        within = count(converted, target).in_loops or within
    row.counts[target], row.loops[target] = counted.estimate.instructions, within
    row.cycles[target] = round(counted.estimate.cycles)
    row.garbage[target] = counted.heap_growth_bytes


def _described(name, model, converted):
    steps = converted.graph.steps
    elements = sum(_elements(step) * times for step, times in _repeated(steps))
    return Row(
        name,
        kind_of(converted, model),
        sum(step.total_macs for step in steps),
        sum(times for _, times in _repeated(steps)),
        round(elements + nodes_visited(model, converted)),
        python_floats.of(converted).share,
    )


def _repeated(steps: Sequence[Step], times: int = 1) -> Iterator[tuple[Step, int]]:
    """Yield (step, how often it may run), bodies included."""
    for step in steps:
        yield step, times
        for body in step.bodies:
            yield from _repeated(body, times * step.trips)


def _elements(step):
    work = work_of(step)
    return 0 if step.bodies else max(work.macs, work.inputs, work.outputs)


def options_for(name: str) -> Options:
    """Return options with the shapes of the model's first sample."""
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


def kind_of(converted: Converted, model: onnx.ModelProto) -> str:
    """Return the heading of the model's table.

    The operators decide; without a telling one, the dtype of most of its products.
    """
    nodes = [*model.graph.node]
    if any(node.op_type in _RECURRENT for node in nodes):
        return "Recurrent"
    if any(node.domain == "ai.onnx.ml" for node in nodes):
        return "Classic machine learning"
    work = {"Integers": 0, "Floats": 0}
    for step in walk(converted.graph.steps):
        if step.macs:
            work["Floats" if step.outputs[0].np_dtype.kind == "f" else "Integers"] += step.macs
    if any(node.op_type in ("Softmax", "Attention") for node in nodes) and _attends(model):
        return "Attention"
    return max(work, key=lambda kind: work[kind]) if any(work.values()) else "Without products"


def _attends(model):
    """Return True if the model multiplies two tensors that are both not constant."""
    constant = {t.name for t in model.graph.initializer}
    for node in model.graph.node:
        if constant.issuperset(name for name in node.input if name):
            constant |= set(node.output)
        elif node.op_type == "MatMul" and not constant & set(node.input):
            return True
    return False


def page(rows: Sequence[Row], targets: Sequence[str], command: str) -> str:
    """Return the text of docs/collection.md."""
    shown = ", ".join(f"{CORES[t].name} (`{t}`)" for t in targets)
    parts = [_HEAD.format(command=command, targets=shown)]
    for kind in sorted({row.kind for row in rows}):
        of_kind = sorted(
            (row for row in rows if row.kind == kind), key=lambda r: -r.each(targets[0])
        )
        parts.append(f"## {kind}\n\n{_table(of_kind, targets)}")
    over = "\n".join(f"* {line}" for line in limits.broken(rows, targets))
    return "\n".join([*parts, limits.TEXT, f"{over or 'None.'}\n"])


def _table(rows, targets):
    heads = ["model", "as", "MACs", "steps"]
    for target in targets:
        core = CORES[target].name
        heads += [f"{core}: instructions", "cycles", "instructions a MAC", "cycles a MAC"]
    heads += ["Python", "garbage, bytes"]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 2)]
    for row in rows:
        cells = [row.name, row.deployed_as, f"{row.macs:,}" if row.macs else "–", f"{row.steps:,}"]
        for target in targets:
            cells += _cells(row, target)
        cells.append(f"{row.python:.0%}" if row.python else "0")
        cells.append(f"{max(row.garbage.values(), default=0):,}")
        lines.append("| " + " | ".join(cells) + " |")
    failed = [f"* {row.name}: {row.why}" for row in rows if row.why]
    return "\n".join([*lines, *(["", *failed] if failed else [])]) + "\n"


def _cells(row, target):
    """Return instructions and cycles, per run and per MAC, as text."""
    counts = [by_target.get(target) for by_target in (row.counts, row.cycles)]
    whole = [f"{n:,}" if n else "–" for n in counts]
    return whole + [f"{n / row.macs:,.2f}" if n and row.macs else "–" for n in counts]


def _arguments(argv):
    parser = arguments.parser_for(
        "benchmarks.every_model", description="Count a run of each model of the collection."
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", help="name; default: all")
    parser.add_argument("--target", action="append", metavar="T", help=", ".join(CORES))
    parser.add_argument("--write-docs", action="store_true", help="write docs/collection.md")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="read and append counts here")
    args = parser.parse_args(argv)
    if not collection().is_dir():
        parser.error("no models: set MPCONNXR_ZOO to the folder of the collection")
    unknown = set(args.target or ()) - set(CORES)
    if unknown:
        parser.error(f"unknown target {min(unknown)}: choose from {', '.join(CORES)}")
    return args


if __name__ == "__main__":
    sys.exit(main())
