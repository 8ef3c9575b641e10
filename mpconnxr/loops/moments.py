"""Mean and variance of a row of float32 on the bits. Written once, for Python and viper.

centre    out[i] = x[i] as an integer of 29 bits and the sign, + 2**29; to p[4] the exponent of the
          largest (255: inf or nan, and nothing else), to p[5] and p[6] their mean and 28 bits
          behind it, to p[7] by how many bits what is left without it may grow
squares   out[i] = x[i] - mean, shifted so, + 2**30, x from centre; to p[8], p[9], p[10] the sum of
          the squares of 24 bits of it, in limbs of 24 bits, the highest first
inverse   to p[11] 30 bits of 1 / sqrt(sum / p[1] + epsilon), to p[12] the exponent of a product of
          x from squares with it (1024 more); 0 to p[11]: the root is 0
scaled    out[i] = x[i] * that as float32, x from squares; NaN where p[11] is 0
rows      all of them for rows p[13] to p[14], by calls, then products with a scale and sums with a
          bias. A row with inf or nan is left to loops/moments_special.

x, out  float32 as words;  w is not read
p       first item, n (1 to 32767), 1 for the mean of the row and 0 for 0, bits of epsilon; then
        what the loops hand on; of rows 15 rows until factors repeat and items of them from row to
        row, 17 parameters of mul and add, 27 how many factors there are
"""

from ._floats import first_bit, largest_bits, normalize, unpack
from ._words import (
    all_but_sign,
    bit,
    nan_bits,
    set_at,
    signed,
    split_sign,
    swap,
)


def rows(p: ptr32, w):
    """w: loops centre, squares, inverse, scaled, what computes rows with inf or nan; p; x, y; both
    as floats; the parameters of mul and add; then mul, scale; add, bias

    Access: of the loops it calls
    """
    centre, squares, inverse, scaled, special, whole = w[:6]
    x, y, floats, q = w[6], w[7], w[9], w[10]
    while p[13] < p[14]:
        first = p[13] * p[1]
        i = set_at(p, 0, first)
        i = set_at(p, 17, first)
        i = set_at(p, 20, p[13] % p[15] * p[16])
        i = set_at(p, 23, first)
        centre(x, y, y, whole)
        if p[4] == 255:
            special(whole, w)
        else:
            squares(y, y, y, whole)
            inverse(y, y, y, whole)
            scaled(y, y, y, whole)
            if p[27] > 0:
                mul, factor = w[11], w[12]
                mul(floats, factor, floats, q)
            if p[27] > 1:
                add, factor = w[13], w[14]
                add(floats, factor, floats, q)
        i = set_at(p, 13, p[13] + 1)


def centre(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1]]
        writes out[p[0] : p[0] + p[1]]
        writes p[4 : 8]
    """
    mask = all_but_sign()
    most, i = 0, p[0]
    end = i + p[1]
    most, i, v = largest_bits(most, x, i, end, mask)
    k, e = 4, most >> 23
    if e == 0:
        e = 1
    p[k] = e
    i = p[0] if e < 255 else end
    most, least, high = 0, mask, 0
    low = 0
    while i < end:
        v = x[i]
        m, s = unpack(v)
        m, s = first_bit(m, s)
        s = e - s
        m = signed(((m << 5) + (1 << s >> 1)) >> s if s < 30 else 0, (v >> 31) & 1)
        m += 1 << 29
        out[i] = m
        low += m & 32767
        high += m >> 15
        most = max(m, most)
        least = min(m, least)
        i += 1
    k += 1
    if p[2]:
        high += low >> 15
        low = ((high % p[1]) << 15) + (low & 32767)
        m = (high // p[1] << 15) + low // p[1]
        p[k] = m
        k += 1
        low = low % p[1] << 14
        p[k] = (low // p[1] << 14) + (low % p[1] << 14) // p[1]
        most = most - m if most - m > m - least else m - least
        s = 0
        while s < 23 and most < 1 << (28 - s):
            s += 1
    else:
        p[k] = 1 << 29
        k += 1
        s = 0
        p[k] = s
    k += 1
    p[k] = s


def squares(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1]]
        writes out[p[0] : p[0] + p[1]]
        writes p[8 : 11]
    """
    mean, s = p[5], p[7]
    rest = p[6] >> (28 - s)
    one = bit(30)
    high = middle = low = 0
    i = p[0]
    end = i + p[1]
    while i < end:
        v = ((x[i] - mean) << s) - rest
        out[i] = v + one
        v = abs(v)
        v = (v + 16) >> 5
        a, v = v >> 12, v & 4095
        b = a * v
        low += ((b & 2047) << 13) + v * v
        middle += a * a + (b >> 11) + (low >> 24)
        low = low & 0xFFFFFF
        high += middle >> 24
        middle = middle & 0xFFFFFF
        i += 1
    i = set_at(p, 8, high)
    i += 1
    p[i] = middle
    i += 1
    p[i] = low


def inverse(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        writes p[11 : 13]
    """
    a = p[8]  # of the sum its highest 30 bits, times 2**e
    b, c, e = p[9], p[10], 48
    while e > 0 and a < 1 << 24:
        a = (a << 1) | (b >> 23)
        b = ((b << 1) & 0xFFFFFF) | (c >> 23)
        c = (c << 1) & 0xFFFFFF
        e -= 1
    a = (a << 5) | (b >> 19)
    e -= 5
    c, a = a % p[1], a // p[1]
    e += 2 * (p[4] - 150 - p[7])
    v, k = (p[3] & 0x7FFFFF) << 6, p[3] >> 23
    if k:
        v += 1 << 29
        k -= 1
    k -= 155
    while a and a < 1 << 29:
        c, a = c << 1, a << 1
        e -= 1
        if c >= p[1]:
            c -= p[1]
            a += 1
    while v and v < 1 << 29:
        v = v << 1
        k -= 1
    if a == 0 or v and k > e:
        a, v, b = swap(a, v)
        e, k, b = swap(e, k)
    if v and e - k < 30:
        a += v >> (e - k)
    if a >> 30 or e & 1:
        a = a >> 1
        e += 1
    if e & 1:
        a = a >> 1
        e += 1
    c = 0  # the root of a * 2**24, two bits of that at a time
    b, n = 0, 27
    while n:
        n -= 1
        k = n + n - 24
        c = (c << 2) | ((a >> k if k > 0 - 1 else 0) & 3)
        b = b << 1
        if c > b + b:
            c -= b + b + 1
            b += 1
    a, c = 0, 1 << 26
    for n in range(30, 0, -1):
        c, a = c << 1, a << 1
        if c >= b and b:
            c -= b
            a += 1
    i = set_at(p, 11, a if b else 0)
    i = set_at(p, 12, 1024 + p[4] - 13 - p[7] - (e >> 1))


def scaled(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1]]
        writes out[p[0] : p[0] + p[1]]
    """
    one = 1
    top, one = one << 31, one << 30
    nan = nan_bits()
    a, b, exponent = p[11] >> 15, p[11] & 32767, p[12] - 1024
    i = p[0]
    end = i + p[1]
    while i < end:
        v = x[i] - one
        v, sign = split_sign(v)
        c = v >> 15
        v = v & 32767
        v = c * a + ((v * a + c * b + (v * b >> 15)) >> 15)
        e = exponent
        if v:
            v, e = normalize(v, e, 29)
            v = ((v + 32) >> 6) + ((e - 1) << 23) if e > 0 else 0
            if e > 254:
                v = nan - (1 << 22)
        if sign:
            v -= top
        out[i] = v if p[11] else nan
        i += 1
