"""Sums of float32 along the middle axis of x. Plain form.

x has shape (outer, length, inner). A line is the elements along its middle axis. out gets the sum
of each line. Both hold float32 as words; w is not read.

Sums are integers: of each element (30 bits; a square is truncated to that) the bits within 45 -
extra_bits bits of the largest. They are rounded once, to nearest even. NaN is 0x7FC00000, also the
sum of inf and -inf.
"""

# Parameters of sum32
_START = 0  # first output [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_LENGTH = const(2)  # of a line [elements] 1..
_INNER = const(3)  # size of the inner axis [lines] 1..
_POWER = const(4)  # 0: the sum is that of x, 1: of abs(x), 2: of x * x [exponent] 0..2
_EXTRA_BITS = const(5)  # bits of length beyond 15 [bits] 0..16

_TOP = 1 << 31
_INFINITY = 0x7F800000
_NAN = 0x7FC00000


def sum32(x, w, out, p):
    """Compute the sum of each line.

    Access:
        low, high = start // inner * length * inner, ((end - 1) // inner + 1) * length * inner
        reads x as int32[low : high] if start < end
        writes out as int32[start : end]
    """
    o = p[_START]
    while o < p[_END]:
        first = o // p[_INNER] * p[_LENGTH] * p[_INNER] + o % p[_INNER]
        end = first + p[_LENGTH] * p[_INNER]
        most = _largest(x, first, end, p[_INNER])
        if most >= _INFINITY:
            out[o] = _special(x, first, end, p)
        else:
            most = most >> 23 or 1
            total = _total(x, first, end, p, most)
            e = most + most - 171 if p[_POWER] == 2 else most - 45
            out[o] = _rounded(total, e + p[_EXTRA_BITS])
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
    specials = 0
    while i < end:
        v = x[i]
        m = v & 0x7FFFFFFF
        if m > _INFINITY:
            specials |= 1
        elif m == _INFINITY:
            specials |= 4 if v < 0 and p[_POWER] == 0 else 2
        i += p[_INNER]
    if specials == 2:
        return _INFINITY
    return _INFINITY - _TOP if specials == 4 else _NAN


def _total(x, i, end, p, most):
    """Return the sum in units of 2**-45 of 2**(most + 1), or of its square for squares."""
    total = 0
    power, stride, extra_bits = p[_POWER], p[_INNER], p[_EXTRA_BITS]
    while i < end:
        v = x[i]
        m = v & 0x7FFFFF
        shift = v >> 23 & 255
        if shift:
            m |= 0x800000
            shift = most - shift
        else:
            shift = most - 1
        if power == 2:
            total += m * m >> 18 << 15 >> shift + shift + extra_bits
        elif v < 0 and power == 0:
            total -= m << 21 >> shift + extra_bits
        else:
            total += m << 21 >> shift + extra_bits
        i += stride
    return total


def _rounded(total, e):
    """Return the float32 bits of total, where e + its number of bits is the exponent."""
    m = abs(total)
    bits, shift = 0, 32
    while shift:
        if m >> bits + shift:
            bits += shift
        shift >>= 1
    bits += 1
    e += bits
    shift = bits - 24 if e > 0 else bits - 23 - e
    half = 1 << shift >> 1 if shift > 0 else 0
    rest = m & (1 << shift) - 1 if shift > 0 else 0
    m = m >> shift if shift > 0 else m << 0 - shift
    if rest > half or half and rest == half and m & 1:
        m += 1
    if m and e > 0:
        m += (e - 1) << 23
    if e > 254:
        m = _INFINITY
    return m - _TOP if total < 0 else m
