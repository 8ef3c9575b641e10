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
"""


def spread8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, n = p[0:3]
        requires n and lo < hi
        reads x[lo * n : hi * n]
        reads w[0:256]
        writes out[0 : 4 * (hi - lo)]
    """
    n, flip, o = p[2], p[3], 0
    high_k, low_k = p[4] >> 15, p[4] & 32767
    for row in range(p[0], p[1]):
        first, total, squares = row * n, 0, 0
        end = first + n
        for i in range(first, end):
            total += x[i] ^ flip
        mean = total // n
        total -= n * mean
        for i in range(first, end):
            v = (x[i] ^ flip) - mean
            squares += v * v
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
        a, b = v >> 15, v & 32767
        v = a * high_k + ((a * low_k + b * high_k + (b * low_k >> 15)) >> 15)
        if e > 0 - 20:
            v = 255 if v else 0
        else:
            e = min(0 - e, 30)
            v = (v + (1 << (e - 1))) >> e
        v = min(v + p[6], 255)
        v = w[v]
        e, v = v >> 24, v & 0x3FFFFF
        out[o] = mean
        out[o + 1] = v
        out[o + 2] = e
        out[o + 3] = (total * (v >> 7) // n << 7) + total * (v & 127) // n
        o += 4


def deviations8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        lo, hi, n = p[0:3]
        requires n and lo < hi
        reads x[lo * n : hi * n]
        reads w[0 : 4 * (hi - lo)]
        writes out[lo * n : hi * n]
    """
    flip, zero, o = p[3], p[4], 0
    i = p[0] * p[2]
    for rows in range(p[1] - p[0], 0, -1):
        mean, root, shift = w[o], w[o + 1], min(w[o + 2], 30)
        rest = w[o + 3] - (1 << shift >> 1) + mean * root
        o += 4
        end = i + p[2]
        while i < end:
            v = (((x[i] ^ flip) * root - rest) >> shift) + zero
            v = min(max(v, 0), 255)
            out[i] = v ^ flip
            i += 1
