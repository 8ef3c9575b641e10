"""Decode Thumb instructions as far as their time depends on it (ARMv7-M ARM, chapter A5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

PC, LR, SP = 15, 14, 13
_WIDE = 0xE800  # least first halfword of an instruction of 32 bits
_FP = 32  # number of the register s0; r0 to r15 are 0 to 15


@dataclass(frozen=True)
class Op:
    """One instruction.

    Attributes:
        kind: key of the tables in `cores`.
        nbytes: its size, 2 or 4.
        n: words that it loads or stores.
        writes: registers that receive a result.
        uses: registers of an address or of a float sum.
        to: branch target minus the instruction's address; None if a register or memory has it.
    """

    kind: str
    nbytes: int
    n: int = 1
    writes: frozenset[int] = frozenset()
    uses: frozenset[int] = frozenset()
    to: int | None = None


def decoded(code: bytes) -> Iterator[Op]:
    """Yield the instructions of the code in order."""
    at = 0
    while at < len(code):
        first = int.from_bytes(code[at : at + 2], "little")
        if first < _WIDE:
            op = _narrow(first)
        else:
            op = _wide(first, int.from_bytes(code[at + 2 : at + 4], "little"))
        yield op
        at += op.nbytes


def _set(*registers):
    return frozenset(registers)


def _signed(value, nbits):
    return value - (1 << nbits) if value >> (nbits - 1) else value


@cache
def _narrow(i: int) -> Op:
    """Decode an instruction of 16 bits."""
    low, middle, high = i & 7, i >> 3 & 7, i >> 6 & 7
    top = i >> 11
    if i >> 10 == 0b010000:
        kind = "multiply" if i >> 6 & 15 == 13 else "data"
        compares = i >> 6 & 15 in (8, 10, 11)
        return Op(kind, 2, writes=_set() if compares else _set(low))
    if i >> 10 == 0b010001:
        return _high_registers(i)
    if top < 0b01000:  # shifts, sums, moves, comparisons
        wide_register = top >= 0b00100
        to = i >> 8 & 7 if wide_register else low
        return Op("data", 2, writes=_set() if top == 0b00101 else _set(to))
    if top == 0b01001:
        return Op("load", 2, writes=_set(i >> 8 & 7), uses=_set(PC))
    if top in (0b01010, 0b01011):
        stores = i >> 9 & 7 in (0, 1, 2)
        kind = "store indexed" if stores else "load"
        return Op(kind, 2, writes=_set() if stores else _set(low), uses=_set(middle, high))
    if top < 0b10010:
        loads = top & 1
        kind = "load" if loads else "store"
        return Op(kind, 2, writes=_set(low) if loads else _set(), uses=_set(middle))
    if top == 0b10010:
        return Op("store", 2, uses=_set(SP))
    if top == 0b10011:
        return Op("load", 2, writes=_set(i >> 8 & 7), uses=_set(SP))
    if top in (0b10100, 0b10101):
        return Op("data", 2, writes=_set(i >> 8 & 7))
    if i >> 12 == 0b1011:
        return _miscellaneous(i)
    if top == 0b11000:
        return Op("store many", 2, n=(i & 255).bit_count(), uses=_set(i >> 8 & 7))
    if top == 0b11001:
        return Op("load many", 2, n=(i & 255).bit_count(), uses=_set(i >> 8 & 7))
    if i >> 12 == 0b1101 and i >> 9 & 7 < 7:
        return Op("conditional branch", 2, to=4 + 2 * _signed(i & 255, 8))
    if top == 0b11100:
        return Op("branch", 2, to=4 + 2 * _signed(i & 0x7FF, 11))
    return Op("other", 2)


def _high_registers(i):
    kind, to = i >> 8 & 3, (i & 7) | (i >> 4 & 8)
    if kind == 3:
        return Op("indirect call" if i & 128 else "indirect branch", 2)
    if kind == 1:
        return Op("data", 2)
    return Op("move to pc" if to == PC else "data", 2, writes=_set(to))


def _miscellaneous(i):
    kind = i >> 8 & 15
    if kind & 0b0101 == 1:  # cbz, cbnz
        return Op("conditional branch", 2, to=4 + 2 * ((i >> 3 & 31) | (i >> 4 & 32)))
    if kind == 0:
        return Op("data", 2, writes=_set(SP))
    if kind in (4, 5):
        return Op("store many", 2, n=(i & 511).bit_count(), uses=_set(SP))
    if kind in (12, 13):
        n = (i & 511).bit_count()
        return Op("load many and pc" if i & 256 else "load many", 2, n=n, uses=_set(SP))
    if kind in (2, 10):
        return Op("data", 2, writes=_set(i & 7))
    if kind == 15:
        return Op("it" if i & 15 else "data", 2)
    return Op("other", 2)


@cache
def _wide(first: int, second: int) -> Op:
    """Decode an instruction of 32 bits."""
    op, n, to, d = first >> 4, first & 15, second >> 12, second >> 8 & 15
    if first >> 9 == 0b1110100:
        if op & 4:
            return _doubles(first, second)
        return _many(first, second)
    if first >> 9 == 0b1110101:  # with a shifted register
        compares = d == PC and first & 16
        return Op("data", 4, writes=_set() if compares else _set(d))
    if first >> 10 == 0b111011 or first >> 10 == 0b111111:
        return _floats(first, second)
    if first >> 11 == 0b11110:
        if second & 0x8000:
            return _branches(first, second)
        return Op("data", 4, writes=_set() if d == PC else _set(d))
    if first >> 9 == 0b1111100:
        return _single(first, second)
    if first >> 8 == 0xFA:
        return Op("data", 4, writes=_set(d))
    if first >> 7 == 0b111110110:
        accumulates = to != PC
        dsp = op & 7
        kind = "multiply" if dsp == 0 and not accumulates else "multiply and add"
        if dsp:
            kind = "dsp multiply"
        return Op(kind, 4, writes=_set(d))
    if first >> 7 == 0b111110111:
        if op & 7 in (1, 3):
            return Op("divide", 4, writes=_set(d))
        adds = op & 7 in (4, 6)
        return Op("long multiply and add" if adds else "long multiply", 4, writes=_set(to, d))
    return Op("other", 4, uses=_set(n))


def _many(first, second):
    loads, n = first & 16, second.bit_count()
    kind = "load many" if loads else "store many"
    if loads and second & 0x8000:
        kind = "load many and pc"
    return Op(kind, 4, n=n, uses=_set(first & 15))


def _doubles(first, second):
    """Decode loads and stores of two words, exclusive accesses and table branches."""
    base = first & 15
    if first & 0xFFF0 == 0xE8D0 and second & 0xF0 in (0, 16):
        return Op("table branch", 4)
    if first & 0x0120 == 0:  # exclusive
        return Op("load" if first & 16 else "store", 4, uses=_set(base))
    words = _set(second >> 12, second >> 8 & 15)
    if first & 16:
        return Op("load many", 4, n=2, writes=words, uses=_set(base))
    return Op("store many", 4, n=2, uses=_set(base))


def _single(first, second):
    """Decode loads and stores of one value."""
    base, to = first & 15, second >> 12
    indexed = base != PC and not first & 128 and not second & 0x800
    uses = _set(base, second & 15) if indexed else _set(base)
    if not first & 16:
        return Op("store indexed" if indexed else "store", 4, uses=uses)
    if to == PC:
        hint = first >> 5 & 3 != 2  # pld is a load into nothing
        return Op("data" if hint else "load pc", 4, uses=uses)
    return Op("load", 4, writes=_set(to), uses=uses)


def _branches(first, second):
    s, j1, j2 = first >> 10 & 1, second >> 13 & 1, second >> 11 & 1
    if not second & 0x1000 and not second & 0x4000:
        if first >> 7 & 7 == 7:  # the system's registers, barriers, hints
            return Op("data" if first & 0xFFF0 == 0xF3A0 else "system", 4)
        to = s << 19 | j2 << 18 | j1 << 17 | (first & 63) << 11 | (second & 0x7FF)
        return Op("conditional branch", 4, to=4 + 2 * _signed(to, 20))
    i1, i2 = 1 ^ j1 ^ s, 1 ^ j2 ^ s
    to = s << 23 | i1 << 22 | i2 << 21 | (first & 1023) << 11 | (second & 0x7FF)
    kind = "call" if second & 0x4000 else "branch"
    return Op(kind, 4, to=4 + 2 * _signed(to, 24))


def _fp_register(number, bit, double=False):
    if double:
        return _FP + 2 * number
    return _FP + 2 * number + bit


def _floats(first, second):
    """Decode instructions of the FPU (coprocessors 10 and 11, single precision)."""
    if second >> 9 & 7 != 5:
        return Op("other", 4)
    d = _fp_register(second >> 12, first >> 6 & 1)
    n = _fp_register(first & 15, second >> 7 & 1)
    m = _fp_register(second & 15, second >> 5 & 1)
    if first >> 9 & 7 == 6:  # loads and stores, two words between the cores
        return _fp_memory(first, second, d)
    if second & 16:  # between a register of each
        writes = _set(second >> 12) if first & 16 else _set(n)
        return Op("float move", 4, writes=writes)
    op = first >> 4 & 11
    if first & 0x80 and op & 11 == 8:
        return Op("float divide", 4, writes=_set(d), uses=_set(n, m))
    if first & 0x80 and op & 11 == 11:
        return _fp_others(first, second, d, m)
    if first & 0x80 or op & 3 in (0, 1):  # vfma, vfms, vfnma, vfnms; vmla, vmls, vnmla, vnmls
        return Op("float multiply and add", 4, writes=_set(d), uses=_set(d, n, m))
    return Op("float sum or product", 4, writes=_set(d), uses=_set(n, m))


def _fp_others(first, second, d, m):
    kind = first & 15
    if not second & 64:
        return Op("float move", 4, writes=_set(d))  # of a constant
    if kind == 1 and second & 128:
        return Op("float divide", 4, writes=_set(d), uses=_set(m))  # vsqrt
    if kind in (0, 1):
        return Op("float move", 4, writes=_set(d), uses=_set(m))
    if kind in (4, 5):
        return Op("float compare", 4, uses=_set(d, m))
    return Op("float sum or product", 4, writes=_set(d), uses=_set(m))  # conversions


def _fp_memory(first, second, d):
    base, n = first & 15, second & 255
    loads = first & 16
    if first & 0x1E0 == 0x40:
        return Op("float move many", 4, n=2)
    if first & 0x100 and not first & 0x20:
        double = second & 256
        if double:
            return Op("load many" if loads else "store many", 4, n=2, uses=_set(base))
        writes = _set(d) if loads else _set()
        return Op("float load" if loads else "float store", 4, writes=writes, uses=_set(base))
    return Op("load many" if loads else "store many", 4, n=n, uses=_set(base))
