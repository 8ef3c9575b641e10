"""python -m tools.bench [MODEL.onnx ...] [--target T] [--form viper|asm|plain] [--json FILE]"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tools.converter.__main__ import add_options, options_from
from tools.converter.convert import convert
from tools.converter.errors import ConvertError
from tools.micropython import TargetError, get_target, target_names

from .measure import count

# Forms of loops by what --form says, the best one first.
FORMS = {
    "": (),
    "asm": ("armv7em", "armv7m", "thumb"),
    "viper": ("viper",),
    "plain": ("plain",),
}
TARGETS = tuple(name for name in target_names() if name != "unix-plain")


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
            print(f"bench: {path}: {e}", file=sys.stderr)
            status = 1
            continue
        for target in args.target or ["mps2-an385"]:
            try:
                rows.append(_row(path, converted, target, args.form))
            except TargetError as e:
                print(f"bench: {path} on {target}: {e}", file=sys.stderr)
                status = 1
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    _print(rows)
    return status


def _arguments(argv):
    parser = argparse.ArgumentParser("python -m tools.bench", description=__doc__)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.onnx")
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--form", choices=[form for form in FORMS if form], default="")
    parser.add_argument("--json", type=Path, metavar="FILE", help="rows, one a model and target")
    add_options(parser)
    return parser.parse_args(argv)


def _row(path, converted, target, form):
    found = count(converted, target, FORMS[form])
    report = converted.report()
    return {
        "model": str(path),
        "target": target,
        "form": form or "best",
        "macs": report["macs"],
        "instructions": found.instructions,
        "arena_bytes": report["arena_bytes"],
        "heap_bytes_after_load": found.heap_bytes_after_load,
        "heap_growth_bytes": found.heap_growth_bytes,
    }


def _print(rows):
    table = Table(box=None, pad_edge=False)
    for title in ("model", "target", "form", "MACs", "instructions", "a MAC", "arena", "growth"):
        table.add_column(title, justify="left" if title in ("model", "target", "form") else "right")
    for row in rows:
        each = row["instructions"] / row["macs"] if row["macs"] else 0.0
        table.add_row(
            "/".join(Path(row["model"]).parts[-2:]),
            row["target"],
            row["form"],
            f"{row['macs']:,}",
            f"{row['instructions']:,}",
            f"{each:.2f}",
            f"{row['arena_bytes']:,}",
            f"{row['heap_growth_bytes']:,}",
        )
    Console(soft_wrap=True).print(table)


if __name__ == "__main__":
    sys.exit(main())
