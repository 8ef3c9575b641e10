"""Integers of 32 bits, modulo 2**32, and truth values. Written once, in the common subset.

p    as loops/add has it, and behind it what the loop says

Both halves of a sum are computed apart: one of 32 bits has no place in a small integer.
"""

from ._hints import inline
from ._words import all_but_sign, pairs


@inline
def compared(x, i, w, j):
    """Return 1, 2 or 4: x[i] is less than w[j], equal or greater; a, b: their lower halves.

    low, high: room.
    """
    a, high, b, low = x[i], (x[i] >> 16) & 65535, w[j], (w[j] >> 16) & 65535
    a, b, high, low = a & 65535, b & 65535, high ^ 32768, low ^ 32768
    if high == low:
        high, low = a, b
    order = 2
    if high < low:
        order = 1
    if high > low:
        order = 4
    return order, a, b, low, high


def sum32(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """p[9]: 1 for differences.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[2 * p[6] : 2 * (p[6] + rows * n)]
    """
    flip = 0xFFFF if p[9] else 0
    i, j, k = p[0], p[3], p[6]
    for i, j, k, end, last in pairs(i, j, k, p):
        a, b = x[i], w[j]
        low = (a & 0xFFFF) + ((b & 0xFFFF) ^ flip) + p[9]
        high = ((a >> 16) & 0xFFFF) + (((b >> 16) & 0xFFFF) ^ flip) + (low >> 16)
        out[2 * k] = low & 0xFFFF
        out[2 * k + 1] = high & 0xFFFF


def product32(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """
    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[2 * p[6] : 2 * (p[6] + rows * n)]
    """
    i, j, k = p[0], p[3], p[6]
    for i, j, k, end, last in pairs(i, j, k, p):
        a, b = x[i], w[j]
        low = (a & 0xFFFF) * (b & 0xFFFF)
        high = (a & 0xFFFF) * ((b >> 16) & 0xFFFF) & 0xFFFF
        high += ((a >> 16) & 0xFFFF) * (b & 0xFFFF) & 0xFFFF
        high += (low >> 16) & 0xFFFF
        out[2 * k] = low & 0xFFFF
        out[2 * k + 1] = high & 0xFFFF


def quotient32(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """p[9]: 0 quotients cut towards 0, 1 what these leave, 2 what is left with the sign of w; and
    plus 4: integers without a sign. By 0 all of them are 0.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[2 * p[6] : 2 * (p[6] + rows * n)]
    """
    mask = all_but_sign()
    what, is_signed = p[9] & 3, 1 - (p[9] >> 2)
    i, j, k = p[0], p[3], p[6]
    for i, j, k, end, last in pairs(i, j, k, p):
        a, b = x[i], w[j]
        sign, sign_of_b = (a >> 31) & is_signed, (b >> 31) & is_signed
        if sign:
            a = 0 - a
        if sign_of_b:
            b = 0 - b
        half, rest = (a >> 1) & mask, a
        v = 0
        if (b >> 31) & 1:
            if (a >> 31) & 1 and a & mask >= b & mask:
                v, rest = 1, a - b
        elif b & mask:
            # a half first: what it leaves, twice, is less than 2 * b
            b = b & mask
            v = half // b
            rest = half - v * b
            rest = rest - b + rest + (a & 1)
            v += v
            if rest < 0:
                rest += b
            else:
                v += 1
        else:
            rest = 0
        if what:
            v = rest
            if what == 2 and sign != sign_of_b:
                if v:
                    v = b - v
                sign = sign_of_b
        elif sign_of_b:
            sign = 1 - sign
        if sign:
            v = 0 - v
        out[2 * k] = v & 0xFFFF
        out[2 * k + 1] = (v >> 16) & 0xFFFF


def larger32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p[9]: 1 for the smaller.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[p[6] : p[6] + rows * n]
    """
    i, j, k = p[0], p[3], p[6]
    wanted = 1 if p[9] else 4
    for i, j, k, end, last in pairs(i, j, k, p):
        order, a, b, low, high = compared(x, i, w, j)
        a = w[j]
        if order == wanted:
            a = x[i]
        out[k] = a


def compare32(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """p[9]: which of less (1), equal (2) and greater (4) are true.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[p[6] : p[6] + rows * n]
    """
    i, j, k = p[0], p[3], p[6]
    for i, j, k, end, last in pairs(i, j, k, p):
        order, a, b, low, high = compared(x, i, w, j)
        out[k] = 1 if order & p[9] else 0


def truth8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Of bytes, 0 or not. p[9], bit n: whether it is true where n of two are.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[p[6] : p[6] + rows * n]
    """
    i, j, k, flags = p[0], p[3], p[6], p[9]
    for i, j, k, end, last in pairs(i, j, k, p):
        n = 1 if x[i] else 0
        if w[j]:
            n += 1
        out[k] = (flags >> n) & 1


def not8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Of bytes from p[0] to p[1].

    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    for i in range(p[0], p[1]):
        out[i] = 0 if x[i] else 1


def one_hot32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """loops/one_hot, of indices and values that are words.

    Access:
        depth, inner = p[2:4]
        reads x[p[0] // depth * inner : ((p[1] - 1) // depth + 1) * inner] if p[0] < p[1]
        reads w[0 : 2] if p[0] < p[1]
        writes out[p[0] * inner : p[1] * inner]
    """
    depth, inner = p[2], p[3]
    k = p[0] * inner
    for row in range(p[0], p[1]):
        i, at = row // depth * inner, row % depth
        for j in range(inner):
            v = x[i]
            if (v >> 31) & 1:
                v = v + depth
            v = (v ^ at) & 0x3FFFFFFF | ((v ^ at) >> 30) & 3
            n = w[0]
            if v == 0:
                n = w[1]
            out[k] = n
            i += 1
            k += 1
