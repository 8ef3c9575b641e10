"""What a .mpy file takes of a board's heap once it is imported, by what is in it.

Sizes are those of MicroPython 1.25 with words of 32 bits, whose heap has blocks of 16 bytes:
py/persistentcode.c says what an import makes, py/qstr.c what a name takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import firmware

_WORD, _BLOCK = 4, 16
_FUN_TABLE_TO_ELLIPSIS = range(5)  # kinds of constants that are part of any firmware
_STR, _BYTES, _INT, _TUPLE = 5, 6, 7, 10
_BYTECODE, _NATIVE, _VIPER, _ASSEMBLER = range(4)
_MOST_DIGITS = 9  # of an integer that is no object
_OBJECT = _BLOCK  # a function, a module, a number, the head of a string or a dict: one block
# A name: pointer, hash and length in a pool, which is as large as all before it when it is full.
_IN_POOL, _POOL_SLACK = 7, 1.35
_PER_GLOBAL, _GLOBALS_SLACK, _OWN_GLOBALS = 8, 1.3, 4
# Names of firmware's that no program can have.
_OTHERS = "+ - . , 0 < ? <dictcomp> <lambda> <listcomp> <genexpr> <module>"
_KNOWN = frozenset((*firmware.names(), *_OTHERS.split()))


@dataclass(frozen=True)
class Imported:
    """One imported module.

    nbytes: that stay as long as it does, without names; names: that no firmware has, which stay
    for ever.
    """

    nbytes: int
    names: frozenset[str]


def imported(mpy: bytes, in_place: bool = False) -> Imported:
    """Return what importing a .mpy file leaves on the heap.

    Args:
        mpy: the file's bytes.
        in_place: bytecode, strings and names are used where they lie in flash.

    """
    return _Reader(mpy, in_place).module()


def names_nbytes(names: Iterable[str], in_place: bool = False) -> int:
    """Return the bytes of heap that keeping these names takes.

    Args:
        names: those that no firmware has, each once.
        in_place: their characters lie in flash.

    """
    each = [0 if in_place else len(name.encode()) + 1 for name in names]
    return sum(each) + round(_POOL_SLACK * _IN_POOL * len(each))


def blocks(nbytes: int) -> int:
    """Return how much a piece of the heap takes in whole blocks."""
    return -(-nbytes // _BLOCK) * _BLOCK


class _Reader:
    """Adds up what a file makes, from its start to its end."""

    def __init__(self, mpy: bytes, in_place: bool):
        self._mpy, self._in_place = mpy, in_place
        self._at = 4  # behind magic number, version, architecture and bits of small integers
        self._n_globals = 0

    def module(self) -> Imported:
        n_names, n_constants = self._number(), self._number()
        names = [self._name() for _ in range(n_names)]
        tables = blocks(2 * n_names) + blocks(_WORD * n_constants)
        constants = sum(self._constant() for _ in range(n_constants))
        code = self._function(0)
        n = round(_GLOBALS_SLACK * self._n_globals) + _OWN_GLOBALS
        own = 2 * _OBJECT + blocks(_PER_GLOBAL * n)
        kept = frozenset(name for name in names if name and name not in _KNOWN)
        return Imported(own + tables + constants + code, kept)

    def _take(self, n: int) -> bytes:
        self._at += n
        return self._mpy[self._at - n : self._at]

    def _number(self) -> int:
        value = 0
        while True:
            [byte] = self._take(1)
            value = value << 7 | byte & 127
            if not byte & 128:
                return value

    def _name(self) -> str:
        """Return a name, "" for one that all firmware has."""
        length = self._number()
        return "" if length & 1 else self._take((length >> 1) + 1)[:-1].decode()

    def _constant(self) -> int:
        [kind] = self._take(1)
        if kind in _FUN_TABLE_TO_ELLIPSIS:
            return 0
        length = self._number()
        if kind == _TUPLE:
            elements = sum(self._constant() for _ in range(length))
            return blocks(2 * _WORD + _WORD * length) + elements
        self._take(length + (kind in (_STR, _BYTES)))
        if kind in (_STR, _BYTES):
            return _OBJECT + (0 if self._in_place else blocks(length + 1))
        if kind == _INT:
            return 2 * _OBJECT if length > _MOST_DIGITS else 0
        return _OBJECT

    def _function(self, depth: int) -> int:
        """Return the bytes of a function and those in it.

        The body of a module (depth 0) is let go of once it has run. A function in it is an object;
        one in a function stays as what its objects are made of.
        """
        kind_and_length = self._number()
        kind, length = kind_and_length & 3, kind_and_length >> 3
        self._take(length)
        nbytes = 0 if kind == _BYTECODE and self._in_place else blocks(length)
        for _ in range({_BYTECODE: 0, _ASSEMBLER: 3}.get(kind, 1)):
            self._number()
        inner = 0
        if kind_and_length & 4:
            n = self._number()
            inner = sum(self._function(depth + 1) for _ in range(n))
            if depth:
                inner += blocks(_WORD * n)
            else:
                self._n_globals = n
        return inner if depth == 0 else nbytes + _OBJECT + inner
