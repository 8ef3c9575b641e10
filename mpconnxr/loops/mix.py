"""Weighted sums of neighbours along the middle axis of (outer, n, inner), on float32's bits.

Written once, for Python and viper.

x, out  float32 as words;  w  float32 as words: weights (n_out, taps), of a sum of |w| below 2
p       lo, hi: range of rows of the output; n_in, inner, n_out, taps, first tap of each of n_out

Items count in units of 2**-29 of the largest one's power of two, weights in 2**-28; the sum is
rounded to nearest once. A weight of zero leaves its item out. One NaN, 0x7FC00000.

Made from tools/loops/common/mix.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def mix32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n_in, inner, n_out, taps = p[2:6]
        firsts = p[6 : 6 + n_out]
        first = p[0] // n_out * n_in + min(firsts)
        last = (p[1] - 1) // n_out * n_in + max(firsts) + taps - 1
        reads x[first * inner : (last + 1) * inner] if p[0] < p[1]
        reads w[0 : n_out * taps] if p[0] < p[1]
        reads p[6 : 6 + n_out]
        writes out[p[0] * inner : p[1] * inner]
    """
    top = 1
    top = top << 31
    infinity = top - 1 - 0x7FFFFF
    at = p[0] * p[3]
    row = p[0] % p[4]
    inner = p[3]
    base = p[0] // p[4] * p[2]
    line = p[0]
    while True:
        if line >= p[1]:
            break
        first = (base + p[6 + row]) * inner
        begin = row * p[5]
        end = begin + p[5]
        stop = at + inner
        while True:
            if at >= stop:
                break
            most = 1
            found = 0
            i = first
            t = begin
            while t < end:
                v = x[i]
                b = w[t]
                if b & (top - 1):
                    a = (v >> 23) & 255
                    if a == 255:
                        a = 1
                        n = 4 if v & 0x7FFFFF else 1 + (((v ^ b) >> 31) & 1)
                        found = found | n
                    if a > most:
                        most = a
                i += inner
                t += 1
            total = 0
            i = first
            t = begin
            while t < end:
                a = x[i]
                b = w[t]
                n = ((b >> 23) & 255) - 122
                v = (b & 0x7FFFFF) | 0x800000
                if n < 0:
                    n = 0 - n
                    v = (v + (1 << n >> 1)) >> n if n < 26 else 0
                else:
                    if n > 6:
                        n = 6
                    v = v << n
                n = most - ((a >> 23) & 255)
                m = a & 0x7FFFFF
                if n < most:
                    m = m | 0x800000
                else:
                    n -= 1
                m = ((m << 5) + (1 << n >> 1)) >> n if 0 - 1 < n < 30 else 0
                n = m >> 15
                m = m & 32767
                m = (n * (v >> 15) << 2) + ((n * (v & 32767) + m * (v >> 15)) >> 13)
                if ((a ^ b) >> 31) & 1:
                    m = 0 - m
                total += m
                i += inner
                t += 1
            if found:
                total = infinity
                if found == 2:
                    total -= top
                elif found > 2:
                    total = infinity | 0x400000
            elif total:
                b = 0
                if total < 0:
                    total = 0 - total
                    b = 1
                most += 1
                if total >> 30:
                    total = total >> 1
                    most += 1
                while total < 1 << 24:
                    total = total << 5
                    most -= 5
                while total < 1 << 29:
                    total = total << 1
                    most -= 1
                n = 6
                if most < 1:
                    n = 7 - most
                    most = 1
                    if n > 30:
                        n = 30
                        total = 0
                total = ((total + (1 << (n - 1))) >> n) + ((most - 1) << 23)
                if most > 254 or total > infinity:
                    total = infinity
                if b:
                    total -= top
            out[at] = total
            first += 1
            at += 1
        row += 1
        if row == p[4]:
            row = 0
            base += p[2]
        line += 1
