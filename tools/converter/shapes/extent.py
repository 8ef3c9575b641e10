"""Extents that only a run knows: integers which carry how they follow from run-time dims.

A run-time dim is a number from 0 to its bound that a kernel sets during a run, or from 1 to its
bound where it is the size of a graph input, which the caller decides. An Extent is an
int, the most that it can be, together with a polynomial in such dims: ((atoms, coefficient), ...).
Atoms besides the dims are quotients, maxima and minima of two other polynomials, and the most that
one can be, which is a constant of the conversion. Sums and products of Extents are Extents; two
are equal only if their polynomials are, whatever the numbers; an order that not all runs agree on
is a Problem.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from numbers import Integral

from ..errors import Problem

NAMED = ("dim", "size")  # atoms (kind, name, bound)
GROWN = "\x01"  # behind the name of a dim with another bound; the model's own bound follows


class Extent(int):
    """poly: ((atoms, coefficient), ...) in one order; least: the least that it can be."""

    poly: tuple
    least: int

    def __add__(self, other):
        if not isinstance(other, Integral):
            return NotImplemented
        return sum_of(poly_of(self), poly_of(other))

    __radd__ = __add__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -1 * other

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if not isinstance(other, Integral):
            return NotImplemented
        terms = itertools.product(poly_of(self), poly_of(other))
        return sum_of([(tuple(sorted(a + b, key=repr)), c * d) for (a, c), (b, d) in terms])

    __rmul__ = __mul__

    def __floordiv__(self, other):
        if not isinstance(other, Integral):
            return NotImplemented
        return _quotient(self, other)

    def __rfloordiv__(self, other):
        return _quotient(other, self)

    def __mod__(self, other):
        return self - self // other * other

    def __abs__(self):
        if ends_of(self)[0] >= 0:
            return self
        return max(abs(self.least), abs(int(self)))

    def __eq__(self, other):
        return isinstance(other, Extent) and self.poly == other.poly

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.poly)

    def __lt__(self, other):
        return _is_negative(self - other)

    def __gt__(self, other):
        return _is_negative(other - self)

    def __le__(self, other):
        return not self > other

    def __ge__(self, other):
        return not self < other

    def __bool__(self):
        least, most = ends_of(self)
        if least <= 0 <= most:
            raise Problem("it cannot follow a run-time extent")
        return True

    def __repr__(self):
        return " + ".join(_term_text(*term) for term in self.poly)

    __str__ = __repr__

    def __format__(self, spec):
        return format(str(self) if not spec else int(self), spec)


class DimNumber(int):
    """A parameter that names a run-time dim: its number in the file. key: (name, bound)."""

    key: tuple[str, int]


def number_of(value: int) -> DimNumber:
    """The DimNumber of an Extent that is just one run-time dim."""
    made = DimNumber(0)
    made.key = dims_in(value)[0]
    return made


def dim(name: str, bound: int) -> int:
    """The run-time dim of this name."""
    return sum_of([((("dim", name, int(bound)),), 1)]) if bound else 0


def size(name: str, bound: int) -> int:
    """The size of a graph input along a symbolic dimension of this name, at least 1."""
    return sum_of([((("size", name, int(bound)),), 1)])


def is_own(value: int, name: str) -> bool:
    """True for a dim that was made for the value of this name."""
    return [n.rpartition(".")[0] for n, _ in dims_in(value)] == [name]


def is_open(value: int) -> bool:
    """True if a run decides the value."""
    return bool(dims_in(value))


def kept(value: int) -> int:
    """The value as a plain int, or as the Extent or DimNumber that it is."""
    return value if isinstance(value, Extent | DimNumber) else int(value)


def any_open(values: Sequence[int]) -> bool:
    """Return whether a run decides any of these."""
    return any(isinstance(v, Extent) for v in values)


def bound_of(value: int) -> int:
    """The most that a value can be, as an Extent that the bounds decide, and no run."""
    return sum_of([((("most", value.poly),), 1)]) if is_open(value) else value


def larger(a: int, b: int) -> int:
    """max(a, b), decided now if all runs agree."""
    return _either("max", a, b)


def smaller(a: int, b: int) -> int:
    """min(a, b), decided now if all runs agree."""
    return _either("min", a, b)


def exact_quotient(a: int, b: int) -> int:
    """a / b of which it is known that it leaves no rest: n * 6 / n is 6."""
    terms = poly_of(b)
    if len(terms) == 1:
        atoms, c = terms[0]
        rest = [(_without(m, atoms), d // c) for m, d in poly_of(a) if d % c == 0]
        if len(rest) == len(poly_of(a)) and all(m is not None for m, _ in rest):
            return sum_of(rest)
    return a // b


def dims_in(value: int) -> list[tuple[str, int]]:
    """(name, bound) of the run-time dims that decide a value."""
    if not isinstance(value, Extent):
        return []
    return [atom[1:] for atom in _atoms(value.poly)]


def poly_of(value: int) -> tuple:
    """((atoms, coefficient), ...) of an Extent or a number."""
    if isinstance(value, Extent):
        return value.poly
    return (((), int(value)),) if value else ()


def sum_of(*polys: Iterable) -> int:
    """The sum of polynomials: an int if no atom is left."""
    found: dict[tuple, int] = {}
    for atoms, c in itertools.chain(*polys):
        found[atoms] = found.get(atoms, 0) + c
    terms = tuple(sorted(((m, c) for m, c in found.items() if c), key=repr))
    if all(not m for m, _ in terms):
        return sum(c for _, c in terms)
    low, high = _range(terms)
    made = Extent(high)
    made.poly, made.least = terms, low
    return made


def most_of(poly: tuple) -> int:
    """The most that a polynomial can be."""
    return _range(poly)[1]


def ends_of(value: int) -> tuple[int, int]:
    """Return the least and the most that a value can be in the model, also for its twin.

    What is decided by these is decided alike for both.
    """
    return _range(poly_of(value), of_model=True)


def planned(value: int) -> int:
    """Return the most that a value can be in the model: to choose a kernel by."""
    return ends_of(value)[1]


def base_name(name: str) -> str:
    """Return a dim's name without the mark of another bound."""
    return name.partition(GROWN)[0]


