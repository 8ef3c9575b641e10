"""Sums of float32 along the middle axis of (outer, n, inner). Plain form.

x, out  float32 as words
p       lo, hi: range of outputs; n (not 0), inner, power (0: of x, 1: of abs(x), 2: of x * x),
        bits of n beyond 15

Sums are of integers: of each item (of 30 bits, a square cut to that) what is within 45 bits of the
largest, or fewer by the bits of n beyond 15. They are rounded once, to nearest, ties to even. One
NaN, 0x7FC00000; a sum of inf and -inf is one, too.
"""

_TOP = 1 << 31
_INFINITY = 0x7F800000
_NAN = 0x7FC00000


def sum32(x, w, out, p):
    """
    Access:
        n, inner = p[2], max(p[3], 1)
        low, high = p[0] // inner * n * inner, ((p[1] - 1) // inner + 1) * n * inner
        reads x as int32[low : high] if p[0] < p[1]
        writes out as int32[p[0] : p[1]]
    """
    o = p[0]
    while o < p[1]:
        first = o // p[3] * p[2] * p[3] + o % p[3]
        end = first + p[2] * p[3]
        most = _largest(x, first, end, p[3])
        if most >= _INFINITY:
            out[o] = _special(x, first, end, p)
        else:
            most = most >> 23 or 1
            total = _total(x, first, end, p, most)
            e = most + most - 171 if p[4] == 2 else most - 45
            out[o] = _rounded(total, e + p[5])
        o += 1


def _largest(x, i, end, stride):
    most = 0
    while i < end:
        m = x[i] & 0x7FFFFFFF
        if m > most:
            most = m
        i += stride
    return most


def _special(x, i, end, p):
    found = 0
    while i < end:
        v = x[i]
        m = v & 0x7FFFFFFF
        if m > _INFINITY:
            found |= 1
        elif m == _INFINITY:
            found |= 4 if v < 0 and p[4] == 0 else 2
        i += p[3]
    if found == 2:
        return _INFINITY
    return _INFINITY - _TOP if found == 4 else _NAN


def _total(x, i, end, p, most):
    """In units of 2**-45 of 2**(most + 1), of its square for squares."""
    total = 0
    power, stride, less = p[4], p[3], p[5]
    while i < end:
        v = x[i]
        m = v & 0x7FFFFF
        s = v >> 23 & 255
        if s:
            m |= 0x800000
            s = most - s
        else:
            s = most - 1
        if power == 2:
            total += m * m >> 18 << 15 >> s + s + less
        elif v < 0 and power == 0:
            total -= m << 21 >> s + less
        else:
            total += m << 21 >> s + less
        i += stride
    return total


def _rounded(total, e):
    """The bits of total, which has the exponent e + its number of bits."""
    m = abs(total)
    n, s = 0, 32
    while s:
        if m >> n + s:
            n += s
        s >>= 1
    n += 1
    e += n
    s = n - 24 if e > 0 else n - 23 - e
    half = 1 << s >> 1 if s > 0 else 0
    rest = m & (1 << s) - 1 if s > 0 else 0
    m = m >> s if s > 0 else m << 0 - s
    if rest > half or half and rest == half and m & 1:
        m += 1
    if m and e > 0:
        m += (e - 1) << 23
    if e > 254:
        m = _INFINITY
    return m - _TOP if total < 0 else m
