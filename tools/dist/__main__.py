"""python -m tools.dist [ARCH ...] [--to FOLDER]: what `mip install` takes, as .py and as .mpy.

Writes package.json and dist/any/mpconnxr/*.py, which is the package for any board, and for each
architecture package-ARCH.json and dist/ARCH_VERSION/mpconnxr/*.mpy. Without ARCH: for all of the
boards in boards/.

python -m tools.dist --model MODEL.bin --board NAME --to FOLDER: one model with what it needs on
one board, as a program if it can be one, and a package.json that lists these files.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools import arguments
from tools.deploy import boards
from tools.deploy.errors import DeployError
from tools.deploy.model_file import read_model
from tools.errors import text_of

from .build import machines, write_model, write_whole


def parser() -> argparse.ArgumentParser:
    """Return the command's parser."""
    found = arguments.parser_for("dist", description="Make packages for mip.")
    archs = list(machines())
    found.add_argument("archs", nargs="*", metavar="ARCH", help=f"of {' '.join(archs)}")
    found.add_argument("--to", type=Path, metavar="FOLDER", help="where to write (default: here)")
    found.add_argument("--source", action="store_true", help="the package for any board alone")
    found.add_argument("--model", type=Path, metavar="MODEL.bin", help="one model, for --board")
    found.add_argument("--board", metavar="NAME", help="of flash.py --list-boards")
    found.add_argument(
        "--in-place",
        action="store_true",
        help="the model will be in addressable memory, such as a ROMFS",
    )
    found.add_argument(
        "--cores",
        type=int,
        choices=(1, 2),
        default=1,
        help="of an RP2040 or RP2350, for load(cores=2)",
    )
    found.add_argument("--json", action="store_true", help="print one JSON object")
    return found


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 written, 1 not, 2 wrong usage."""
    args = (asked := parser()).parse_args(argv)
    known = machines()
    archs = list(known)
    if args.model or args.board or args.in_place or args.cores > 1:
        return _model(asked, args)
    if unknown := set(args.archs) - set(archs):
        asked.error(f"no architecture {' '.join(sorted(unknown))}: there are {' '.join(archs)}")
    to = args.to or Path()
    try:
        to.mkdir(parents=True, exist_ok=True)
        write_whole(to)
        chosen = [] if args.source else args.archs or archs
        counts = {f"package-{arch}.json": len(write_whole(to, known[arch])) for arch in chosen}
    except (DeployError, OSError) as e:
        print(f"dist: {text_of(e)}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps({"folder": str(to), "modules": counts}))
    else:
        for name, count in counts.items():
            print(f"{name}: {count} modules")
    return 0


def _model(parser, args):
    if not (args.model and args.board and args.to) or args.archs or args.source:
        parser.error("--model MODEL.bin, --board NAME and --to FOLDER need each other")
    board = boards.named(args.board)
    if not board:
        parser.error(f"no board {args.board}: flash.py --list-boards has their names")
    try:
        model = read_model(args.model)
        said, paths = write_model(args.to, model, board.machine, args.in_place, args.cores)
    except (DeployError, OSError) as e:
        print(f"dist: {text_of(e)}", file=sys.stderr)
        return 1
    if args.json:
        print(
            json.dumps({"folder": str(args.to), "model": said, "files": sorted(map(str, paths))})
        )
        return 0
    print(f"model     {said}")
    print(f"wrote     {len(paths) + 1} files to {args.to}, package.json among them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
