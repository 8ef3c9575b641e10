"""Parse --memory and --timeout, and apply them."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

from tools import arguments

from . import noise, status

_MEMORY = 2 << 30
_SECONDS = 600.0
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Add --memory and --timeout."""
    add = parser.add_argument_group("limits for models from elsewhere").add_argument
    add(
        "--memory",
        type=_memory,
        metavar="BYTES",
        help="most memory to use, also as 4G (2G, or 8 times the size of the model's files)",
    )
    add(
        "--timeout",
        type=arguments.seconds,
        metavar="SECONDS",
        help=f"time limit in seconds ({_SECONDS:.0f})",
    )


def nbytes(text: str) -> int:
    """Parse a number of bytes: 6144, 6K, 1.5M.

    Raises:
        argparse.ArgumentTypeError: if it is malformed or negative.
    """
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    try:
        value = int(float(number) * _UNITS[unit])
    except (KeyError, OverflowError, ValueError):
        raise argparse.ArgumentTypeError(f"{text}: not a number of bytes, such as 6K") from None
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text}: must not be negative")
    return value


def _memory(text):
    value = nbytes(text)
    if value < 1 << 20:
        raise argparse.ArgumentTypeError(f"{text}: at least 1M, such as 4G or 4000000000")
    return value


_args: argparse.Namespace | None = None


def apply(args: argparse.Namespace | None = None) -> None:
    """Apply these limits, or the default ones, from now on; only in a child (see child.run)."""
    global _args
    _args = args
    if not status.is_watched():
        return
    memory = getattr(args, "memory", None)
    seconds = getattr(args, "timeout", None)
    status.set_limits(
        seconds or _SECONDS, memory or _MEMORY, growing=memory is None, staged=seconds is None
    )
    noise.divert()


@contextlib.contextmanager
def lifted() -> Iterator[None]:
    """Lift the limits within this context, for work other than that on a file."""
    if not status.is_watched():
        yield
        return
    status.set_limits(None, None)
    noise.restore()
    try:
        yield
    finally:
        apply(_args)
