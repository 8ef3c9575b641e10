"""The table of a quantized product's channels, from few bits. Plain form.

    x    bytes: fields of bits, the lowest first, one behind another: of each channel that of c,
         whose lowest p[7] bits are those of M, then that of its word, f << 23 | the upper 24 bits
         of M without the highest one, which is set
    out  bytes: 8 a channel: the two words of loops/qdot
    p    first byte of x, first byte of out (multiples of 4), channels, bits of the first field,
         BIAS + the least c, bits of the word, the least word, lowest bits (up to 7, and to those
         of the first field), those of all channels

A field holds how much more its value is than the least one. Fields have up to 29 bits.
"""


def channels(x, w, out, p):
    """
    Access:
        requires p[0] % 4 == 0 and p[1] % 4 == 0
        reads x as uint8[p[0] : p[0] + (p[2] * (p[3] + p[5]) + 31) // 32 * 4]
        writes out as uint8[p[1] : p[1] + 8 * p[2]]
    """
    bit = 8 * p[0]
    at = p[1]
    left = p[2]
    while left:
        first = _field(x, bit, p[3])
        bit += p[3]
        word = _field(x, bit, p[5]) + p[6]
        bit += p[5]
        low = (first & ((1 << p[7]) - 1)) << (7 - p[7]) | p[8]
        c = (first >> p[7]) + p[4] - (1 << 29)
        _put(out, at, c << 5 | word >> 23)
        _put(out, at + 4, (word & 0x7FFFFF | 0x800000) << 7 | low)
        at += 8
        left -= 1


def _field(x, bit, bits):
    v = n = 0
    while n < bits:
        v |= ((x[bit >> 3] >> (bit & 7)) & ((1 << (bits - n)) - 1)) << n
        n += 8 - (bit & 7)
        bit += 8 - (bit & 7)
    return v


def _put(out, at, v):
    for i in range(4):
        out[at + i] = v >> 8 * i & 255
