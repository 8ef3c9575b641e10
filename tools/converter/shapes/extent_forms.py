"""Convert Extents to other representations: symbolic dims for onnx, words for the device.

Hidden state: an Extent travels through an ONNX model as JSON in hexadecimal in a `dim_param`,
since onnx's inference hands nothing else on from dim to dim. Only `symbol` writes and only
`parsed` reads that form.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Sequence

from mpconnxr.dynamic.runtime import ADD, CONSTANT, DIM, DIVIDE, MAXIMUM, MINIMUM, MULTIPLY

from ..errors import Problem
from .extent import (
    GROWN,
    NAMED,
    DimNumber,
    Extent,
    base_name,
    bound_of,
    larger,
    most_of,
    poly_of,
    smaller,
    sum_of,
)

_PREFIX = "rt_"  # of a symbolic dim that represents an Extent


def symbol(value: int) -> str:
    """Return the name of a symbolic dim that represents an Extent; `parsed` is the inverse."""
    return _PREFIX + json.dumps(value.poly).encode().hex()


def symbols(dims: Sequence[int]) -> list[int | str]:
    """Return dims as onnx takes them, Extents as symbolic dims."""
    return [symbol(d) if isinstance(d, Extent) else d for d in dims]


def parsed(name: str, grown: bool = False) -> int | None:
    """Return the Extent that a symbolic dim represents, None for any other dim.

    Args:
        name: name of the dim.
        grown: give each run-time dim another bound, for the model's twin (see dims.twin_of).
    """
    if not name.startswith(_PREFIX):
        return None
    try:
        poly = _tuples(json.loads(bytes.fromhex(name[len(_PREFIX) :])))
    except ValueError:
        return None
    return replaced(sum_of(poly), _grown_atom) if grown else sum_of(poly)


def corresponds(a: int, b: int) -> bool:
    """Return True if two values are equal but for the bounds of run-time dims."""
    if isinstance(a, DimNumber) and isinstance(b, DimNumber):
        return a.key[0] == base_name(b.key[0])
    if not isinstance(a, Extent) or not isinstance(b, Extent):
        return type(a) is type(b) and a == b
    return replaced(a, _without_bound) == replaced(b, _without_bound)


def replaced(value: int, change: Callable[[tuple], tuple]) -> int:
    """Return the value with the atom of each run-time dim replaced by change(atom)."""

    def total_of(poly):
        total = 0
        for atoms, c in poly:
            total = total + math.prod([atom_of(a) for a in atoms], start=c)
        return total

    def atom_of(atom):
        if atom[0] in NAMED:
            return sum_of([((change(atom),), 1)])
        if atom[0] == "most":
            return bound_of(total_of(atom[1]))
        a, b = map(total_of, atom[1:])
        if atom[0] == "/":
            return a // b
        return larger(a, b) if atom[0] == "max" else smaller(a, b)

    return total_of(poly_of(value))


def _grown_atom(atom):
    kind, name, bound = atom
    if GROWN in name:
        return atom
    grown = f"{name}{GROWN}{bound}"
    if kind == "size":  # smaller: a table, as of position embeddings, may end at the bound
        return kind, grown, bound - 1 - bound // 3 if bound > 1 else 2
    return kind, grown, bound + 5 + zlib.crc32(name.encode()) % 13


def _without_bound(atom):
    return atom[0], base_name(atom[1]), 1 << 20


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def postfix(value: int, number_of: Callable[[tuple[str, int]], int]) -> list[int]:
    """Return an Extent as words for the device, in postfix order.

    A word has the operation in its low 3 bits, and its operand in the others.

    Args:
        value: a number or an Extent.
        number_of: returns the number of a run-time dim by (name, bound).

    Raises:
        Problem: if a coefficient exceeds 28 bits.
    """
    words: list[int] = []
    for i, (atoms, c) in enumerate(poly_of(value)):
        for k, atom in enumerate(atoms):
            words += _atom_words(atom, number_of) + [MULTIPLY] * (k > 0)
        if c != 1 or not atoms:
            if not -(1 << 28) <= c < 1 << 28:
                raise Problem("a run-time extent exceeds 28 bits")
            words += [c * 8 | CONSTANT] + [MULTIPLY] * bool(atoms)
        words += [ADD] * (i > 0)
    return words


def _atom_words(atom, number_of):
    kind = atom[0]
    if kind in NAMED:
        return [number_of(atom[1:]) * 8 | DIM]
    if kind == "most":
        return postfix(most_of(atom[1]), number_of)
    operation = {"/": DIVIDE, "max": MAXIMUM, "min": MINIMUM}[kind]
    operands = [postfix(sum_of(poly), number_of) or [CONSTANT] for poly in atom[1:]]
    return sum(operands, []) + [operation]
