"""Products of float32 by their bits, rounded to even. Written once, in the common subset.

    x    float32 as words: a factor at p[0];  w  float32 as words;  out  float32 as words
    p    first item of x, items of w, mask of the bits without the sign

A product too small for a normal float32 is 0, one too large infinite.
"""


def scales32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + 1]
        reads w[0 : p[1]]
        writes out[0 : p[1]]
    """
    i = p[0]
    s = x[i]
    for i in range(p[1]):
        v = w[i]
        e = ((s >> 23) & 255) + ((v >> 23) & 255) - 127
        a = ((s >> 12) & 2047) | 2048
        b = ((v >> 12) & 2047) | 2048
        low = (s & 4095) * (v & 4095)
        rest = a * (v & 4095) + b * (s & 4095) + (low >> 12)
        m = a * b + (rest >> 12)
        rest = ((rest & 4095) << 12) | (low & 4095)
        if m >> 23:
            e += 1
            rest = (rest >> 1) | (rest & 1)
        else:
            m, rest = (m << 1) | (rest >> 23), rest & 8388607
        low = 1 << 22
        if rest > low or (rest == low and m & 1):
            m += 1
        m -= low << 1
        if e < 1 or ((s >> 23) & 255) == 0 or ((v >> 23) & 255) == 0:
            e = m = 0
        m += e << 23
        low = p[2]
        if m < 0 or m > low - 8388607:
            m = low - 8388607
        if ((s ^ v) >> 31) & 1:
            m = m - low - 1
        out[i] = m
