"""The run-time dims of a file as text: what extent_table wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_JOIN = {2: "({} + {})", 3: "{} * {}", 4: "({} // {})", 5: "max({}, {})", 6: "min({}, {})"}


@dataclass
class StoredExtents:
    """bounds: by dim; expressions: texts; places: expression by word of the graph."""

    bounds: list[int] = field(default_factory=list)
    expressions: list[str] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)

    def dim(self, d: int) -> str:
        """An entry of a shape as text."""
        return str(d) if d >= 0 else self.expressions[-1 - d]


def read(words: Sequence[int], n_dims: int) -> StoredExtents:
    """Raises IndexError where the words do not fill their space."""
    stored = StoredExtents(list(words[:n_dims]))
    at = n_dims + 1
    for _ in range(words[n_dims]):
        stored.expressions.append(_text(words[at + 1 : at + 1 + words[at]]))
        at += 1 + words[at]
    stored.places = dict(zip(words[at::2], words[at + 1 :: 2], strict=True))
    return stored


def _text(words):
    stack: list[str] = []
    for word in words:
        operation, number = word & 7, word >> 3
        if operation < 2:
            stack.append(f"d{number}" if operation else str(number))
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(_JOIN[operation].format(a, b))
    return stack.pop()
