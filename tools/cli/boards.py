"""mpconnxr boards [NAME]: list the boards and what is known of each."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from tools import arguments
from tools.deploy import boards
from tools.deploy.errors import DeployError


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    cli = arguments.parser_for(
        "cli boards",
        description="List the boards and what is known of each.",
        example="mpconnxr boards pico",
        page="boards",
    )
    cli.add_argument(
        "name", nargs="?", help="board to show in full, with the sources of its figures"
    )
    cli.add_argument("--json", action="store_true", help="print one JSON array")
    return cli


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0 if printed, 1 if a board's file is invalid, 2 for wrong usage."""
    args = (cli := parser()).parse_args(argv)
    try:
        known = boards.load_boards()
    except DeployError as e:
        print(f"boards: {e}", file=sys.stderr)
        return 1
    if args.name:
        if not (board := boards.named(args.name)):
            cli.error(f"no board {args.name}: {boards.advice_on(args.name)}")
        known = [board]
    if args.json:
        print(json.dumps([asdict(board) for board in known]))
    elif args.name:
        print(_all_of(known[0]))
    else:
        print(boards.table_of(known))
    return 0


def _all_of(board):
    lines = []
    for name, value in asdict(board).items():
        if name != "sources" and value not in (None, ""):
            source = board.sources.get(name)
            lines.append(f"{name:23} {_text(value)}" + (f"    ({source})" if source else ""))
    return "\n".join(lines)


def _text(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
