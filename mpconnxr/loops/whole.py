"""Abs, Neg, Sign, Floor, Ceil and Round of float32 on the bits, exact. Written once.

x, out  float32 as words; may be the same memory;  w is not read
p       lo, hi: range of items; 0 abs, 1 neg, 2 sign, 3 floor, 4 ceil, 5 round (half to even)

One NaN, 0x7FC00000. What rounds to zero keeps its sign; the sign of -0 is 0.
"""

from ._words import bit


def whole32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    top = bit(31)
    infinity = top - 1 - 0x7FFFFF
    for i in range(p[0], p[1]):
        m = x[i]
        sign, m = (m >> 31) & 1, m & (top - 1)
        e, op = m >> 23, p[2]
        if m > infinity:
            m, sign = infinity | 0x400000, 0
        elif op == 0:
            sign = 0
        elif op == 1:
            sign ^= 1
        elif op == 2:
            if m:
                m = 127 << 23
            else:
                sign = 0
        elif e < 150:
            s = 150 - e
            if s > 23:  # below 1
                a = 1 if m else 0
                if op == 5:
                    a = 1 if e == 126 and m & 0x7FFFFF else 0
                elif sign != 4 - op:
                    a = 0
                m = (127 << 23) * a
            else:
                b = 1 << s >> 1
                a = m & (b + b - 1)
                m -= a
                if op == 5:
                    if a == b and (s == 23 or (m >> s) & 1):
                        a += 1
                    a = 1 if a > b else 0
                elif sign != 4 - op:
                    a = 0
                if a:
                    m += b + b
        if sign:
            m -= top
        out[i] = m
