"""What a call of flash.py says: a line at a time for people, or one JSON object at its end."""

from __future__ import annotations

import json
from typing import Any


class Said:
    """as_json: nothing is printed before `end`."""

    def __init__(self, as_json: bool):
        self._as_json = as_json
        self._found: dict[str, Any] = {}

    def line(self, key: str, text: str, about: Any = None) -> None:
        """`key       text`; about: the same as JSON has it, if that is more than the text."""
        self._found[key.rstrip(":")] = text if about is None else about
        self.plain(f"{key:9} {text}")

    def plain(self, text: str) -> None:
        """A line for people alone."""
        if not self._as_json:
            print(text, flush=True)

    def note(self, key: str, about: Any) -> None:
        """Something for programs alone."""
        self._found[key] = about

    def end(self, status: int, error: str = "") -> int:
        """Prints the object. Returns the status, which is in it."""
        if self._as_json:
            print(
                json.dumps(self._found | {"status": status} | ({"error": error} if error else {}))
            )
        return status
