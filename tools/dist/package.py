"""python -m tools.dist.package [--board NAME] [--to FOLDER]: write the package, to copy it.

It writes FOLDER/mpconnxr (default: build/mpconnxr), for any board or compiled for one. Then
`mpremote cp -r build/mpconnxr :` copies it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tools import arguments, package
from tools.deploy import boards
from tools.deploy.errors import DeployError
from tools.deploy.modules import built_package
from tools.errors import text_of


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    cli = arguments.parser_for(
        "dist.package",
        description="Write the package, to copy it.",
        example="mpconnxr package --board pico",
        page="deploy",
    )
    cli.add_argument("--board", metavar="NAME", help="compile it for this board (default: any)")
    cli.add_argument("--to", type=Path, metavar="FOLDER", help="where to write (default: build)")
    cli.add_argument("--json", action="store_true", help="print one JSON object")
    return cli


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0 if written, 1 if not, 2 for wrong usage."""
    args = (cli := parser()).parse_args(argv)
    board = boards.named(args.board) if args.board else None
    if args.board and not board:
        cli.error(f"no board {args.board}: {boards.advice_on(args.board)}")
    from tools.deploy.code import whole

    place = (args.to or Path("build")) / package.NAME
    try:
        files = whole(built_package(), board.machine if board else None)
        write(place, files)
    except (DeployError, OSError) as e:
        print(f"package: {text_of(e)}", file=sys.stderr)
        return 1
    about = {"folder": str(place), "files": len(files)} | sizes(files)
    if board and board.filesystem_bytes:
        about["left_bytes"] = board.filesystem_bytes - about["in_blocks"]
    if args.json:
        print(json.dumps(about))
        return 0
    target = board.title if board else "any board"
    print(f"package   {place}, for {target}: {about['files']} files, {about['bytes']:,} bytes")
    print(f"on flash  {about['in_blocks']:,} bytes in blocks of 4 KB", end="")
    print(f", which leaves {about['left_bytes']:,}" if "left_bytes" in about else "")
    print(f"next      mpremote cp -r {place} :")
    return 0


def sizes(files: Mapping[str, bytes]) -> dict[str, int]:
    """Return the bytes of files, and of the blocks of a file system that they fill."""
    from tools.deploy.code import BLOCK

    in_blocks = sum(-(-len(data) // BLOCK) * BLOCK for data in files.values())
    return {"bytes": sum(map(len, files.values())), "in_blocks": in_blocks}


def write(place: Path, files: Mapping[str, bytes]) -> None:
    """Write a package to a folder; replace one that was written to it before.

    Args:
        place: the folder.
        files: {path below its parent: contents}.

    Raises:
        DeployError: if the folder is not a package, or has the sources.
        OSError: if a file cannot be written.
    """
    from .build import write_files

    if place.resolve() == package.SOURCES.resolve():
        raise DeployError(f"{place} has the sources of mpconnxr: give --to another folder")
    if place.exists() and not (place / "__init__.py").exists() | (place / "__init__.mpy").exists():
        raise DeployError(f"{place} is no package of mpconnxr: give --to another folder")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        write_files(Path(folder), files)
        if place.exists():
            shutil.rmtree(place)
        Path(folder, package.NAME).rename(place)


if __name__ == "__main__":
    sys.exit(main())
