"""Text from a file, made fit for a terminal: the one place that does it."""

from __future__ import annotations

import unicodedata


def printable(text: str, keep: str = "") -> str:
    """The text with escapes (\\n, \\x1b, \\u202e) for what moves a cursor, colours or reorders.

    Spaces of all kinds and letters of all scripts stay. keep: others that stay, such as "\\n".
    """
    if text.isprintable():
        return text
    return "".join(c if c in keep or _is_plain(c) else _escaped(c) for c in text)


def _is_plain(c):
    return c.isprintable() or unicodedata.category(c) == "Zs"


def _escaped(c):
    """As Python writes it in a string."""
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")
