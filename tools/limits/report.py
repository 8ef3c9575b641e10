"""Format one-line reports of commands that hit a limit, crashed, or failed unexpectedly."""

from __future__ import annotations

import os
import signal
import traceback

from . import memory, status
from .printable import printable

_MOST = 300  # characters of an unexpected exception's message


def too_long(work: str) -> str:
    """Return the message that the work exceeds --timeout."""
    return f"this takes too long: stopped{_while(work)} (--timeout SECONDS allows more)"


def too_large(limits: status.Limits, work: str) -> str:
    """Return the message that the work exceeds --memory."""
    amount = f"{limits.memory / (1 << 30):.2g} GB" if limits.memory else "the memory there is"
    return f"this needs more than {amount}: stopped{_while(work)} (--memory BYTES allows more)"


def crashed(number: int, work: str) -> str:
    """Return the message about a library that this signal ended."""
    return f"a library crashed ({signal.Signals(number).name}){_while(work)}: the file is damaged"


def lack(e: BaseException) -> str:
    """Return the message about --memory if the exception reports a lack of memory; else ""."""
    if not memory.is_lack(e):
        return ""
    return too_large(status.limits(), status.working_on())


def unexpected(e: BaseException) -> str:
    """Return the report of an exception that no command expects."""
    if message := lack(e):
        return message
    frames = traceback.extract_tb(e.__traceback__)
    where = f" in {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    text = printable(" ".join(str(e).split()))[:_MOST]
    context = f"{type(e).__name__}{where}{_while(status.working_on())}"
    return f"unexpected {context}: {text} (an error of this program: please report it)"


def _while(work):
    return f" while {work}" if work else ""
