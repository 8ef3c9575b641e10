"""Softmax of a line of float32 on the bits. Written once, for Python and viper.

heights         out[i] = x[i] as an integer of 29 bits and the sign, + 2**29; to p[3] the largest,
                to p[4] how many bits fewer than 22 are behind their point; 0 to p[3]: x has NaN,
                or its largest is infinite
exponentials    out[i] = exp((x[i] - p[3]) * 2**(p[4] - 22)) as float32, x from heights; to p[5]
                and p[6] their sum in limbs, units of 2**-15 and 2**-30
shares          out[i] = x[i] / sum; NaN where p[3] is 0

x, out  float32 as words;  w  of exponentials 2**(30 - i / 32) for i from 0 to 31
p       first item, end, stride of a line; then what the loops hand on

22 bits are behind the point, and fewer where what counts, all to 104 below the largest, needs more
than 7 before it. exp(-d) = 2**-k * 2**(-i / 32) * exp(-u) with u < ln(2) / 32, where exp(-u) is
1 - u + u**2 / 2 - u**3 / 6. What is too small for a normal float32 is 0.
"""

from ._floats import halve, normalize
from ._words import all_but_sign, nan_bits, set_at


def heights(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        end = p[0] + (p[1] - 1 - p[0]) // p[2] * p[2] + 1
        reads x[p[0] : end]
        writes out[p[0] : end]
        writes p[3 : 5]
    """
    mask = all_but_sign()
    infinity = mask - 0x7FFFFF
    most = 0 - infinity  # of bits without the sign, taken from 0 where there is one
    nan = 0
    for i in range(p[0], p[1], p[2]):
        v = x[i] & mask
        if v > infinity:
            nan = 1
        if (x[i] >> 31) & 1:
            v = 0 - v
        most = max(v, most)
    v = most if most > 0 else 0 - most
    if v == infinity:
        nan = 1
    s = v >> 23  # exponent of the largest; of what counts beside it, where it is negative
    if most < 0 and s > 130:
        s = s + 1 if s > 133 else 134
    point = 22
    if s > 133:
        point -= s - 133
    most = 0
    for i in range(p[0], p[1], p[2]):
        v = x[i]
        s = 150 - point - ((v >> 23) & 255)
        m = (v & 0x7FFFFF) | 0x800000
        if s > 0:
            m = (m + (1 << (s - 1))) >> s if s < 26 else 0
        else:
            m = m << (0 - s) if s > 0 - 6 else 1 << 29
        if (v >> 31) & 1:
            m = 0 - m
        m += 1 << 29
        out[i] = m
        most = max(m, most)
    i = set_at(p, 3, 0 if nan else most)
    i = set_at(p, 4, 22 - point)


def exponentials(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        end = p[0] + (p[1] - 1 - p[0]) // p[2] * p[2] + 1
        reads x[p[0] : end]
        reads w[0 : 32]
        writes out[p[0] : end]
        writes p[5 : 7]
    """
    high = middle = low = 0
    for i in range(p[0], p[1], p[2]):
        v = max(p[3] - x[i], 0)
        s = min(p[4], 29)
        r = 0
        if v >> (29 - s) == 0:
            v = v << s
            a = v >> 15
            v = v & 32767
            v = a * 23637 * 2 + ((v * 23637 + a * 3786 + (v * 3786 >> 15)) >> 14)
            k, r = v >> 22, w[(v >> 17) & 31]
            v = v & 0x1FFFF
            v = (v * 11356 + (v >> 1)) >> 14
            a = (v >> 2) * (v >> 2)
            v = (v << 2) - (a >> 17) + (((a >> 15) * (v >> 2) >> 21) * 43 >> 8)
            a = (r >> 15) * (v >> 5) + ((r & 32767) * (v >> 5) >> 15)
            r -= (a >> 4) + ((r >> 15) * (v & 31) >> 9)
            if k < 15:
                low += (r & ((1 << k) - 1)) << (15 - k)
            elif k < 46:
                low += (r >> (k - 15)) & 32767
            a = r >> k if k < 31 else 0
            middle += a & 32767
            high += a >> 15
            if r >> 30:
                r = 1 << 29
                k -= 1
            r = ((r + 32) >> 6) + ((125 - k) << 23) if k < 126 else 0
        out[i] = r
    middle += low >> 15
    i = set_at(p, 5, high + (middle >> 15))
    i = set_at(p, 6, middle & 32767)


def shares(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        end = p[0] + (p[1] - 1 - p[0]) // p[2] * p[2] + 1
        reads x[p[0] : end]
        writes out[p[0] : end]
    """
    nan = nan_bits()
    c = 0
    while p[5] >> c > 32767:
        c += 1
    total = (p[5] << (15 - c)) | (p[6] >> c)
    rest, q = 1 << 29, 0
    for n in range(30, 0, -1):
        rest, q = rest << 1, q << 1
        if rest >= total:
            rest -= total
            q += 1
    a, b = q >> 15, q & 32767
    for i in range(p[0], p[1], p[2]):
        v = x[i]
        e = (v >> 23) + 1 - c
        r = 0 if p[3] else nan
        if e > 1 and p[3]:
            v = (v & 0x7FFFFF) | 0x800000
            q, v = v & 511, v >> 9
            r = ((a * q << 6) + (b * q >> 9) + b * v >> 15) + a * v
            r, e = halve(r, e, 30)
            r, e = normalize(r, e, 29)
            r = ((r + 32) >> 6) + ((e - 1) << 23) if e > 0 else 0
        out[i] = r
