"""The floats at which a quantized byte changes. Written once, in the common subset.

    x    float32 as words: the scale, positive
    out  words, as loops/levels takes them: for each byte q above the least one, in order, the bits
         of the least float x with round(x / scale) + zero >= q; for q up to zero, where that is 0
         or negative, without its sign
    p    least q - zero, how many (BIAS + the first; the quotient is rounded as float32)

With k = q - zero > 0 that float is about (k - 1/2) * scale. Where k is even the quotient may be
k - 1/2 itself, and is so down to half a unit of its last place below; where k is odd it must be
more than half a unit above it. -x has the bytes of x mirrored: the levels of k <= 0 are the
floats next to those of 1 - k, on the side of 0.

Made from tools/loops/common/thresholds.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def thresholds(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[0 : 1]
        writes out[0 : p[1]]
    """
    i = 0
    e = (x[i] >> 23) & 255
    s = (x[i] & 8388607) | 8388608
    while i < p[1]:
        k = p[0] - (1 << 29) + i
        below = 0
        if k < 1:
            k = 1 - k
            below = 1
        m = 2 * k - 1
        b = 0
        while m >> b:
            b += 1
        v = m * (s & 4095)
        m = m * (s >> 12) + (v >> 12)
        v = v & 4095
        j = b - 1
        if m >> (j + 12):
            j += 1
        n = e + j - 2
        rest = ((m & ((1 << j) - 1)) << 12 | v) & ((1 << j) - 1)
        m = (m << (12 - j)) | (v >> j)
        if k & 1:
            if (((1 << j) - rest) << (25 - b)) <= s:
                m += 1
            m += 1
        elif (rest << (25 - b)) > s:
            m += 1
        out[i] = (n << 23) + m - below
        i += 1
