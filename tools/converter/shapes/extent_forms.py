"""Extents written down: as a symbolic dimension for onnx, as words for the device."""

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

_PREFIX = "rt_"  # of a symbolic dimension that holds an Extent


def symbol(value: int) -> str:
    """A name for a symbolic dimension, from which `parsed` makes the Extent again."""
    return _PREFIX + json.dumps(value.poly).encode().hex()


def symbols(dims: Sequence[int]) -> list[int | str]:
    """Dims as onnx takes them."""
    return [symbol(d) if isinstance(d, Extent) else d for d in dims]


def parsed(name: str, grown: bool = False) -> int | None:
    """The Extent in a symbolic dimension; None for one of another kind. grown: larger bounds."""
    if not name.startswith(_PREFIX):
        return None
    try:
        poly = _tuples(json.loads(bytes.fromhex(name[len(_PREFIX) :])))
    except ValueError:
        return None
    return replaced(sum_of(poly), _grown_atom) if grown else sum_of(poly)


def corresponds(a: int, b: int) -> bool:
    """True if both are the same number, or the same polynomial, with bounds of their own."""
    if isinstance(a, DimNumber) and isinstance(b, DimNumber):
        return a.key[0] == base_name(b.key[0])
    if not isinstance(a, Extent) or not isinstance(b, Extent):
        return type(a) is type(b) and a == b
    return replaced(a, _without_bound) == replaced(b, _without_bound)


def replaced(value: int, change: Callable[[tuple], tuple]) -> int:
    """The value with each dim replaced by what change(atom) gives."""

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
    if kind == "size":  # less: a model may end where the bound does (position embeddings)
        return kind, grown, bound - 1 - bound // 3 if bound > 1 else 2
    return kind, grown, bound + 5 + zlib.crc32(name.encode()) % 13


def _without_bound(atom):
    return atom[0], base_name(atom[1]), 1 << 20


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def postfix(value: int, number_of: Callable[[tuple[str, int]], int]) -> list[int]:
    """Words of an expression for the device: operation in the low 3 bits, its number above."""
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
