"""Natural logarithms of float32, on the bits.

x and out hold float32 as words and may share memory. w is not read.

x = m * 2**e with m from sqrt(1/2) to sqrt(2), and log(m) = 2 * s * (1 + s**2 / 3 + s**4 / 5 + ...)
with s = (m - 1) / (m + 1). Results are within 5e-7 of the exact value, also near 1: -inf for 0,
0x7FC00000 for NaN and negative numbers.
"""

from ._floats import normalize, significand, unpack
from ._hints import far
from ._words import bit, quotient

# Parameters of log32
_START = const(0)  # first element [elements] 0..
_END = const(1)  # end, exclusive [elements] 0..


def log32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute the logarithm of each element.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    top = bit(31)
    infinity = top - 1 - 0x7FFFFF
    third = 357913941  # 30 fraction bits, like z, t and u below
    i = p[_START]
    while far(i < p[_END]):
        v = x[i]
        m, e = unpack(v)
        if e == 0 and m == 0:
            out[i] = infinity - top
            i += 1
            continue
        if (v >> 31) & 1 or e == 255:
            out[i] = infinity | 0x400000 if (v >> 31) & 1 or m else infinity
            i += 1
            continue
        m, e = significand(m, e)
        v = 1 << 23
        if m > 11863283:
            v = 1 << 24
            e += 1
        sign, b, a = 0, m + v, m - v
        if a < 0:
            a, sign = 0 - a, 1
        e -= 127
        shift = result = 0
        if a:
            while a < b:
                a = a << 1
                shift += 1
            n = 29
            result, a, n = quotient(result, a, b, n)
            s = result >> (shift - 2)
            z, s = s & 16383, s >> 14
            z = (s * s >> 2) + (s * z >> 15)
            a = z >> 10
            t = 119304647 + (11915 * a >> 7)  # 1 / 9, 1 / 11
            t = 153391689 + ((t >> 13) * a >> 7)
            t = 214748365 + ((t >> 13) * a >> 7)
            t = third + ((t >> 13) * a >> 7)
            u = ((t >> 14) * a >> 6) + ((t >> 14) * (z & 1023) >> 16) + ((t & 16383) * a >> 20)
            s = result >> 14
            result += (
                (s * (u >> 9) >> 7) + (s * (u & 511) >> 16) + ((result & 16383) * (u >> 9) >> 21)
            )
        a = 129 - shift
        if e:
            result = (result + (1 << (shift + 3))) >> (shift + 4)
            if e < 0:
                e = 0 - e
                sign ^= 1
                b = 1
            else:
                b = 0
            n = e * 5814539 + (e * 64244 >> 16)
            result = n - result if sign else n + result
            sign, a = b, 133
        if result:
            result, a = normalize(result, a, 29)
            result = ((result + 32) >> 6) + ((a - 1) << 23)
            if sign:
                result -= top
        out[i] = result
        i += 1
