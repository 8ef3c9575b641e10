"""Rows of quantized bytes by their quantized variance. Written once, for Python and viper.

spread8

    x    bytes (rows, n);  w  a word for each of the 256 bytes that a variance may be: 22 bits R,
         and shift, up to 29, times 2**24
    out  four words a row: m, the mean, rounded down; R and shift of the row's variance; what the
         mean has beside m, times R
    p    lo, hi (range of rows), n (1 to 32767), flip, K, 30 bits, shift of products with it, up to
         30, zero point of the variance

    variance = limited(round(V * K) + zero), V = n * sum((x - m) ** 2) - sum(x - m) ** 2

deviations8

    x, out  bytes (rows, n);  w  what spread8 gave
    p       lo, hi, n, flip, zero point of out

    out = limited(round(((x - m) * R - rest) / 2**shift) + zero)

limited to 0 .. 255. Signed bytes are made unsigned by flip, also those of out.

Made from tools/loops/common/qdeviation.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def spread8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, n = p[0:3]
        requires n and lo < hi
        reads x[lo * n : hi * n]
        reads w[0:256]
        writes out[0 : 4 * (hi - lo)]
    """
    n = p[2]
    flip = p[3]
    o = 0
    high_k = p[4] >> 15
    low_k = p[4] & 32767
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
        mean = total // n
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
        e = 30 - p[5]  # V = v * 2**30 + low; e: by what the product is shifted to the left
        while v < 1 << 24 and e > 0 - 30:
            v = (v << 6) | (low >> 24)
            low = (low << 6) & 0x3FFFFFFF
            e -= 6
        while v < 1 << 29 and e > 0 - 30:
            v = (v << 1) | (low >> 29)
            low = (low << 1) & 0x3FFFFFFF
            e -= 1
        a = v >> 15
        b = v & 32767
        v = a * high_k + ((a * low_k + b * high_k + (b * low_k >> 15)) >> 15)
        if e > 0 - 20:
            v = 255 if v else 0
        else:
            e = 0 - e
            if e > 30:
                e = 30
            v = (v + (1 << (e - 1))) >> e
        v = v + p[6]
        if v > 255:
            v = 255
        v = w[v]
        e = v >> 24
        v = v & 0x3FFFFF
        out[o] = mean
        out[o + 1] = v
        out[o + 2] = e
        out[o + 3] = (total * (v >> 7) // n << 7) + total * (v & 127) // n
        o += 4
        row += 1


@micropython.viper
def deviations8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        lo, hi, n = p[0:3]
        requires n and lo < hi
        reads x[lo * n : hi * n]
        reads w[0 : 4 * (hi - lo)]
        writes out[lo * n : hi * n]
    """
    flip = p[3]
    zero = p[4]
    o = 0
    i = p[0] * p[2]
    rows = p[1] - p[0]
    while rows:
        mean = w[o]
        root = w[o + 1]
        shift = w[o + 2]
        if shift > 30:
            shift = 30
        rest = w[o + 3] - (1 << shift >> 1) + mean * root
        o += 4
        end = i + p[2]
        while i < end:
            v = (((x[i] ^ flip) * root - rest) >> shift) + zero
            if v < 0:
                v = 0
            if v > 255:
                v = 255
            out[i] = v ^ flip
            i += 1
        rows -= 1
