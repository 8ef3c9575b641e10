"""Table of 256 bytes from the differences between neighbours.

x holds 255 differences as fields of bits_per_step, the lowest first, contiguous. out gets 256
bytes: the one at start is first_value; each next one (0 follows 255) adds a difference, modulo
256.
"""

# Parameters of steps
_BITS_PER_STEP = const(0)  # [bits] 0..8
_START = const(1)  # index of the first byte in out [bytes] 0..255
_FIRST_VALUE = const(2)  # value of that byte [value] 0..255


def steps(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Write the table.

    Access:
        reads x[0 : (255 * bits_per_step + 7) // 8]
        writes out[0 : 256]
    """
    bit, v, place, left = 0, p[_FIRST_VALUE], p[_START], 256
    while left:
        out[place] = v & 255
        place = (place + 1) & 255
        left -= 1
        n = 0
        while n < p[_BITS_PER_STEP] and left:
            v += ((x[bit >> 3] >> (bit & 7)) & ((1 << (p[_BITS_PER_STEP] - n)) - 1)) << n
            n += 8 - (bit & 7)
            bit += 8 - (bit & 7)
        bit += p[_BITS_PER_STEP] - n if left else 0
