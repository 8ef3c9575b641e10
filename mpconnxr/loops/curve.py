"""Functions of float32 by polynomials, on the bits. Written once, for Python and viper.

x       float32 as words;  out  of curve32: as x; of place32: p
w       segments of 7 words: kind, then coefficients of t**5 to t**0, each + 2**30
p       lo, hi: range of items, at most as many as there is room behind for; segments of 2**t; for
        x >= 0, and again for x < 0: bits of the floats, without the sign, from which segments
        begin, from which they end, and from which on |out| is the limit; the first segment; slope
        of log2(|out|); bits behind the point of |x| for it; 1: out is negative, 2: the slope is;
        bits of the limit
        from p[19] on what place32 finds: for each item its t of 21 bits + segment * 2**21, and if
        p[7] or p[15] is not 0, behind all of these, 2**30 + slope * |x| * 2**22

An octave has 4 segments, cut by the two highest bits of the mantissa; t goes from 0 to 1 in each.
One more is before them, from 0 on, and one behind, where t is 0. A segment's polynomial a(t) is of

    kind % 4   0: y = |out|         2: y = |out| / |x|         a = y * 2**(30 + 512 - kind // 4)
               1: y = log2(|out|)   3: y = log2(|out| / |x|)
                                           a = (y - slope * |x|) * 2**(22 + kind // 4)

What comes from a file may be anything: shifts are bounded, and places follow from x alone.

Made from tools/loops/common/curve.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def place32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Where each item is, for curve32.

    Access:
        n = p[1] - p[0]
        reads x[p[0] : p[1]]
        reads p[3 : 19] if n > 0
        writes out[19 : 19 + (2 * n if p[7] or p[15] else n)]
    """
    i = p[0]
    k = 19
    n = p[1] - i
    unit = 1  # kept from the folding of constants, which makes big integers of them
    mask = (unit << 31) - 1
    unit = unit << 30
    while i < p[1]:
        h = 11 if (x[i] >> 31) & 1 else 3
        g = x[i] & mask
        if g < p[h + 2]:
            m = g & 0x7FFFFF
            e = g >> 23
            if e:
                m = m | 0x800000
            else:
                e = 1
            t = (g if g < p[h + 1] else p[h + 1]) - p[h]
            if t < 0:
                s = (p[h] >> 23) - e + 2
                t = (m + (1 << (s - 1))) >> s if s < 26 else 0
                if t >> 21:
                    t = 0x1FFFFF
            else:
                t += 1 << 21
            out[k] = t + (p[h + 3] << 21)
            b = p[h + 4]
            if b:
                s = 156 - p[h + 5] - e
                t = ((m << 6) + (1 << s >> 1)) >> s if s < 31 else 0
                a = b & 32767
                b = b >> 15
                s = t & 32767
                t = t >> 15
                s = ((s * b + (s * a >> 15) + t * a >> 15) + t * b)
                if (p[h + 6] & 2):
                    s = 0 - s
                out[k + n] = unit + s
            elif p[7] or p[15]:
                out[k + n] = unit
        i += 1
        k += 1


@micropython.viper
def curve32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[1] - p[0]
        ends = [p[i + 3] + max(p[i + 1] - p[i], 0) // 2097152 + 1 for i in (3, 11)]
        places = [p[i] // 2097152 for i in range(19, 19 + n)]
        given place32 has left its places in p
        reads x[p[0] : p[1]]
        reads w[0 : 7 * (max(ends + places) + 1)] if n > 0
        reads w[7 * p[2] : 7 * p[2] + 28] if n > 0
        reads p[3 : 19 + (2 * n if p[7] or p[15] else n)] if n > 0
        writes out[p[0] : p[1]]
    """
    i = p[0]
    k = 19
    n = p[1] - i
    unit = 1
    top = unit << 31
    unit = unit << 30
    infinity = top - 1 - 0x7FFFFF
    while True:
        if i >= p[1]:
            break
        h = 11 if (x[i] >> 31) & 1 else 3
        g = x[i] & (top - 1)
        a = p[h + 7]
        if g < p[h + 2]:
            t = p[k]
            j = (t >> 21) * 7
            s = 0
            kind = w[j]
            while True:
                t = t & 0x1FFFFF
                last = j + 6
                j += 1
                a = w[j] - unit
                low = t & 63
                t = t >> 6
                while j < last:
                    j += 1
                    b = a >> 15
                    a = a & 32767
                    a = ((b * low << 9) + (a * low >> 6) + a * t >> 15) + b * t + w[j] - unit
                if kind & 1 == 0:
                    break
                s = (kind >> 2) & 31
                a = (a + (1 << s >> 1)) >> s
                if p[7] or p[15]:
                    a += p[k + n] - unit
                s = a >> 22
                t = (a << 1) & 0x7FFFFF
                j = (p[2] + (t >> 21)) * 7
                kind = (kind & 2) | (w[j] & 4092)
            s += ((kind >> 2) & 1023) - 512 + 126
            if kind & 2:
                t = g & 0x7FFFFF
                if g >> 23:
                    t = t | 0x800000
                    s += (g >> 23) - 126
                else:
                    s -= 125
                b = a >> 15
                a = a & 32767
                low = t & 511
                t = t >> 9
                a = ((b * low << 6) + (a * low >> 9) + a * t >> 15) + b * t
            a = a & (unit - 1) if a > 0 else 0
            while a < 1 << 29 and s > 1 and a:
                a = a << 1
                s -= 1
            b = 6
            if s < 1:
                b = 7 - s
                s = 1
                if b > 30:
                    b = 6
                    a = 0
            elif a == 0:
                s = 1
            a = ((a + (1 << b >> 1)) >> b) + ((s - 1) << 23) if s < 255 else infinity
        if p[h + 6] & 1:
            a -= top
        if g > infinity:
            a = infinity | 0x400000
        out[i] = a
        i += 1
        k += 1
