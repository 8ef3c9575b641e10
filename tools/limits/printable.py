"""Sanitize text from files for a terminal; the only module that does so."""

from __future__ import annotations

import unicodedata


def printable(text: str, keep: str = "") -> str:
    r"""Escape characters that move a cursor, set colours or reorder text (\n, \x1b, \u202e).

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
