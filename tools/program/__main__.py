"""python -m tools.program MODEL.bin --board NAME --to FOLDER: a model as a program for a board.

Writes what the board needs, the model's file among it: copy the folder's contents to the board
(mpremote cp -r FOLDER/. :). A program takes far less heap than the kernels, and does the same.

Exit status: 0 written, 1 the model has to stay with the kernels, or is none; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.deploy import boards
from tools.deploy.errors import DeployError
from tools.deploy.machine import Machine
from tools.deploy.model_file import read_model

from .build import CORE, build
from .record import CannotRecord


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m tools.program", description=__doc__.partition("\n")[0].partition(": ")[2]
    )
    parser.add_argument("model", type=Path, help="made by python -m tools.converter")
    parser.add_argument("--board", required=True, metavar="NAME", help="of flash.py --list-boards")
    parser.add_argument("--to", required=True, type=Path, metavar="FOLDER", help="write there")
    parser.add_argument(
        "--in-place",
        action="store_true",
        help="its file will be in memory that can be addressed, such as a ROMFS",
    )
    args = parser.parse_args(argv)
    board = boards.named(args.board)
    if not board:
        parser.error(f"no board {args.board}: flash.py --list-boards has their names")
    try:
        return _write(args, board.machine)
    except (CannotRecord, DeployError) as e:
        print(f"program: {e}", file=sys.stderr)
        return 1


def _write(args: argparse.Namespace, machine: Machine) -> int:
    model = read_model(args.model)
    made = build(model.data, machine, stream=not args.in_place)
    for path, data in {**made.files, model.name: model.data}.items():
        place = args.to / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    loaded = [made.module, *(f"mpconnxr/{name}.mpy" for name in CORE)]
    nbytes = sum(len(made.files[path]) for path in loaded)
    print(f"program   {made.calls} calls in {made.code_nbytes:,} bytes")
    print(f"code      {nbytes:,} bytes in {len(loaded)} files that are loaded with it")
    print(f"wrote     {len(made.files) + 1} files to {args.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
