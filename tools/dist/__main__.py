"""python -m tools.dist [ARCH ...] [--to FOLDER]: make packages for `mip install`.

It writes package.json and dist/any/mpconnxr/*.py, the package for any board, and for each
architecture package-ARCH.json and dist/ARCH_VERSION/mpconnxr/*.mpy; without ARCH for all
architectures of the boards in boards/.

python -m tools.dist --model MODEL.bin --board NAME --to FOLDER writes one model with what it needs
on one board, as a program if possible, and a package.json that lists these files.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools import arguments
from tools.deploy import boards
from tools.deploy.errors import DeployError
from tools.errors import text_of

from .machines import machines


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    cli = arguments.parser_for(
        "dist",
        description="Make packages for mip.",
        example="mpconnxr dist --model model.bin --board pico --to folder",
        page="mip",
    )
    archs = list(machines())
    cli.add_argument("archs", nargs="*", metavar="ARCH", help=f"one of {' '.join(archs)}")
    cli.add_argument("--to", type=Path, metavar="FOLDER", help="where to write (default: here)")
    cli.add_argument("--source", action="store_true", help="write only the package for any board")
    cli.add_argument("--model", type=Path, metavar="MODEL.bin", help="one model to write")
    cli.add_argument("--board", metavar="NAME", help="board of mpconnxr boards")
    cli.add_argument(
        "--in-place",
        action="store_true",
        help="the model will be in addressable memory, such as a ROMFS",
    )
    cli.add_argument(
        "--cores",
        type=int,
        choices=(1, 2),
        default=1,
        help="cores of an RP2040 or RP2350 that run the program, for load(cores=2)",
    )
    cli.add_argument("--json", action="store_true", help="print one JSON object")
    return cli


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0 if written, 1 if not, 2 for wrong usage."""
    args = (cli := parser()).parse_args(argv)
    known = machines()
    archs = list(known)
    if args.model or args.board or args.in_place or args.cores > 1:
        return _model(cli, args)
    if unknown := set(args.archs) - set(archs):
        cli.error(f"no architecture {' '.join(sorted(unknown))}: there are {' '.join(archs)}")
    from .build import write_whole

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
        parser.error("--model MODEL.bin, --board NAME and --to FOLDER go together")
    board = boards.named(args.board)
    if not board:
        parser.error(f"no board {args.board}: {boards.advice_on(args.board)}")
    from tools.deploy.model_file import read_model

    from .build import write_model

    try:
        model = read_model(args.model)
        text, paths = write_model(args.to, model, board.machine, args.in_place, args.cores)
    except (DeployError, OSError) as e:
        print(f"dist: {text_of(e)}", file=sys.stderr)
        return 1
    if args.json:
        print(
            json.dumps({"folder": str(args.to), "model": text, "files": sorted(map(str, paths))})
        )
        return 0
    print(f"model     {text}")
    print(f"wrote     {len(paths) + 1} files to {args.to}, package.json among them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
