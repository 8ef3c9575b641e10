"""mpconnxr new MODEL.bin [--to main.py]: write a program for a board that runs this model."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools import arguments, foreign
from tools.errors import ConvertError, DeployError, text_of
from tools.limits import overwritten


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    cli = arguments.parser_for(
        "cli new",
        description="Write a main.py with a model's inputs, labels and a sensor stub.",
        example="mpconnxr new model.bin --to main.py",
        page="deploy",
    )
    cli.add_argument("model", type=Path, help="model.bin")
    cli.add_argument(
        "--to", type=Path, default=Path("main.py"), metavar="FILE", help="file to write (main.py)"
    )
    cli.add_argument("--force", action="store_true", help="replace the file if it exists")
    cli.add_argument("--json", action="store_true", help="print one JSON object")
    return cli


def main(argv: list[str] | None = None) -> int:
    """Write the program. Exit status: 0 written, 1 refused, 2 wrong usage."""
    args = parser().parse_args(argv)
    try:
        nbytes = _write(args)
    except (ConvertError, DeployError, OSError) as e:
        print(f"new: {text_of(e)}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps({"file": str(args.to), "bytes": nbytes}))
    else:
        print(f"saved    {args.to}, which runs {args.model.name}: edit its function `read`")
        print(f"next     mpconnxr flash {args.model}, then mpremote cp {args.to} :main.py")
    return 0


def _write(args):
    """Write the program, and return its size."""
    from tools import starter

    data = args.model.read_bytes()
    foreign.check_bin(args.model, data)
    if problem := overwritten([args.to], [args.model]):
        raise DeployError(problem)
    if args.to.exists() and not args.force:
        raise DeployError(f"{args.to} exists: give --to another name, or --force to replace it")
    return args.to.write_text(starter.starter_of(data, args.model.name).script(), "utf-8")
