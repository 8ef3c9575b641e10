"""How every command reads its command line: one parser, one kind of error, one name."""

from __future__ import annotations

import argparse
import difflib
from typing import NoReturn

from mpconnxr import __version__

_MOST_PORT = 65535
_called_as = ""  # what people typed, where that is not `python -m tools.NAME`


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line and where help is in another, and exits with status 2."""

    def error(self, message: str) -> NoReturn:
        """Print the message and how to get help; exit with status 2."""
        self.exit(2, f"{self.prog}: error: {message}\n{self.prog} --help lists the options\n")

    def parse_args(self, args=None, namespace=None):
        """As argparse does; an unknown option's message names the nearest known one."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.error(self._about(unknown))
        return found

    def _about(self, unknown):
        known = [name for action in self._actions for name in action.option_strings]
        first = unknown[0].partition("=")[0]
        near = difflib.get_close_matches(first, known, n=1)
        hint = f" (did you mean {near[0]}?)" if first.startswith("-") and near else ""
        return f"unrecognized arguments: {' '.join(unknown)}{hint}"


def seconds(text: str) -> float:
    """Read an option's argument, a time of more than 0. Raises argparse.ArgumentTypeError."""
    value = _number(float, text, "seconds")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: must be more than 0 seconds")
    return value


def count(text: str) -> int:
    """Read an option's argument, a number from 1. Raises argparse.ArgumentTypeError."""
    value = _number(int, text, "a whole number")
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be at least 1")
    return value


def port(text: str) -> int:
    """Read an option's argument, a TCP port. Raises argparse.ArgumentTypeError."""
    value = _number(int, text, "a port")
    if not 0 <= value <= _MOST_PORT:
        raise argparse.ArgumentTypeError(f"{text}: must be from 0 to {_MOST_PORT}")
    return value


def _number(kind, text, wanted):
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: expected {wanted}") from None


def parser_for(command: str, **options) -> Parser:
    """A parser of `python -m tools.COMMAND`, which the console script calls by another name."""
    parser = Parser(_called_as or f"python -m tools.{command}", **options)
    version = f"mpconnxr {__version__}"
    parser.add_argument("--version", action="version", version=version, help="print the version")
    return parser


def called_as(name: str) -> None:
    """Parsers from now on are those of this command, such as "mpconnxr convert"."""
    global _called_as
    _called_as = name
