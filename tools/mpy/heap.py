"""Estimate the heap that a .mpy file takes once it is imported, by its contents.

Sizes are those of MicroPython 1.25 with words of 32 bits, whose heap has blocks of 16 bytes:
py/persistentcode.c says what an import allocates, py/qstr.c what a name takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import firmware, native

_WORD, _BLOCK = 4, 16
_FUN_TABLE_TO_ELLIPSIS = range(5)  # kinds of constants that all firmware has
_STR, _BYTES, _INT, _TUPLE = 5, 6, 7, 10
_BYTECODE, _NATIVE, _VIPER, _ASSEMBLER = range(4)
_MAX_DIGITS = 9  # of an integer that fits a word
_OBJECT = _BLOCK  # a function, a module, a number, the head of a string or a dict: one block
# A name has pointer, hash and length in a pool; a new pool is as large as all before it.
_IN_POOL, _POOL_SLACK = 7, 1.35
_PER_GLOBAL, _GLOBALS_SLACK, _OWN_GLOBALS = 8, 1.3, 4
# Names in firmware that no program can define.
_OTHERS = "+ - . , 0 < ? <dictcomp> <lambda> <listcomp> <genexpr> <module>"
_KNOWN = frozenset((*firmware.names(), *_OTHERS.split()))


@dataclass(frozen=True)
class Imported:
    """Heap of an imported module.

    Attributes:
        nbytes: bytes that stay as long as the module, without names.
        names: names that no firmware has, which stay for ever.
    """

    nbytes: int
    names: frozenset[str]


def imported(mpy: bytes, in_place: bool = False) -> Imported:
    """Return the heap that importing a .mpy file takes for good.

    Args:
        mpy: the file's bytes.
        in_place: bytecode, strings and names stay in flash.
    """
    return _Reader(mpy, in_place).module()


def names_nbytes(names: Iterable[str], in_place: bool = False) -> int:
    """Return the bytes of heap that names take.

    Args:
        names: names that no firmware has, each once.
        in_place: their characters stay in flash.
    """
    each = [0 if in_place else len(name.encode()) + 1 for name in names]
    return sum(each) + round(_POOL_SLACK * _IN_POOL * len(each))


def blocks(nbytes: int) -> int:
    """Return a size rounded up to whole blocks of the heap [bytes]."""
    return -(-nbytes // _BLOCK) * _BLOCK


class _Reader(native.Parser):
    """Add up the heap of all parts of a .mpy file."""

    def __init__(self, mpy: bytes, in_place: bool):
        super().__init__(mpy)
        self._in_place, self._n_globals = in_place, 0

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
            return 2 * _OBJECT if length > _MAX_DIGITS else 0
        return _OBJECT

    def _function(self, depth: int) -> int:
        """Return the heap of a function and of the functions in it.

        The body of a module (depth 0) is freed once it has run. A function in a module is an
        object; a function in a function stays as the code from which objects are made.
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
