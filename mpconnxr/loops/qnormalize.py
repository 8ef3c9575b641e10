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

Made from tools/loops/common/qnormalize.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def roots8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, n = p[0:3]
        requires n and lo < hi
        reads x[lo * n : hi * n]
        reads w[0 : 2 * n]
        writes out[0 : 2 * n + 4 * (hi - lo)]
    """
    flip = p[3]
    n = p[2]
    o = 2 * p[2]
    i = 0
    while i < o:
        out[i] = w[i]
        i += 1
    row = p[0]
    while row < p[1]:
        first = row * n
        total = 0
        squares = 0
        end = first + n
        i = first
        while i < end:
            total += x[i] ^ flip
            i += 1
        mean = ((total + (n >> 1)) >> p[9]) * p[8] >> p[10]
        total -= n * mean
        i = first
        while i < end:
            v = (x[i] ^ flip) - mean
            squares += v * v
            i += 1
        low = n * (squares & 32767) - total * total
        v = n * (squares >> 15) + (low >> 15)
        low = ((v & 32767) << 15) | (low & 32767)
        v = v >> 15
        a = 0
        rest = 0
        shift = 0
        if v or low:
            e = 30
            while v < 1 << (30 - 6):
                v = (v << 6) | (low >> (30 - 6))
                low = (low << 6) & 0x3FFFFFFF
                e -= 6
            while v < 1 << (30 - 1):
                v = (v << 1) | (low >> (30 - 1))
                low = (low << 1) & 0x3FFFFFFF
                e -= 1
            a = p[5]
            b = p[6] - 1024
            if b > e:
                c = a
                a = v
                v = c
                c = b
                b = e
                e = c
            if e - b < 30:
                v += a >> (e - b)
            if v >> 30:
                v = v >> 1
                e += 1
            if e & 1:
                v = v >> 1
                e += 1
            b = 0  # the root of v * 2**16, two bits of that at a time
            c = 0
            k = 23
            while k:
                c = (c << 2) | (v >> 28)
                v = (v << 2) & 0x3FFFFFFF
                b = b << 1
                if c > b + b:
                    c -= b + b + 1
                    b += 1
                k -= 1
            a = 0
            c = 1 << 22
            k = 23
            while k:
                c = c << 1
                a = a << 1
                if c >= b:
                    c -= b
                    a += 1
                k -= 1
            shift = p[4] + (e >> 1)
            if shift > 30:
                shift = 30
            rest = total
            if p[7] > 7:
                b = rest * (a >> 8) + (rest * (a & 255) >> 8)
                rest = b >> (p[7] - 8)
            else:
                rest = rest * a >> p[7]
            b = n
            c = a
            if p[7] > 7:
                a = b * (c >> 8) + (b * (c & 255) >> 8)
                b = a >> (p[7] - 8)
            else:
                b = b * c >> p[7]
            a = b
        out[o] = mean
        out[o + 1] = a
        out[o + 2] = (1 << 29) + rest
        out[o + 3] = 32 + shift
        o += 4
        row += 1


@micropython.viper
def normalized8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        lo, hi, n = p[0:3]
        requires n and lo < hi
        reads x[lo * n : hi * n]
        reads w[0 : 2 * n + 4 * (hi - lo)]
        writes out[lo * n : hi * n]
    """
    flip = p[3]
    point = p[4]
    bias = 1 << 29
    i = p[0] * p[2]
    of_row = 2 * p[2]
    rows = p[1] - p[0]
    while rows:
        o = of_row
        of_row += 4
        mean = w[o]
        root = w[o + 1]
        rest = w[o + 2] - bias
        right = w[o + 3] - 32
        left = 0
        if right < 0:
            left = 0 - right
            right = 0
        half = 1 << right >> 1
        end = i + p[2]
        o = 0
        while i < end:
            v = ((((x[i] ^ flip) - mean) * root - rest << left) + half) >> right
            high = (w[o] >> 15) - 32768
            low = w[o] & 32767
            part = v & 4095
            v = v >> 12
            more = part * low
            low = v * low + (more >> 12)
            part = part * high + (low >> 3)
            v = v * high + (part >> 12)
            more = ((more | part) & 4095) | (low & 7)
            v = (v + w[o + 1] - bias) >> point
            if v < 0:
                v = 0
            if v > 255:
                v = 255
            out[i] = v ^ flip
            o += 2
            i += 1
        rows -= 1
