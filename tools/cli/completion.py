"""mpconnxr completion SHELL: print the script that lets a shell complete commands and options."""

from __future__ import annotations

import argparse

import shtab

from tools import arguments

from .commands import COMMANDS


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    cli = arguments.parser_for(
        "cli completion",
        description="Print the script that lets a shell complete commands and options.",
        epilog='For bash: eval "$(mpconnxr completion bash)" in ~/.bashrc.',
        example="mpconnxr completion bash",
        page="cli",
    )
    cli.add_argument("shell", choices=shtab.SUPPORTED_SHELLS)
    return cli


def main(argv: list[str] | None = None) -> int:
    """Print the script; return the exit status 0."""
    shell = parser().parse_args(argv).shell
    print(shtab.complete(_all_commands(), shell))
    return 0


def _all_commands():
    """Return a parser with all subcommands, which is only described, never used."""
    root = argparse.ArgumentParser("mpconnxr")
    verbs = root.add_subparsers()
    for name, command in COMMANDS.items():
        verbs.add_parser(name, help=command.about, parents=[command.parser()], add_help=False)
    return root
