"""Unpack the table of a quantized product's channels from bit fields. Plain form.

x holds bit fields, the lowest first, contiguous. A channel has two fields. The first holds its
bias c above low_bits bits of its multiplier M. The second holds its scale, the shift f above 23
bits of M. c and scale are stored as the difference from the least one. out gets the two words of
loops/qdot for each channel. The 31 bits of M are, from the highest on:

    1, 23 bits of the scale, the low_bits bits beside c, the rest of 7 bits: common_bits
"""

# Parameters of channels
_X_START = const(0)  # a multiple of 4 [bytes] 0..
_OUT_START = 1  # a multiple of 4 [bytes] 0..
_CHANNELS = 2  # [channels] 1..
_FIRST_BITS = const(3)  # of a channel's first field [bits] 0..29
_LEAST_BIAS = const(4)  # [value, BIAS]
_SCALE_BITS = const(5)  # of a channel's second field [bits] 0..29
_LEAST_SCALE = const(6)  # [value] 0..2**29 - 1
_LOW_BITS = const(7)  # bits of the multiplier in the first field [bits] 0..7
_COMMON_BITS = const(8)  # lowest bits of every multiplier [mask] 0..127


def channels(x, w, out, p):
    """Write 8 bytes for each channel.

    Access:
        requires x_start % 4 == 0 and out_start % 4 == 0 and low_bits <= first_bits
        reads x as uint8[x_start : x_start + (channels * (first_bits + scale_bits) + 31) // 32 * 4]
        writes out as uint8[out_start : out_start + 8 * channels]
    """
    bit = 8 * p[_X_START]
    at = p[_OUT_START]
    left = p[_CHANNELS]
    while left:
        first = _field(x, bit, p[_FIRST_BITS])
        bit += p[_FIRST_BITS]
        scale = _field(x, bit, p[_SCALE_BITS]) + p[_LEAST_SCALE]
        bit += p[_SCALE_BITS]
        low = (first & ((1 << p[_LOW_BITS]) - 1)) << (7 - p[_LOW_BITS]) | p[_COMMON_BITS]
        c = (first >> p[_LOW_BITS]) + p[_LEAST_BIAS] - (1 << 29)
        _put(out, at, c << 5 | scale >> 23)
        _put(out, at + 4, (scale & 0x7FFFFF | 0x800000) << 7 | low)
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
