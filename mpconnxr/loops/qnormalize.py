"""Rows of quantized bytes with mean 0 and variance 1. Written once, for Python and viper.

roots8

    x    bytes (rows, n);  w  the factors and summands of normalized8
    out  first w, then four words a row: m, about the mean; R, 23 bits of 2**a / deviation; what
         the mean has beside m, times R, + 2**29; 32 + by how many bits products with R are shifted
         to the right, less than 32: to the left
    p    lo, hi (range of rows), n (1 to 32767), flip, 37 - a - b, epsilon times n * n: 30 bits
         (the first one is set, or all are 0), 1024 + its exponent; b, bits of n - 1; of 1 / n 16
         bits, what sums are shifted by to the right before they are multiplied by it, and after

    V = n * sum((x - m) ** 2) - sum(x - m) ** 2 is exact; deviation = sqrt(V + p[5] * 2**e) / n

normalized8

    x, out  bytes (rows, n);  w  two words for each of the n items: a factor G, up to 2**30,
            + 2**30, and a summand B, up to 2**29, + 2**29; then those of each row
    p       lo, hi, n, flip, bits behind the point F

    v = ((x - m) * R - rest) >> shift, up to 2**25: (x - mean) / deviation * 2**a
    out = limited((v * G / 2**27 + B) >> F)

limited to 0 .. 255. Signed bytes are made unsigned by flip, also those of out. v * G is a product
of 55 bits, cut off to 28.
"""

from ._hints import inline, undefined
from ._words import swap, times_multiplier


@inline
def bits_of(v, low, e, step):
    """Return v with bits of low, 30 behind those of v, moved to it while it has less than 30.

    low: what is left of it; e: the exponent of v.
    """
    while v < 1 << (30 - step):
        v = (v << step) | (low >> (30 - step))
        low = (low << step) & 0x3FFFFFFF
        e -= step
    return v, low, e


@inline
def product(a, b, p):
    """Return a * b >> p[7]: as many bits as p[7], and 23. more: room."""
    more = undefined
    if p[7] > 7:
        more = a * (b >> 8) + (a * (b & 255) >> 8)
        a = more >> (p[7] - 8)
    else:
        a = a * b >> p[7]
    return a, more


def roots8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, n = p[0:3]
        requires n and lo < hi
        reads x[lo * n : hi * n]
        reads w[0 : 2 * n]
        writes out[0 : 2 * n + 4 * (hi - lo)]
    """
    flip, n, o = p[3], p[2], 2 * p[2]
    for i in range(o):
        out[i] = w[i]
    for row in range(p[0], p[1]):
        first, total, squares = row * n, 0, 0
        end = first + n
        for i in range(first, end):
            total += x[i] ^ flip
        mean = ((total + (n >> 1)) >> p[9]) * p[8] >> p[10]
        total -= n * mean
        for i in range(first, end):
            v = (x[i] ^ flip) - mean
            squares += v * v
        low = n * (squares & 32767) - total * total
        v = n * (squares >> 15) + (low >> 15)
        low = ((v & 32767) << 15) | (low & 32767)
        v = v >> 15
        a = rest = shift = 0
        if v or low:
            e = 30
            v, low, e = bits_of(v, low, e, 6)
            v, low, e = bits_of(v, low, e, 1)
            a, b = p[5], p[6] - 1024
            if b > e:
                a, v, c = swap(a, v)
                b, e, c = swap(b, e)
            if e - b < 30:
                v += a >> (e - b)
            if v >> 30:
                v = v >> 1
                e += 1
            if e & 1:
                v = v >> 1
                e += 1
            b = c = 0  # the root of v * 2**16, two bits of that at a time
            for k in range(23, 0, -1):
                c = (c << 2) | (v >> 28)
                v = (v << 2) & 0x3FFFFFFF
                b = b << 1
                if c > b + b:
                    c -= b + b + 1
                    b += 1
            a, c = 0, 1 << 22
            for k in range(23, 0, -1):
                c, a = c << 1, a << 1
                if c >= b:
                    c -= b
                    a += 1
            shift = min(p[4] + (e >> 1), 30)
            rest = total
            rest, b = product(rest, a, p)
            b, c = n, a
            b, a = product(b, c, p)
            a = b
        out[o] = mean
        out[o + 1] = a
        out[o + 2] = (1 << 29) + rest
        out[o + 3] = 32 + shift
        o += 4


def normalized8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        lo, hi, n = p[0:3]
        requires n and lo < hi
        reads x[lo * n : hi * n]
        reads w[0 : 2 * n + 4 * (hi - lo)]
        writes out[lo * n : hi * n]
    """
    flip, point, bias = p[3], p[4], 1 << 29
    i, of_row = p[0] * p[2], 2 * p[2]
    for rows in range(p[1] - p[0], 0, -1):
        o = of_row
        of_row += 4
        mean, root, rest, right = w[o], w[o + 1], w[o + 2] - bias, w[o + 3] - 32
        left = 0
        if right < 0:
            left, right = 0 - right, 0
        half = 1 << right >> 1
        end, o = i + p[2], 0
        while i < end:
            v = ((((x[i] ^ flip) - mean) * root - rest << left) + half) >> right
            high, low = (w[o] >> 15) - 32768, w[o] & 32767
            v, more, low, part = times_multiplier(v, high, low)
            v = min(max((v + w[o + 1] - bias) >> point, 0), 255)
            out[i] = v ^ flip
            o += 2
            i += 1
