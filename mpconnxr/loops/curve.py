"""Functions of float32 by polynomials, on the bits. Written once, for Python and viper.

x, out  float32 as words; may be the same memory
w       segments of 7 words: kind, then coefficients of t**5 to t**0, each + 2**30
p       lo, hi: range of items; segments of 2**t; for x >= 0, and again for x < 0: bits of the
        floats, without the sign, from which segments begin, from which they end, and from which
        on |out| is the limit; the first segment; slope of log2(|out|); bits behind the point of
        |x| for it; 1: out is negative, 2: the slope is; bits of the limit

An octave has 4 segments, cut by the two highest bits of the mantissa; t goes from 0 to 1 in each.
One more is before them, from 0 on, and one behind, where t is 0. A segment's polynomial a(t) is of

    kind % 4   0: y = |out|         2: y = |out| / |x|         a = y * 2**(30 + 512 - kind // 4)
               1: y = log2(|out|)   3: y = log2(|out| / |x|)
                                           a = (y - slope * |x|) * 2**(22 + kind // 4)

A product of a and t of 21 bits is cut off, once: three products make it, of 11 bits of t with all
but the last 10 of a, of 10 bits with these, and of t with those 10.
What comes from a file may be anything: shifts are bounded, and places follow from x alone.
"""

from ._floats import first_bit
from ._hints import far


def curve32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[1] - p[0]
        ends = [p[i + 3] + max(p[i + 1] - p[i], 0) // 2097152 + 1 for i in (3, 11)]
        reads x[p[0] : p[1]]
        reads w[0 : 7 * (max(ends) + 1)] if n > 0
        reads w[7 * p[2] : 7 * p[2] + 28] if n > 0
        reads p[3 : 19] if n > 0
        writes out[p[0] : p[1]]
    """
    i, top = p[0], 1  # kept from the folding of constants, which makes big integers of them
    unit, ones = top << 30, (top << 21) - 1
    top = top << 31
    infinity = top - 1 - 0x7FFFFF
    while far(i < p[1]):
        h = 11 if (x[i] >> 31) & 1 else 3
        g = x[i] & (top - 1)
        a = p[h + 7]
        if g < p[h + 2]:
            m, e = g & 0x7FFFFF, g >> 23
            m, e = first_bit(m, e)
            a, t, j = p[h], p[h + 1], p[h + 3]
            t = min(t, g)
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
                b = p[h + 4]
                if b:
                    s = 156 - p[h + 5] - e
                    t = ((m << 6) + (1 << s >> 1)) >> s if s < 31 else 0
                    low, high, s, t = b & 32767, b >> 15, t & 32767, t >> 15
                    s = (s * high + (s * low >> 15) + t * low >> 15) + t * high
                    if p[h + 6] & 2:
                        s = 0 - s
                    a += s
                s, t = a >> 22, a << 1
                j = (p[2] + ((a >> 20) & 3)) * 7
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
        if p[h + 6] & 1:
            a -= top
        if g > infinity:
            a = infinity | 0x400000
        out[i] = a
        i += 1
