"""Represent integers that only a run knows, as polynomials in run-time dims.

A run-time dim is a number that a kernel sets during a run, from 0 to its bound, or the size of a
graph input that the caller decides, from 1 to its bound. An Extent is an int, whose value is the
largest that it can be, together with a polynomial ((atoms, coefficient), ...) in such dims. Other
atoms are quotients, maxima and minima of two polynomials, and the largest value of one, which is
constant.

Sums and products of Extents are Extents. Two are equal only if their polynomials are, whatever the
numbers. A comparison whose result differs between runs raises Problem. So code for plain ints
works for Extents too, and fails where it cannot.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from numbers import Integral

from ..errors import Problem

NAMED = ("dim", "size")  # kinds of atoms (kind, name, bound)
GROWN = "\x01"  # follows the name of a dim with another bound; the model's bound follows it


class Extent(int):
    """An integer that only a run knows; as an int, the largest that it can be.

    Attributes:
        poly: ((atoms, coefficient), ...), sorted.
        least: the smallest value that it can be.
    """

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
    """A kernel parameter whose value is the number of a run-time dim in the file.

    Attributes:
        key: (name, bound) of the dim; the writer of the file replaces the value 0 by the number.
    """

    key: tuple[str, int]


def number_of(value: int) -> DimNumber:
    """Return the DimNumber of an Extent that is a single run-time dim."""
    result = DimNumber(0)
    result.key = dims_in(value)[0]
    return result


def dim(name: str, bound: int) -> int:
    """Return the run-time dim of this name, or 0 if it is bounded by 0."""
    return sum_of([((("dim", name, int(bound)),), 1)]) if bound else 0


def size(name: str, bound: int) -> int:
    """Return the size, at least 1, of a graph input along a symbolic dim of this name."""
    return sum_of([((("size", name, int(bound)),), 1)])


def is_own(value: int, name: str) -> bool:
    """Return True for a dim that was made for the value of this name."""
    return [n.rpartition(".")[0] for n, _ in dims_in(value)] == [name]


def is_open(value: int) -> bool:
    """Return True if a run decides the value."""
    return bool(dims_in(value))


def kept(value: int) -> int:
    """Return the value itself if it is an Extent or a DimNumber, else a plain int."""
    return value if isinstance(value, Extent | DimNumber) else int(value)


def any_open(values: Sequence[int]) -> bool:
    """Return True if a run decides any of these values."""
    return any(isinstance(v, Extent) for v in values)


def bound_of(value: int) -> int:
    """Return the largest that a value can be, as an Extent that depends on bounds, not on runs."""
    return sum_of([((("most", value.poly),), 1)]) if is_open(value) else value


def larger(a: int, b: int) -> int:
    """Return max(a, b), as one of them if all runs agree."""
    return _either("max", a, b)


def smaller(a: int, b: int) -> int:
    """Return min(a, b), as one of them if all runs agree."""
    return _either("min", a, b)


def exact_quotient(a: int, b: int) -> int:
    """Return a / b, which must leave no remainder: n * 6 / n is 6."""
    terms = poly_of(b)
    if len(terms) == 1:
        atoms, c = terms[0]
        rest = [(_without(m, atoms), d // c) for m, d in poly_of(a) if d % c == 0]
        if len(rest) == len(poly_of(a)) and all(m is not None for m, _ in rest):
            return sum_of(rest)
    return a // b


def dims_in(value: int) -> list[tuple[str, int]]:
    """Return (name, bound) of the run-time dims that decide a value."""
    if not isinstance(value, Extent):
        return []
    return [atom[1:] for atom in _atoms(value.poly)]


def poly_of(value: int) -> tuple:
    """Return the polynomial ((atoms, coefficient), ...) of an Extent or a number."""
    if isinstance(value, Extent):
        return value.poly
    return (((), int(value)),) if value else ()


def sum_of(*polys: Iterable) -> int:
    """Return the sum of polynomials, a plain int if no atom is rest."""
    coefficients: dict[tuple, int] = {}
    for atoms, c in itertools.chain(*polys):
        coefficients[atoms] = coefficients.get(atoms, 0) + c
    terms = tuple(sorted(((m, c) for m, c in coefficients.items() if c), key=repr))
    if all(not m for m, _ in terms):
        return sum(c for _, c in terms)
    low, high = _range(terms)
    result = Extent(high)
    result.poly, result.least = terms, low
    return result


def most_of(poly: tuple) -> int:
    """Return the largest value of a polynomial."""
    return _range(poly)[1]


def ends_of(value: int) -> tuple[int, int]:
    """Return the smallest and the largest value in the model, even for an Extent of its twin.

    Choices by these values are the same for the model and its twin.
    """
    return _range(poly_of(value), of_model=True)


def planned(value: int) -> int:
    """Return the largest value in the model, by which to choose kernels."""
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
    """Return a // b, with multiples of a constant b divided exactly."""
    if isinstance(b, Extent):
        return sum_of([((("/", poly_of(a), poly_of(b)),), 1)])
    whole = [(m, c // b) for m, c in poly_of(a) if c % b == 0]
    rest = sum_of([(m, c) for m, c in poly_of(a) if c % b])
    if not isinstance(rest, Extent):
        return sum_of(whole, poly_of(rest // b))
    return sum_of(whole, [((("/", rest.poly, poly_of(b)),), 1)])


def _either(kind, a, b):
    """Return the larger or smaller of two values: a or b itself if all runs agree."""
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
    """Return a product of atoms divided by another one, None if the division is not exact."""
    rest = list(atoms)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _atoms(poly):
    """Yield all dims in a polynomial, except those that count only by their bounds."""
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
