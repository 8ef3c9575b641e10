"""Functions of float32 by piecewise polynomials, on the bits.

x and out hold float32 as words and may share memory. w holds segments of 7 words: kind, then the
coefficients of t**5 to t**0, each plus 2**30.

Segments reach from segments_start, a power of two, to segments_end. An octave has 4 of them,
selected by the two highest bits of the mantissa; t goes from 0 to 1 in each. One more segment
precedes them, from 0 on, and one follows, in which t is 0. The polynomial a(t) of a segment
represents, by

    kind % 4   0: y = |out|         2: y = |out| / |x|         a = y * 2**(30 + 512 - kind // 4)
               1: y = log2(|out|)   3: y = log2(|out| / |x|)
                                           a = (y - slope * |x|) * 2**(22 + kind // 4)

A product of a and the 21-bit t is truncated once. It is made of three products: 11 bits of t with
all but the last 10 of a, 10 bits with these, and t with those 10.

Contents of a model file may have any value: shifts are bounded, and indices depend on x only.
"""

from ._floats import first_bit
from ._hints import far

# Parameters of curve32
_START = 0  # first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_POWERS = const(2)  # first segment of 2**t [segments] 0..
_POSITIVE = const(3)  # parameters of side for x >= 0 [words x 8] 0..
_NEGATIVE = const(11)  # parameters of side for x < 0 [words x 8] 0..

# Parameters of side
_SEGMENTS_START = const(0)  # first word of side [float bits] 2**26..2130706432
_SEGMENTS_END = const(1)  # [float bits] 2**26..2130706432
_LIMIT_START = const(2)  # |x| from which on |out| is the limit [float bits] 0..2139095040
_FIRST_SEGMENT = const(3)  # the segment before all others, from 0 on [segments] 0..1022
_SLOPE = const(4)  # of log2(|out|) without its sign; 0: none [value] 0..2**30 - 1
_POINT = const(5)  # fraction bits of |x| for the slope [bits] 0..52
_SIGNS = const(6)  # 1: out is negative, 2: slope is negative [mask] 0..3
_LIMIT = const(7)  # |out| from limit_start on [float bits] 0..2139095040


def curve32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute the function of each element.

    Access:
        n = end - start
        sides = positive, negative
        last = [first + max(behind - begin, 0) // 2097152 + 1
            for begin, behind, _, first, _, _, _, _ in sides]
        reads x[start : end]
        reads w[0 : 7 * (max(last) + 1)] if n > 0
        reads w[7 * powers : 7 * powers + 28] if n > 0
        writes out[start : end]
    """
    i, top = p[_START], 1  # a variable: constant folding would make big integers
    unit, ones = top << 30, (top << 21) - 1
    top = top << 31
    infinity = top - 1 - 0x7FFFFF
    while far(i < p[_END]):
        side = _NEGATIVE if (x[i] >> 31) & 1 else _POSITIVE
        magnitude = x[i] & (top - 1)
        a = p[side + _LIMIT]
        if magnitude < p[side + _LIMIT_START]:
            m, e = magnitude & 0x7FFFFF, magnitude >> 23
            m, e = first_bit(m, e)
            a, t, j = p[side], p[side + _SEGMENTS_END], p[side + _FIRST_SEGMENT]
            t = min(t, magnitude)
            t -= a
            if t < 0:
                s = (a >> 23) - e + 2
                t = (m + (1 << s >> 1)) >> s if s < 26 else 0
                t -= t >> 21
            else:
                j += (t >> 21) + 1
            j = j * 7
            s = 0
            kind = w[j]
            while True:
                t = t & ones
                high, low, last = t >> 10, t & 1023, j + 6
                j += 1
                a = w[j] - unit
                while j < last:
                    j += 1
                    b = a >> 10
                    a = (((a & 1023) * t >> 10) + b * low >> 10) + b * high >> 1
                    a += w[j] - unit
                if kind & 1 == 0:
                    break
                s = (kind >> 2) & 31
                a = (a + (1 << s >> 1)) >> s
                b = p[side + _SLOPE]
                if b:
                    s = 156 - p[side + _POINT] - e
                    t = ((m << 6) + (1 << s >> 1)) >> s if s < 31 else 0
                    low, high, s, t = b & 32767, b >> 15, t & 32767, t >> 15
                    s = (s * high + (s * low >> 15) + t * low >> 15) + t * high
                    if p[side + _SIGNS] & 2:
                        s = 0 - s
                    a += s
                s, t = a >> 22, a << 1
                j = (p[_POWERS] + ((a >> 20) & 3)) * 7
                kind = (kind & 2) | (w[j] & 4092)
            s += ((kind >> 2) & 1023) - 386
            if kind & 2:
                s += e - 126
                b, a, low, t = a >> 15, a & 32767, m & 511, m >> 9
                a = ((b * low << 6) + (a * low >> 9) + a * t >> 15) + b * t
            a = max(a, 0)
            while a < 1 << 29 and s > 1:
                a = a << 1
                s -= 1
            if s > 254:
                a = infinity
            elif s > 0:
                a = ((a + 32) >> 6) + ((s - 1) << 23)
            else:
                s = 7 - s
                a = (a + (1 << s >> 1)) >> s if s < 31 else 0
        if p[side + _SIGNS] & 1:
            a -= top
        if magnitude > infinity:
            a = infinity | 0x400000
        out[i] = a
        i += 1
