"""A table of 256 bytes from the steps between them. Written once, for Python and viper.

    x    bytes: 255 fields of p[0] bits, the lowest first, one behind another
    out  256 bytes: the one at p[1] is p[2], each next one (at 0 behind 255) a field more, modulo
         256

Fields have up to 8 bits.
"""


def steps(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """
    Access:
        requires p[1] < 256
        reads x[0 : (255 * p[0] + 7) // 8]
        writes out[0 : 256]
    """
    bit, v, k, left = 0, p[2], p[1], 256
    while left:
        out[k] = v & 255
        k = (k + 1) & 255
        left -= 1
        n = 0
        while n < p[0] and left:
            v += ((x[bit >> 3] >> (bit & 7)) & ((1 << (p[0] - n)) - 1)) << n
            n += 8 - (bit & 7)
            bit += 8 - (bit & 7)
        bit += p[0] - n if left else 0
