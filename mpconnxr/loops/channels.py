"""The table of a quantized product's channels, from few bits. Plain form.

    x    bytes: fields of bits, the lowest first, one behind another: of each channel that of c,
         then that of its word; the word's M has 24 bits, the highest one set
    out  bytes: 8 a channel: int32 c and the word of loops/qdot
    p    first byte of x, first byte of out (a multiple of 4), channels, bits of c, BIAS + the
         least c, bits of the word, the least word as f << 23 | M without its highest bit, unit
         of the word

A field holds how much more its value is than the least one, in units. Fields have up to 29 bits,
and are below 2**30 times their unit.
"""


def channels(x, w, out, p):
    """
    Access:
        reads x as uint8[p[0] : p[0] + (p[2] * (p[3] + p[5]) + 7) // 8]
        writes out as uint8[p[1] : p[1] + 8 * p[2]]
    """
    bit = 8 * p[0]
    at = p[1]
    left = 2 * p[2]
    while left:
        k = 3 + 2 * (left & 1)
        v = 0
        n = 0
        while n < p[k]:
            v += ((x[bit >> 3] >> (bit & 7)) & ((1 << (p[k] - n)) - 1)) << n
            n += 8 - (bit & 7)
            bit += 8 - (bit & 7)
        bit += p[k] - n
        if k == 5:
            v *= p[7]
        v += p[k + 1]
        if k == 3:
            v -= 1 << 29
            out[at + 3] = (v >> 24) & 255
        else:
            out[at] = v >> 23
            at += 1
            out[at + 2] = 128 | ((v >> 16) & 127)
        out[at] = v & 255
        out[at + 1] = (v >> 8) & 255
        if k == 3:
            out[at + 2] = (v >> 16) & 255
            at += 4
        else:
            at += 3
        left -= 1
