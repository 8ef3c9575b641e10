"""Quotients of float32 as bytes, by their bits. Written once, for Python and viper.

    out = limited(round(x / scale) + zero)

the quotient a float32, rounded to even, limited to 0 .. 255; then signed by flip.

    x    float32 as words;  w  float32 as words: the scale, 2**-100 to 2**101;  out  bytes
    p    lo, hi: range of items; zero, 0 to 255; flip, 0 or 128; byte for NaN; mask of the bits
         without the sign; bits of infinity

A product of 16 and 15 bits gives the quotient to 7 bits behind the point, at most 4 units of the
last of them too low. That decides most items. Beside a middle between two integers k - 1 and k,
d = 2 * x - (2 * k - 1) * scale does, in units of x's last bit, or of the scale's: it is exact, and
small. A float32 quotient is the middle up to half a unit u of its last place, times the scale; and
the middle is rounded to k if that is even.
"""


def nearest8(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        requires p[0] < p[1]
        reads x[p[0] : p[1]]
        reads w[0 : 1]
        writes out[p[0] : p[1]]
    """
    i = inverse = 0
    e = ((w[i] >> 23) & 255) + 23
    s = (w[i] & 8388607) | 8388608
    m = 1 << 23
    for n in range(15, 0, -1):
        m, inverse = m << 1, inverse << 1
        if m >= s:
            m -= s
            inverse += 1
    zero, flip, mask = p[2], p[3], p[5]
    for i in range(p[0], p[1]):
        v = x[i]
        m = v & mask
        n = e - (m >> 23)
        k = zero
        if n < 14:  # beyond all bytes, or NaN
            k += 0 - 512 if (v >> 31) & 1 else 512
            if m > p[6]:
                k = p[4] ^ flip
        elif n < 25:  # half of the scale, or more
            k = ((((m >> 8) & 32767) | 32768) * inverse >> n) + 68
            if (k & 127) < 5:
                k = k >> 7
                n = 24 - n
                m = (m & 8388607) | 8388608
                d = (m << n) - (2 * k - 1) * s
                n = 25
                m = 2 * k - 1
                while m > 0:
                    m = m >> 1
                    n -= 1
                u = s >> n
                u = u + 1 if k & 1 else 0 - u
                if d < u:
                    k -= 1
            else:
                k = k >> 7
            if (v >> 31) & 1:
                k = 0 - k
            k += zero
        k = min(max(k, 0), 255)
        out[i] = k ^ flip
