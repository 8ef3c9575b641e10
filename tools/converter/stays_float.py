"""Format notes on nodes that compute in float beside integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_MOST_ALONE = 3  # nodes with the same reason that get a line each
_MOST_NAMES = 4  # in a line that several nodes share


def lines(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the notes on nodes.

    Args:
        rows: (name, operator, reason) of each node.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, operator, reason in rows:
        groups.setdefault(reason, []).append((name, operator))
    notes = []
    for reason, nodes in groups.items():
        if len(nodes) <= _MOST_ALONE:
            notes += [f"{name} ({operator}) stays in float: {reason}" for name, operator in nodes]
        else:
            notes.append(f"{_together(nodes)} stay in float: {reason}")
    return notes


def _together(nodes):
    """Return text like '5 Add (a, b, c, d and 1 more)', or '7 nodes (5 Add, 2 Div)'."""
    counts = Counter(operator for _, operator in nodes)
    if len(counts) > 1:
        return f"{len(nodes)} nodes ({', '.join(f'{n} {op}' for op, n in counts.most_common())})"
    shown = ", ".join(name for name, _ in nodes[:_MOST_NAMES])
    hidden = len(nodes) - _MOST_NAMES
    return f"{len(nodes)} {nodes[0][1]} ({shown}{f' and {hidden} more' if hidden > 0 else ''})"
