"""Quotients of float32 as bytes, by their bits. Written once, for Python and viper.

    out = limited(round(x / scale) + zero)

the quotient a float32, rounded to even, limited to 0 .. 255; then signed by flip.

    x    float32 as words;  w  float32 as words: the scale, 2**-100 to 2**101;  out  bytes
    p    lo, hi: range of items; zero, 0 to 255; flip, 0 or 128; byte for NaN; mask of the bits
         without the sign; bits of infinity

A product of 16 and 15 bits gives the quotient q to 7 bits behind the point, at most 4 units of the
last of them too low. That decides most items. Beside a middle between two integers the float does
at which the integer changes: with k > 0, it is about (k - 1/2) * scale. Where k is even the
quotient may be k - 1/2 itself, and is so down to half a unit of its last place below; where k is
odd it must be more than half a unit above it. -x has the bytes of x mirrored.
"""


@inline
def first_float(m, k, s, e):
    """m = bits of the least float whose quotient by s * 2**(e - 150) is rounded to k, 1 to 256."""
    m, b = 2 * k - 1, 0
    while m >> b:
        b += 1
    v = m * (s & 4095)
    m = m * (s >> 12) + (v >> 12)
    v, j = v & 4095, b - 1
    if m >> (j + 12):
        j += 1
    rest = ((m & ((1 << j) - 1)) << 12 | v) & ((1 << j) - 1)
    m = (m << (12 - j)) | (v >> j)
    if k & 1:
        if (((1 << j) - rest) << (25 - b)) <= s:
            m += 1
        m += 1
    elif (rest << (25 - b)) > s:
        m += 1
    m += (e + j - 2) << 23


def nearest8(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        requires p[0] < p[1]
        reads x[p[0] : p[1]]
        reads w[0 : 1]
        writes out[p[0] : p[1]]
    """
    i = inverse = 0
    e = (w[i] >> 23) & 255
    s = (w[i] & 8388607) | 8388608
    m = 1 << 23
    for n in range(15, 0, -1):
        m, inverse = m << 1, inverse << 1
        if m >= s:
            m -= s
            inverse += 1
    zero, flip, mask = p[2], p[3], p[5]
    for i in range(p[0], p[1]):
        bits = x[i] & mask
        n = e + 23 - (bits >> 23)
        if n > 24:
            k = zero  # less than half of the scale
        elif bits > p[6]:
            k = p[4] ^ flip
        else:
            k = 512
            if n > 13:
                k = ((((bits >> 8) & 32767) | 32768) * inverse >> n) + 68
                n = k & 127
                k = k >> 7
                if n < 5 and k < 257 and k > 0:
                    first_float(m, k, s, e)
                    if bits < m:
                        k -= 1
            if (x[i] >> 31) & 1:
                k = 0 - k
            k = min(max(k + zero, 0), 255)
        out[i] = k ^ flip
