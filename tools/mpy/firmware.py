"""Names that MicroPython's firmware has in its ROM: they take no heap."""

from __future__ import annotations

from functools import cache
from pathlib import Path

NAMES = Path(__file__).with_name("firmware_names.txt")


@cache
def names() -> tuple[str, ...]:
    """Return the names in firmware for boards, those that all have first."""
    lines = NAMES.read_text().splitlines()
    return tuple(word for line in lines if not line.startswith("#") for word in line.split())
