"""Parse the command lines of all commands alike: one parser class, one form of error.

The types of options raise argparse.ArgumentTypeError for invalid text.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import Any, NoReturn

from mpconnxr import __version__

PAGES = "docs"  # where the pages are that helps name
_MAX_PORT = 65535
_called_as = ""  # the command as typed, if not `python -m tools.NAME`


class Parser(argparse.ArgumentParser):
    """Parser that reports an error in one line, where to get help in another, and exits with 2.

    Attributes:
        example: a command line that shows how the command is used; "" for none.
        page: name of its page in docs/; "" for none.
    """

    def __init__(self, *args: Any, example: str = "", page: str = "", **options: Any):
        super().__init__(*args, **options)
        self.example, self.page = example, page
        self._typed: list[str] = []

    def format_help(self) -> str:
        """Return the help, with the example and the page at its end."""
        example = f"\nexample: {self.example}\n" if self.example else ""
        page = f"more:    {PAGES}/{self.page}.md\n" if self.page else ""
        return super().format_help() + example + page

    def error(self, message: str) -> NoReturn:
        """Print the message and how to get help; exit with status 2."""
        _, is_lacking, name = message.partition("arguments are required: ")
        if is_lacking and (greedy := self._greedy()):
            message += f" ({greedy} takes all words that follow it: put it behind {name})"
        self.exit(2, f"{self.prog}: error: {message}\n{self.prog} --help lists the options\n")

    def parse_args(self, args=None, namespace=None):
        """Parse arguments; the error for an unknown option names the nearest known one."""
        self._typed = sys.argv[1:] if args is None else list(args)
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.error(self._about(unknown))
        return parsed

    def _greedy(self):
        """Return the last typed option that takes any number of words; "" without one."""
        greedy = {
            name for a in self._actions if a.nargs in ("+", "*") for name in a.option_strings
        }
        return next((word for word in reversed(self._typed) if word in greedy), "")

    def _about(self, unknown):
        known = [name for action in self._actions for name in action.option_strings]
        first = unknown[0].partition("=")[0]
        near = difflib.get_close_matches(first, known, n=1)
        hint = f" (did you mean {near[0]}?)" if first.startswith("-") and near else ""
        return f"unrecognized arguments: {' '.join(unknown)}{hint}"


def seconds(text: str) -> float:
    """Return an option's argument as a time above 0 [s]."""
    value = _number(float, text, "seconds")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: must be more than 0 seconds")
    return value


def count(text: str) -> int:
    """Return an option's argument as an integer from 1."""
    value = _number(int, text, "a whole number")
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be at least 1")
    return value


def port(text: str) -> int:
    """Return an option's argument as a TCP port."""
    value = _number(int, text, "a port")
    if not 0 <= value <= _MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text}: must be from 0 to {_MAX_PORT}")
    return value


def _number(kind, text, expected):
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: expected {expected}") from None


def parser_for(command: str, **options: Any) -> Parser:
    """Return a parser for `python -m tools.COMMAND`, or as the console script calls it.

    Whoever prints a page of help or lists completions calls for a parser: the modules that make
    them import what only the command itself needs when it runs, so that neither takes a second.

    Args:
        command: the name of its module.
        **options: as of Parser; a command of `mpconnxr` has an example and a page.
    """
    parser = Parser(_called_as or f"python -m tools.{command}", **options)
    version = f"mpconnxr {__version__}"
    parser.add_argument("--version", action="version", version=version, help="print the version")
    return parser


def called_as(name: str) -> None:
    """Set the command that new parsers print as their name, such as "mpconnxr convert"."""
    global _called_as
    _called_as = name
