"""The command `mpconnxr bench`: python -m tools.bench [MODEL.onnx ...] [--target T[:FORM]]."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools import arguments
from tools.converter.__main__ import add_options, options_from
from tools.errors import ConvertError, text_of
from tools.machine import ASSEMBLER
from tools.made import ROOT
from tools.micropython import GUARD_TARGETS, TargetError, target_names

# Preferred forms of loops by the value of --form.
FORMS = {
    "": (),
    "asm": ASSEMBLER,
    "viper": ("viper",),
    "plain": ("plain",),
}
# Models of the collection that are measured by default.
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
_PACKAGE_HELP = "folder of mpconnxr, such as the .mpy of tools.dist (default: the source)"
_NARROWEST = 150  # columns of the table, also where it goes to a file
_C_SOURCES = ROOT / "benchmarks" / "c"
_DOCS = ROOT / "docs"
_OTHERS = ("unix-plain", "cpython", "webassembly", *GUARD_TARGETS)
TARGETS = tuple(name for name in target_names() if name not in _OTHERS)


def main(argv: list[str] | None = None) -> int:
    """Run the command. Exit status: 0 all measured, 1 some models failed, 2 usage."""
    args = _arguments(argv)
    from tools.converter.convert import convert

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
                    from benchmarks import c

                    row |= c.c_figures(path, converted, row)
                    row |= c.cmsis_figures(path, converted, row, args.package)
                rows.append(row)
            except TargetError as e:
                print(f"bench: {path} on {target}: {e}", file=sys.stderr)
                status = 1
    if args.cores == 2 and rows and not args.json:
        _print_two(rows)
    elif args.write_docs and not status:
        from benchmarks import cycles as board_cycles
        from benchmarks import page

        page.write(rows, _DOCS, "make bench")
        board_cycles.main()
    if args.json:
        print(json.dumps(rows, indent=1))
    elif rows and args.cores == 1:
        _print(rows)
    return status


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = arguments.parser_for(
        "bench",
        description="Count a model's instructions on targets, next to C.",
        example="mpconnxr bench model.onnx --target mps2-an385 --no-c",
        page="benchmarks",
    )
    result.add_argument("models", nargs="*", type=Path, metavar="MODEL.onnx")
    result.add_argument("--target", action="append", type=_target, metavar="T[:FORM]")
    result.add_argument("--form", choices=[form for form in FORMS if form], default="")
    result.add_argument(
        "--cores",
        type=int,
        choices=(1, 2),
        default=1,
        help="2: count the critical path of a program on two cores",
    )
    result.add_argument("--package", type=Path, help=_PACKAGE_HELP)
    result.add_argument("--json", action="store_true", help="print an array of rows instead")
    result.add_argument("--write-docs", action="store_true", help="write docs/benchmarks.md")
    result.add_argument("--no-c", action="store_true", help="do not compile and count C")
    add_options(result)
    return result


def _arguments(argv):
    command_line = parser()
    args = command_line.parse_args(argv)
    from .measure import collection

    args.models = args.models or [
        p for name in MODELS if (p := collection() / name / "model.onnx").is_file()
    ]
    if not args.models:
        command_line.error("name a model, or set MPCONNXR_ZOO to the model collection")
    if not args.no_c and not _C_SOURCES.is_dir():
        command_line.error("only a clone has the sources to count C: add --no-c")
    if args.write_docs and not _DOCS.is_dir():
        command_line.error("--write-docs only works in a clone")
    return args


def _target(text):
    name, _, form = text.partition(":")
    if name not in TARGETS or form not in FORMS:
        known = f"{', '.join(TARGETS)}, each also with :viper, :asm or :plain"
        raise argparse.ArgumentTypeError(f"no target {text}: there are {known}")
    return text


def _row(path, converted, target, form, package):
    from .measure import count, cycles
    from .timing.cores import CORES

    counted = count(converted, target, FORMS[form], package)
    report = converted.report()
    estimated = {}
    if target in CORES:
        estimate = cycles(converted, target, FORMS[form], package).estimate
        estimated = {"cycles": round(estimate.cycles), "fetched": round(estimate.fetched)}
    return estimated | {
        "model": str(path),
        "target": target,
        "form": form or "best",
        "macs": report["macs"],
        "instructions": counted.instructions,
        "in_loops_instructions": counted.in_loops,
        "load_instructions": counted.load,
        "arena_bytes": report["arena_bytes"],
        "heap_bytes_after_load": counted.heap_bytes_after_load,
        "heap_growth_bytes": counted.heap_growth_bytes,
        "kernels": _kernels(converted.graph.steps, counted.steps),
    }


def _row_of_two(path, converted, target):
    from . import two_cores

    counted = two_cores.count(converted, target)
    return {
        "model": str(path),
        "target": target,
        "one_core_instructions": counted.one,
        "critical_instructions": counted.critical,
        "alone_instructions": counted.alone,
        "hand_over_instructions": counted.hand_over,
        "share": round(counted.critical / counted.one, 4),
        "more_arena_bytes": counted.more_nbytes,
        "parts": counted.parts,
    }


def _kernels(steps, counts):
    """Return {kernel: instructions and nominal MACs of its steps}; empty without counts."""
    totals = {}
    for step, instructions in zip(steps, counts, strict=bool(counts)):
        sums = totals.setdefault(step.kernel, {"instructions": 0, "macs": 0})
        sums["instructions"] += instructions
        sums["macs"] += step.total_macs
    return totals


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
    from .rows import per_mac, share_outside_loops, time_ratio

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
            *(per_mac(row, name) for name in counts),
            share_outside_loops(row),
            time_ratio(row),
            f"{row['arena_bytes']:,}",
            f"{row['heap_growth_bytes']:,}",
        )
    _show(table)


def _table(titles, n_texts):
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for i, title in enumerate(titles):
        table.add_column(title, justify="left" if i < n_texts else "right")
    return table


def _show(table):
    from rich.console import Console

    console = Console()
    console.width = max(console.width, _NARROWEST)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