def _range(poly, of_model=False):
    low = high = 0
    for atoms, c in poly:
        ends = [c, c]
        for atom in atoms:
            corners = [e * f for e in ends for f in _atom_range(atom, of_model)]
            ends = [min(corners), max(corners)]
        low, high = low + ends[0], high + ends[1]
    return low, high


def _atom_range(atom, of_model):
    if atom[0] in NAMED:
        bound = atom[1].partition(GROWN)[2] if of_model else ""
        return int(atom[0] == "size"), int(bound or atom[2])
    if atom[0] == "most":
        return _range(atom[1], of_model)[1:] * 2
    (a, b), (c, d) = (_range(poly, of_model) for poly in atom[1:])
    if atom[0] == "/":
        corners = [e // f for e in (a, b) for f in (max(c, 1), max(d, 1))]
        return min(corners), max(corners)
    return (max(a, c), max(b, d)) if atom[0] == "max" else (min(a, c), min(b, d))


def _quotient(a, b):
    """a // b; a whole multiple of a constant is taken out."""
    if isinstance(b, Extent):
        return sum_of([((("/", poly_of(a), poly_of(b)),), 1)])
    whole = [(m, c // b) for m, c in poly_of(a) if c % b == 0]
    rest = sum_of([(m, c) for m, c in poly_of(a) if c % b])
    if not isinstance(rest, Extent):
        return sum_of(whole, poly_of(rest // b))
    return sum_of(whole, [((("/", rest.poly, poly_of(b)),), 1)])


def _either(kind, a, b):
    """Return the larger or the smaller one; where all runs agree, ties included, that itself."""
    least, most = ends_of(a - b)
    if least >= 0 or most <= 0:
        return a if (least >= 0) == (kind == "max") else b
    return sum_of([(((kind, *sorted((poly_of(a), poly_of(b)), key=repr)),), 1)])


def _is_negative(value):
    if not isinstance(value, Extent):
        return value < 0
    least, most = ends_of(value)
    if least < 0 <= most:
        raise Problem("it cannot follow a run-time extent")
    return most < 0


def _without(atoms, divisor):
    """The product of atoms divided by another one; None if it does not divide."""
    left = list(atoms)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _atoms(poly):
    """All dims in a polynomial, without those whose bounds alone count."""
    for atoms, _ in poly:
        for atom in atoms:
            if atom[0] in NAMED:
                yield atom
            elif atom[0] == "most":
                continue
            else:
                for inner in atom[1:]:
                    yield from _atoms(inner)


def _term_text(atoms, c):
    factors = [str(c)] * (c != 1 or not atoms) + [_atom_text(a) for a in atoms]
    return "*".join(factors)


def _atom_text(atom):
    if atom[0] in NAMED:
        return base_name(atom[1])
    if atom[0] == "most":
        return str(_range(atom[1])[1])
    a, b = (sum_of(poly) for poly in atom[1:])
    return f"({a} // {b})" if atom[0] == "/" else f"{atom[0]}({a}, {b})"
