"""Report the progress of flash.py: a line at a time for people, or one JSON object at its end."""

from __future__ import annotations

import json
from typing import Any


class Reporter:
    """Report to people or to programs.

    Args:
        as_json: print nothing but one JSON object, at the end.
        silent: print nothing at all.

    Attributes:
        facts: what was reported, by key.
    """

    def __init__(self, as_json: bool, silent: bool = False):
        self._as_json, self._silent = as_json, silent
        self.facts: dict[str, Any] = {}

    def line(self, key: str, text: str, about: Any = None) -> None:
        """Report a fact. `about` is the fact for JSON, if that is more than the text."""
        self.facts[key.rstrip(":")] = text if about is None else about
        self.plain(f"{key:9} {text}")

    def plain(self, text: str) -> None:
        """Print a line for people only."""
        if not self._as_json and not self._silent:
            print(text, flush=True)

    def note(self, key: str, about: Any) -> None:
        """Add a fact to the JSON object only."""
        self.facts[key] = about

    def end(self, status: int, error: str = "") -> int:
        """Print the JSON object, with the exit status and error; return the status."""
        if self._as_json:
            print(
                json.dumps(self.facts | {"status": status} | ({"error": error} if error else {}))
            )
        return status
