"""python -m tools.bench [MODEL.onnx ...] [--target T[:FORM]] [--form FORM] [--json]"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools import arguments
from tools.converter.__main__ import add_options, options_from
from tools.converter.convert import convert
from tools.errors import ConvertError, text_of
from tools.machine import ASSEMBLER
from tools.micropython import GUARD_TARGETS, TargetError, target_names

from . import c_build, c_cmsis, c_code, cycles, page, paired, two_cores
from .measure import collection, count
from .measure import cycles as measured_cycles
from .timing.cores import CORES

# Forms of loops by what --form says, the best one first.
FORMS = {
    "": (),
    "asm": ASSEMBLER,
    "viper": ("viper",),
    "plain": ("plain",),
}
# Of the model collection, measured where no others are given.
MODELS = (
    "mnist_8",
    "mnist_8_ort_qop_u8u8",
    "mlperf_ad_fc_ae_int8",
    "tinymaix_cifar10_int8",
    "cifar10net_qdq_s8",
    "mlperf_kws_dscnn_int8",
    "mlperf_vww_mobilenet_int8",
    "mcunet_vww_int8",
)
_CHECKED = "mps2-an386"  # where we run what CMSIS-NN is compared with: all have the same bits
_OF_PACKAGE = "folder of mpconnxr, such as the .mpy of tools.dist (default: the source)"
_NARROWEST = 150  # columns of the table, also where it goes to a file
_DOCS = Path(__file__).parents[2] / "docs"
_OTHERS = ("unix-plain", "cpython", "webassembly", *GUARD_TARGETS)
TARGETS = tuple(name for name in target_names() if name not in _OTHERS)


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 measured, 1 something could not be, 2 usage."""
    args = _arguments(argv)
    rows, status = [], 0
    for path in args.models:
        try:
            options = options_from(args)
            options.strip = True
            converted = convert(path, options)
        except (ConvertError, OSError) as e:
            text = text_of(e)
            text = text if str(path) in text else f"{path}: {text}"
            print(f"bench: {text}", file=sys.stderr)
            status = 1
            continue
        for target in args.target or ["mps2-an385-v6m" if args.cores == 2 else "mps2-an385"]:
            target, _, form = target.partition(":")
            try:
                if args.cores == 2:
                    rows.append(_row_of_two(path, converted, target))
                    continue
                row = _row(path, converted, target, form or args.form, args.package)
                if not args.no_c:
                    row |= _c_row(path, converted, row) | _cmsis_row(path, converted, row, args)
                rows.append(row)
            except TargetError as e:
                print(f"bench: {path} on {target}: {e}", file=sys.stderr)
                status = 1
    if args.cores == 2 and rows and not args.json:
        _print_two(rows)
    elif args.write_docs and not status:
        page.write(rows, _DOCS, "make bench")
        cycles.main()
    if args.json:
        print(json.dumps(rows, indent=1))
    elif rows and args.cores == 1:
        _print(rows)
    return status


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = arguments.parser_for(
        "bench", description="Count a model's instructions on targets, next to C."
    )
    found.add_argument("models", nargs="*", type=Path, metavar="MODEL.onnx")
    found.add_argument("--target", action="append", type=_target, metavar="T[:FORM]")
    found.add_argument("--form", choices=[form for form in FORMS if form], default="")
    found.add_argument(
        "--cores",
        type=int,
        choices=(1, 2),
        default=1,
        help="2: of programs, the longest way through a run on two cores",
    )
    found.add_argument("--package", type=Path, help=_OF_PACKAGE)
    found.add_argument("--json", action="store_true", help="print an array of rows instead")
    found.add_argument("--write-docs", action="store_true", help="make docs/benchmarks.md of it")
    found.add_argument("--no-c", action="store_true", help="leave out the C next to it")
    add_options(found)
    return found


def _arguments(argv):
    args = (asked := parser()).parse_args(argv)
    args.models = args.models or [
        p for name in MODELS if (p := collection() / name / "model.onnx").is_file()
    ]
    if not args.models:
        asked.error("no model is given, and MPCONNXR_ZOO has none")
    if not args.no_c and not c_build.SOURCES.is_dir():
        asked.error("the C next to it is in a clone: --no-c leaves it out")
    if args.write_docs and not _DOCS.is_dir():
        asked.error("--write-docs: only works in a clone")
    return args


def _target(text):
    name, _, form = text.partition(":")
    if name not in TARGETS or form not in FORMS:
        known = f"{', '.join(TARGETS)}, with :viper, :asm or :plain if need be"
        raise argparse.ArgumentTypeError(f"no target {text}: there are {known}")
    return text


def _row(path, converted, target, form, package):
    found = count(converted, target, FORMS[form], package)
    report = converted.report()
    cycles = {}
    if target in CORES:
        found_cycles = measured_cycles(converted, target, FORMS[form], package).estimate
        cycles = {"cycles": round(found_cycles.cycles), "fetched": round(found_cycles.fetched)}
    return cycles | {
        "model": str(path),
        "target": target,
        "form": form or "best",
        "macs": report["macs"],
        "instructions": found.instructions,
        "in_loops_instructions": found.in_loops,
        "load_instructions": found.load,
        "arena_bytes": report["arena_bytes"],
        "heap_bytes_after_load": found.heap_bytes_after_load,
        "heap_growth_bytes": found.heap_growth_bytes,
        "kernels": _kernels(converted.graph.steps, found.steps),
    }


