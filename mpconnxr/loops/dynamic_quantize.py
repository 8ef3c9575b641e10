"""Range of floats, and their bytes, by their bits. Written once, in the common subset.

    x    float32 as words
    p    lo, hi: range of items; mask of the bits without the sign, bits of infinity, first item
         of out (of to_bytes and choose)

ends: out gets the largest float and the largest negative one without its sign, from lo on.
choose: x is what ends gave; out gets the scale, the zero point (an int) and the scale's inverse,
w the zero point in its first byte. What comes out too small for a normal float32 is 0, the scale
then 1.
to_bytes: w is what choose gave; out the bytes. Where the product with the inverse is too near to
the middle between two integers, a division bit by bit gives the float32 quotient.
"""

from ._floats import halve
from ._words import quotient, set_at


def ends(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[0] + 2]
    """
    high = low = 0
    for i in range(p[0], p[1]):
        v = x[i]
        bits = v & p[2]
        if bits <= p[3]:
            if (v >> 31) & 1:
                low = max(bits, low)
            elif bits > high:
                high = bits
    k = p[0]
    out[k] = high
    k += 1
    out[k] = low


def choose(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + 2]
        writes w[0:1]
        writes out[p[4] : p[4] + 3]
    """
    k = p[0]
    a = x[k]
    k += 1
    b = x[k]
    if a < b:
        a, b = b, x[k - 1]
    e = a >> 23
    d = e - (b >> 23)
    a = ((a & 8388607) | 8388608) << 3 if e else 0
    b = ((b & 8388607) | 8388608) << 3 if b >> 23 else 0
    d = min(d, 27)
    a += (b >> d) | (1 if (b >> d) << d != b else 0)
    if a >> 27:
        a = (a >> 1) | (a & 1)
        e += 1
    a = (a + 3 + ((a >> 3) & 1)) >> 3
    n, d, at = 255 << 16, 134, p[4]
    k = 0
    while k < 3:
        a, e = halve(a, e, 24)
        if a < n:
            a = a << 1
            e -= 1
        e += 127 - d
        b, q = 25, 0
        q, a, b = quotient(q, a, n, b)
        q = (q >> 1) + (1 if q & 1 and (a or q & 2) else 0)
        if e < 1:
            q = 0
        elif e > 254:
            q = p[3]
        else:
            q += (e << 23) - 8388608
        if k == 0:
            if q == 0:
                q = 127 << 23
            out[at] = q
            n, d, k = (q & 8388607) | 8388608, q >> 23, p[0] + 1
            a = x[k]
            e = a >> 23
            a = (a & 8388607) | 8388608 if e else 0
            k = 0
        elif k == 1:
            e = 150 - (q >> 23)
            if e > 25 or e < 1:
                q = 0
            else:
                q = (q & 8388607) | 8388608
                q = (q + (1 << (e - 1)) - 1 + ((q >> e) & 1)) >> e
            q = min(q, 255)
            out[at + 1] = q
            e = set_at(w, 0, q)
            a, e = 8388608, 127
        else:
            out[at + 2] = q
        k += 1


def to_bytes(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        reads w[0 : 3]
        writes out[p[4] : p[4] + p[1] - p[0]]
    """
    one, k = 1, 0
    m = (w[k] & 8388607) | (one << 23)
    s = w[2]
    r1 = ((s >> 12) & 2047) | 2048
    r0, base, i = s & 4095, 276 - ((s >> 23) & 255), p[0]
    at, zero = p[4] - i, w[1]
    while i < p[1]:
        v = x[i]
        bits = v & p[2]
        e = bits >> 23
        d = base - e
        if e == 0 or bits > p[3] or d > 26:
            q = 0
        elif d < 15:
            q = 256
        else:
            a = ((v >> 12) & 2047) | 2048
            b = v & 4095
            q = a * r1 + ((a * r0 + b * r1 + ((b * r0) >> 12)) >> 12)
            rest = (q & ((one << d) - 1)) - (one << (d - 1))
            if rest < 8 and 0 - rest < 8:
                a = (v & 8388607) | (one << 23)
                d = ((w[k] >> 23) & 255) - e + 23
                if a < m:
                    a = a << 1
                    d += 1
                q, n = 0, 25
                q, a, n = quotient(q, a, m, n)
                b = q >> 1
                if q & 1 and (a != 0 or b & 1):
                    b += 1
                q = b
            q = (q + (one << (d - 1)) - 1 + ((q >> d) & 1)) >> d
        if (v >> 31) & 1:
            q = 0 - q
        q += zero
        q = min(max(q, 0), 255)
        out[at + i] = q
        i += 1
