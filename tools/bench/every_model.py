"""python -m tools.bench.every_model [MODEL ...] [--target T]: all models of the collection.

Counts the instructions of a run of each model, converted for the shapes of its first sample,
estimates its cycles, and says which models take more than they should (see `limits`). A model that
fails is named, and the others go on. With --resume FILE a second call takes from the file what the
first one counted. With --write-docs it makes docs/collection.md: a table for each kind of model,
those that take most for a multiply-accumulate first.
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
from tools.converter.convert import Converted, Options, convert
from tools.converter.ir import Step, walk
from tools.converter.report import python_floats
from tools.converter.report.costs import work_of
from tools.deploy.errors import DeployError
from tools.errors import ConvertError, text_of
from tools.micropython import TargetError
from tools.program.call import CannotRecord

from . import limits
from .measure import collection, count, cycles
from .nodes_visited import nodes_visited
from .timing.cores import CORES

TARGETS = ("mps2-an385-v6m", "mps2-an385", "mps2-an386")
_DOCS = Path(__file__).parents[2] / "docs"
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
    """What was counted of a model.

    elements: those that its steps compute, or MACs where they are more, and tree nodes visited;
    steps: as often as they run; way: "program" or "kernels"; counts, cycles, loops (of the
    instructions, those in loops), garbage: by target; why: what failed.
    """

    name: str
    kind: str
    macs: int = 0
    steps: int = 0
    elements: int = 0
    python: float = 0.0
    way: str = "program"
    counts: dict[str, int] = field(default_factory=dict)
    cycles: dict[str, int] = field(default_factory=dict)
    loops: dict[str, int] = field(default_factory=dict)
    garbage: dict[str, int] = field(default_factory=dict)
    why: str = ""

    def each(self, target: str) -> float:
        """Instructions a MAC."""
        return self.counts.get(target, 0) / max(self.macs, 1)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 all counted, 1 some could not be, 2 usage."""
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
        said = [f"{row.macs:,} MACs", *(f"{t} {n:,}" for t, n in row.counts.items()), row.why]
        print(f"{name}: {', '.join(filter(None, said))}", flush=True)
    for line in limits.broken(rows, targets):
        print(f"over the limit: {line}")
    print(f"{len(rows)} models in {time.monotonic() - began:,.0f} s")
    if args.write_docs:
        command = "python -m tools.bench.every_model --write-docs"
        (_DOCS / "collection.md").write_text(page(rows, targets, command))
    return int(any(row.why for row in rows))


def _resumed(path, targets):
    """Rows by name of a file that an earlier call wrote, if they have all these targets."""
    if not path or not path.is_file():
        return {}
    rows = [Row(**json.loads(line)) for line in path.read_text().splitlines()]
    return {row.name: row for row in rows if set(targets) <= set(row.counts)}


def measured(name: str, targets: Sequence[str]) -> Row:
    """The model of this name on each target. Raises nothing: the row says what failed."""
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
    """As it is deployed: as a program, if it can be one."""
    found = kernels = cycles(converted, target)
    try:
        found = cycles(converted, target, program=True)
    except CannotRecord:
        row.way = "kernels"
    within = kernels.estimate.loaded  # without what loops in Python do that call others
    if row.macs < limits.MANY_MACS:
        within = count(converted, target).in_loops or within
    row.counts[target], row.loops[target] = found.estimate.instructions, within
    row.cycles[target] = round(found.estimate.cycles)
    row.garbage[target] = found.heap_growth_bytes


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
    """Each step, and how often it may run."""
    for step in steps:
        yield step, times
        for body in step.bodies:
            yield from _repeated(body, times * step.trips)


def _elements(step):
    work = work_of(step)
    return 0 if step.bodies else max(work.macs, work.inputs, work.outputs)


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


def kind_of(converted: Converted, model: onnx.ModelProto) -> str:
    """The heading of its table: by its operators, or what most of its products are made of."""
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
    """Whether a product of two tensors, neither of them constant, is there."""
    constant = {t.name for t in model.graph.initializer}
    for node in model.graph.node:
        if constant.issuperset(name for name in node.input if name):
            constant |= set(node.output)
        elif node.op_type == "MatMul" and not constant & set(node.input):
            return True
    return False


def page(rows: Sequence[Row], targets: Sequence[str], command: str) -> str:
    """The text of docs/collection.md."""
    shown = ", ".join(f"{CORES[t].name} (`{t}`)" for t in targets)
    parts = [_HEAD.format(command=command, targets=shown)]
    for kind in sorted({row.kind for row in rows}):
        of_kind = sorted(
            (row for row in rows if row.kind == kind), key=lambda r: -r.each(targets[0])
        )
        parts.append(f"## {kind}\n\n{_table(of_kind, targets)}")
    found = "\n".join(f"* {line}" for line in limits.broken(rows, targets))
    return "\n".join([*parts, limits.TEXT, f"{found or 'None.'}\n"])


def _table(rows, targets):
    heads = ["model", "as", "MACs", "steps"]
    for target in targets:
        core = CORES[target].name
        heads += [f"{core}: instructions", "cycles", "instructions a MAC", "cycles a MAC"]
    heads += ["Python", "garbage, bytes"]
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 2)]
    for row in rows:
        cells = [row.name, row.way, f"{row.macs:,}" if row.macs else "–", f"{row.steps:,}"]
        for target in targets:
            cells += _cells(row, target)
        cells.append(f"{row.python:.0%}" if row.python else "0")
        cells.append(f"{max(row.garbage.values(), default=0):,}")
        lines.append("| " + " | ".join(cells) + " |")
    failed = [f"* {row.name}: {row.why}" for row in rows if row.why]
    return "\n".join([*lines, *(["", *failed] if failed else [])]) + "\n"


def _cells(row, target):
    """Instructions and cycles, of a run and of a MAC."""
    found = [counts.get(target) for counts in (row.counts, row.cycles)]
    whole = [f"{n:,}" if n else "–" for n in found]
    return whole + [f"{n / row.macs:,.2f}" if n and row.macs else "–" for n in found]


def _arguments(argv):
    found = arguments.parser_for("bench.every_model", description=__doc__.split("\n")[0])
    found.add_argument("models", nargs="*", metavar="MODEL", help="names; default: all")
    found.add_argument("--target", action="append", metavar="T", help=", ".join(CORES))
    found.add_argument("--write-docs", action="store_true", help="make docs/collection.md of it")
    found.add_argument("--resume", type=Path, metavar="FILE", help="counts of an earlier call")
    asked = found.parse_args(argv)
    if not collection().is_dir():
        found.error("MPCONNXR_ZOO has no models")
    unknown = set(asked.target or ()) - set(CORES)
    if unknown:
        found.error(f"no target {min(unknown)}: there are {', '.join(CORES)}")
    return asked


if __name__ == "__main__":
    sys.exit(main())