def _row_of_two(path, converted, target):
    found = two_cores.count(converted, target)
    return {
        "model": str(path),
        "target": target,
        "one_core_instructions": found.one,
        "critical_instructions": found.critical,
        "alone_instructions": found.alone,
        "hand_over_instructions": found.hand_over,
        "share": round(found.critical / found.one, 4),
        "more_arena_bytes": found.more_nbytes,
        "parts": found.parts,
    }


def _kernels(steps, counts):
    """{kernel: instructions and nominal MACs of its steps}; none where steps were not counted."""
    found = {}
    for step, instructions in zip(steps, counts, strict=bool(counts)):
        sums = found.setdefault(step.kernel, {"instructions": 0, "macs": 0})
        sums["instructions"] += instructions
        sums["macs"] += step.total_macs
    return found


def _c_row(path, converted, row):
    """What the C takes; None where an operator has no C, or the core no compiler here."""
    names = ("c_o2", "c_o3", "c_same_o3")
    target = row["target"]
    try:
        text = c_code.generate(path).text
        same = c_code.generate(path, same=c_build.same_products(target)).text
    except ConvertError as e:
        print(f"bench: no C for {path}: {e}", file=sys.stderr)
        return dict.fromkeys(f"{name}_instructions" for name in names)
    if target not in c_build.TARGETS:
        return dict.fromkeys(f"{name}_instructions" for name in names)
    runs = ((text, "-O2"), (text, "-O3"), (same, "-O3"))
    counts = [c_build.count(source, target, level) for source, level in runs]
    found = _named(zip(names, counts, strict=True))
    if target == "unix" and row["form"] == "best":
        taken = paired.measure(converted, text)
        found |= {"time_ns": taken.ours, "c_o3_time_ns": taken.c, "c_o3_time_ratio": taken.ratio}
    return found


def _named(counts):
    """Instructions and cycles of counts, by name."""
    found = {}
    for name, counted in counts:
        found[f"{name}_instructions"] = counted.instructions
        if counted.cycles is not None:
            found[f"{name}_cycles"] = round(counted.cycles)
    return found


def _cmsis_row(path, converted, row, args):
    """What CMSIS-NN takes, and how many steps of its output lie between it and ours."""
    target = row["target"]
    if target not in c_build.TARGETS or target == "unix" or c_cmsis.folder() is None:
        return {}
    try:
        source = c_cmsis.generate(path)
    except ConvertError as e:
        print(f"bench: {path} by CMSIS-NN: {e}", file=sys.stderr)
        return {"cmsis_why": str(e)}
    compiler, counts = c_build.compiler_of(target), {}
    for level in ("-O2", "-O3"):
        library = c_cmsis.library(target, compiler, level)
        counts[f"cmsis_{level[1:].lower()}"] = c_build.count(source.text, target, level, library)
    ours = measured_cycles(converted, _CHECKED, (), args.package, source.sample).output
    off = max(source.steps_off(count.output, ours) for count in counts.values())
    return _named(counts.items()) | {"cmsis_steps_off": off}


def _print_two(rows):
    titles = ("model", "target", "one core", "two cores", "share", "first alone", "hand over")
    table = _table((*titles, "more arena"), 2)
    for row in rows:
        names = ("one_core", "critical", "alone", "hand_over")
        one, critical, alone, hand_over = (f"{row[name + '_instructions']:,}" for name in names)
        table.add_row(
            "/".join(Path(row["model"]).parts[-2:]),
            row["target"],
            *(one, critical, f"{row['share']:.3f}", alone, hand_over),
            f"{row['more_arena_bytes']:,}",
        )
    _show(table)


def _print(rows):
    texts = ("model", "target", "form")
    numbers = ("MACs", "instructions", "a MAC", "C -O3", "same in C", "CMSIS-NN", "cycles", "its")
    table = _table((*texts, *numbers, "no loops", "time/C", "arena", "growth"), len(texts))
    for row in rows:
        counts = ("instructions", "c_o3_instructions", "c_same_o3_instructions")
        counts += ("cmsis_o3_instructions", "cycles", "cmsis_o3_cycles")
        table.add_row(
            "/".join(Path(row["model"]).parts[-2:]),
            row["target"],
            row["form"],
            f"{row['macs']:,}",
            f"{row['instructions']:,}",
            *(page.each(row, name) for name in counts),
            page.outside(row),
            page.time_ratio(row),
            f"{row['arena_bytes']:,}",
            f"{row['heap_growth_bytes']:,}",
        )
    _show(table)


def _table(titles, n_texts):
    table = Table(box=None, pad_edge=False)
    for i, title in enumerate(titles):
        table.add_column(title, justify="left" if i < n_texts else "right")
    return table


def _show(table):
    console = Console()
    console.width = max(console.width, _NARROWEST)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
