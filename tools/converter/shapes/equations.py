"""Parse equations of Einsum."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import Problem

# Labels of each term, labels of the output, and the size of each label.
Parsed = tuple[list[list[str]], list[str], dict[str, int]]


def parsed(equation: str | bytes, shapes: Sequence[Sequence[int]]) -> Parsed:
    """Return the labels of the terms and of the output, and the sizes of the labels.

    A letter is a label. The dims of an ellipsis are '.0', '.1', ... from the last dim on, the
    order in which they broadcast.

    Raises:
        Problem: if the equation does not fit the inputs.
    """
    text = equation.decode() if isinstance(equation, bytes) else equation
    left, arrow, right = text.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(shapes):
        raise Problem("the equation's terms are not as many as the inputs")
    terms = [_labels(part, len(dims)) for part, dims in zip(parts, shapes, strict=True)]
    sizes: dict[str, int] = {}
    for labels, dims in zip(terms, shapes, strict=True):
        for label, d in zip(labels, dims, strict=True):
            known = sizes.setdefault(label, d)
            if d != known and 1 not in (d, known):
                raise Problem(f"sizes {known} and {d} of {label}")
            sizes[label] = d if known == 1 else known
    if not arrow:
        letters = re.sub(r"[^A-Za-z]", "", left)
        right = "..." * ("..." in left) + "".join(
            c for c in sorted(set(letters)) if letters.count(c) == 1
        )
    n_dots = sum(label[0] == "." for label in sizes)
    dotted = len(right.replace("...", "")) + n_dots * ("..." in right)
    return terms, _labels(right, dotted, n_dots), sizes


def _labels(text, rank, n_dots=None):
    """Split a term into labels: 'ab...' -> ['a', 'b', '.1', '.0']."""
    head, dots, tail = text.partition("...")
    between = rank - len(head) - len(tail) if n_dots is None else n_dots * bool(dots)
    if between < 0 or (between and not dots):
        raise Problem(f"term {text} does not fit an input of rank {rank}")
    return [*head, *(f".{i}" for i in reversed(range(between))), *tail]
