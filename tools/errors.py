"""Why a model or a file of one is refused. Caught once, in the __main__ of a command."""

from __future__ import annotations

from tools.limits import printable
from tools.limits.report import lack

_MOST_LINES = 200  # of a report
_MOST_SHOWN = 1000  # characters of a line of it, which may have a name from a file


class ConvertError(Exception):
    """The model is refused; the text is the whole report."""


class DeployError(Exception):
    """The model, or a module for it, cannot be put on a board; the text is the whole report."""


class UsageError(ConvertError):
    """An option does not fit the model or its own form (exit status 2)."""


class TooSmall(ConvertError):
    """What an option allows is less than the model needs. least: bytes that would do."""

    def __init__(self, text: str, least: int):
        super().__init__(text)
        self.least = least


def text_of(e: Exception) -> str:
    """What a refusal says; of an OSError its file and reason, without the number.

    Where memory was lacking that is what it says; nothing in it moves a terminal's cursor. Output
    that nobody reads any more is not a refusal: that error goes on.
    """
    if isinstance(e, BrokenPipeError):
        raise e
    if isinstance(e, OSError) and e.filename:
        return printable(f"{e.filename}: {e.strerror}")
    lines = printable(str(e), keep="\n").split("\n")
    return lack(e) or "\n".join(map(_shortened, lines[:_MOST_LINES]))


def _shortened(line):
    return line if len(line) <= _MOST_SHOWN else line[:_MOST_SHOWN] + " ..."
