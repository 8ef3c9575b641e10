"""What is said of a command that its limits, a library or an error of our own ended: one line."""

from __future__ import annotations

import os
import signal
import traceback

from . import memory, status
from .printable import printable

_MOST = 300  # characters of what an unexpected exception says


def too_long(place: str) -> str:
    """Return the message about --timeout. place: what was being done."""
    return f"this takes too long: stopped{_while(place)} (--timeout SECONDS allows more)"


def too_large(limits: status.Limits, place: str) -> str:
    """Return the message about --memory. place: what was being done."""
    amount = f"{limits.memory / (1 << 30):.2g} GB" if limits.memory else "the memory there is"
    return f"this needs more than {amount}: stopped{_while(place)} (--memory BYTES allows more)"


def crashed(number: int, place: str) -> str:
    """number: of the signal."""
    return f"a library crashed ({signal.Signals(number).name}){_while(place)}: the file is damaged"


def lack(e: BaseException) -> str:
    """too_large, where that is what an exception comes from; else ""."""
    if not memory.is_lack(e):
        return ""
    return too_large(status.limits(), status.working_on())


def unexpected(e: BaseException) -> str:
    """For what no command has a report of its own for."""
    if found := lack(e):
        return found
    frames = traceback.extract_tb(e.__traceback__)
    where = f" in {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    text = printable(" ".join(str(e).split()))[:_MOST]
    what = f"{type(e).__name__}{where}{_while(status.working_on())}"
    return f"unexpected {what}: {text} (an error of this program: please report it)"


def _while(place):
    return f" while {place}" if place else ""
