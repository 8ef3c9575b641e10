"""Floats of bytes by one scale, by its bits. Written once, in the common subset.

    x    bytes;  w  float32 as words: the scale, positive;  out  float32 as words
    p    lo, hi: range of items; zero point, flip: an item stands for (x ^ flip) - zero point

Products are rounded to even; scales are such that they are normal floats.
"""


def dequantize8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        reads w[0 : 1]
        writes out[p[0] : p[1]]
    """
    i = 0
    s = w[i]
    for i in range(p[0], p[1]):
        m, n = (x[i] ^ p[3]) - p[2], ((s >> 23) & 255) + 6
        v = m
        m = abs(m)
        if m:
            while m < 128:
                m = m << 1
                n -= 1
            rest = m * (s & 4095)
            m = m * (((s >> 12) & 2047) | 2048) + (rest >> 12)
            rest = (rest & 4095) << 1
            if m >> 19:
                n += 1
                rest = (rest >> 1) | (rest & 1)
                m = (m << 4) | (rest >> 8)
            else:
                m = (m << 5) | (rest >> 8)
            rest = rest & 255
            if rest > 128 or (rest == 128 and m & 1):
                m += 1
            m += n << 23
            if v < 0:
                v = 1  # 1 << 31 would be folded to an object
                m = m - (v << 30) - (v << 30)
        out[i] = m
