"""Errors that refuse a model or a file. The __main__ of each command catches and prints them."""

from __future__ import annotations

from tools.limits import printable
from tools.limits.report import lack

_MAX_LINES = 200  # of a report
_MAX_SHOWN = 1000  # characters of a line, which may quote names from a file


class ConvertError(Exception):
    """The model is refused; the text is the whole report."""


class DeployError(Exception):
    """A model, or a module for it, cannot be put on a board; the text is the whole report."""


class RunError(Exception):
    """The model did not run, or its outputs cannot be compared; the text is one line."""


class UsageError(ConvertError):
    """An option is malformed, or does not fit the model (exit status 2)."""


class TooSmall(ConvertError):
    """An option allows less memory than the model needs.

    Attributes:
        least: bytes that would be enough.
    """

    def __init__(self, text: str, least: int):
        super().__init__(text)
        self.least = least


def text_of(e: Exception) -> str:
    """Return the text of an error for a terminal; for an OSError its file and reason.

    If memory was lacking, the text says so. Control characters are replaced, and long reports cut.

    Raises:
        BrokenPipeError: the error itself, if it is one: nobody reads the output any more.
    """
    if isinstance(e, BrokenPipeError):
        raise e
    if isinstance(e, OSError) and e.filename:
        return printable(f"{e.filename}: {e.strerror}")
    lines = printable(str(e), keep="\n").split("\n")
    return lack(e) or "\n".join(map(_shortened, lines[:_MAX_LINES]))


def _shortened(line):
    return line if len(line) <= _MAX_SHOWN else line[:_MAX_SHOWN] + " ..."
