"""Sanitize text from files for a terminal. No other module does that."""

from __future__ import annotations

import unicodedata


def printable(text: str, keep: str = "") -> str:
    r"""Escape (\n, \x1b, \u202e) what moves a cursor, sets colours or reorders text.

    Spaces of all kinds and letters of all scripts stay.

    Args:
        text: any text.
        keep: further characters that stay, such as "\n".
    """
    if text.isprintable():
        return text
    return "".join(c if c in keep or _is_plain(c) else _escaped(c) for c in text)


def _is_plain(c):
    return c.isprintable() or unicodedata.category(c) == "Zs"


def _escaped(c):
    """Return the escape sequence of Python's string literals."""
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")
