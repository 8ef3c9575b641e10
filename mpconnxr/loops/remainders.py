"""Remainders of float32, exact, on the bits.

x, w and out hold float32 as words, in rows as in loops/add. A remainder has the sign of x (of a
truncated quotient), or the sign of w (of a floored one).
"""

from ._floats import add, first_bit, significand, unpack
from ._hints import inline
from ._words import _OUT_START, _W_START, _X_START, bit, pairs

# Parameters of remainder32: as _words.pairs
_HAS_SIGN_OF_W = const(9)  # a remainder has the sign of w, not that of x [flag] 0, 1


@inline
def rest_of(a, b):
    """Return a modulo b, from the magnitude bits of two floats, a >= b.

    Temporaries: m, e, n, d.
    """
    m, e = unpack(a)
    m, e = significand(m, e)
    n, d = unpack(b)
    n, d = significand(n, d)
    if m >= n:
        m -= n
    e -= d
    while e > 6:
        m = (m << 6) % n
        e -= 6
    m = (m << e) % n
    while m and m < 1 << 23 and d > 1:
        m = m << 1
        d -= 1
    while m and d < 1:
        m = m >> 1
        d += 1
    a = m + ((d - 1) << 23) if m else 0
    return a, m, e, n, d


@inline
def difference(a, b):
    """Return b - a rounded to even, from the magnitude bits of two floats, a < b.

    Temporaries: m, e, n, d, sign, rest.
    """
    m, e = unpack(b)
    m, e = first_bit(m, e)
    n, d = unpack(a)
    n, d = first_bit(n, d)
    m, n, d = m << 3, n << 3, min(e - d, 27)
    sign = 0
    m, e, sign, n, rest = add(m, e, sign, n, d, 1)
    while e < 1:
        m = m >> 1
        e += 1
    a = m + ((e - 1) << 23)
    return a, m, e, n, d, sign, rest


def remainder32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Access: as ints.larger32"""
    top = bit(31)
    infinity = top - 1 - 0x7FFFFF
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    for i, j, k, end, last in pairs(i, j, k, p):
        a, b = x[i], w[j]
        sign, sign_of_b = (a >> 31) & 1, (b >> 31) & 1
        a, b = a & (top - 1), b & (top - 1)
        if a >= infinity or b > infinity or b == 0:
            a, sign = infinity | 0x400000, 0
        else:
            if a >= b:
                a, m, e, n, d = rest_of(a, b)
            if p[_HAS_SIGN_OF_W] and sign != sign_of_b:
                sign = sign_of_b
                if a and b == infinity:
                    a = b
                elif a:
                    a, m, e, n, d, s, rest = difference(a, b)
        if sign:
            a -= top
        out[k] = a
