"""Products and sums of float32, on the bits.

    out = x * scale + offset

x holds int32 (outer, channels, inner). w holds float32 as words: a scale for each channel, then an
offset for each. out gets float32 as words.

A float is m * 2**(e - 150) with m from 2**23 to 2**24 - 1. Products have 4 and sums 3 guard bits;
23 bits of the product of two mantissas are truncated.
"""

from ._words import swap

# Parameters of to_float32
_START = 0  # first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_CHANNELS = 2  # [channels] 1..
_INNER = 3  # adjacent elements of a channel [elements] 1..
_CHANNEL = 4  # of the first element [channels] 0..
_LEFT = 5  # elements left of that channel, the first included [elements] 1..
_MAGNITUDE_MASK = const(6)  # all bits except the sign [mask] 2**31 - 1


def to_float32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute elements.

    Access:
        requires channel < channels
        reads x[start : end]
        reads w[0 : 2 * channels] if start < end
        writes out[start : end]
    """
    one, mask, channel, left = 1, p[_MAGNITUDE_MASK], p[_CHANNEL], p[_LEFT]
    for i in range(p[_START], p[_END]):
        v, word = x[i], w[channel]
        sign = ((v >> 31) ^ (word >> 31)) & 1
        m = v & mask
        if (v >> 31) & 1:
            m = (v ^ mask) & mask
            if m < mask:
                m += 1
        e = (word >> 23) & 255
        if e == 0:
            m = 0
        if m:
            e += 20
            while m >= one << 24:
                m = (m >> 1) + (m & 1)
                e += 1
            if m < one << 12:
                m = m << 12
                e -= 12
            if m < one << 18:
                m = m << 6
                e -= 6
            if m < one << 21:
                m = m << 3
                e -= 3
            while m < one << 23:
                m = m << 1
                e -= 1
            word = (word & 8388607) | (one << 23)
            v = (
                (m >> 12) * (word & 4095)
                + (m & 4095) * (word >> 12)
                + (((m & 4095) * (word & 4095)) >> 12)
            )
            m = (((m >> 12) * (word >> 12)) << 4) + (v >> 8)
            if m >= one << 27:
                m = (m >> 1) | (m & 1)
                e += 1
        word = w[p[_CHANNELS] + channel]
        offset_exponent = (word >> 23) & 255
        offset = ((word & 8388607) | (one << 23)) << 3
        word = (word >> 31) & 1
        if offset_exponent == 0:
            offset = 0
        offset_exponent -= 3
        if m == 0 or (offset != 0 and offset_exponent > e):
            m, offset, v = swap(m, offset)
            e, offset_exponent, v = swap(e, offset_exponent)
            sign, word, v = swap(sign, word)
        if offset:
            offset_exponent = min(e - offset_exponent, 28)
            v = offset >> offset_exponent
            if v << offset_exponent != offset:
                v = v | 1
            if sign == word:
                m += v
            else:
                m -= v
            if (m >> 30) & 1:
                m, sign = 0 - m, word
        if m >= one << 27:
            m = (m >> 1) | (m & 1)
            e += 1
        if m:
            while m < one << 26:
                m = m << 1
                e -= 1
        m = (m + 3 + ((m >> 3) & 1)) >> 3
        e += 3
        if m == 0 or e < 1:
            m = 0
        else:
            if e > 254:
                e, m = 255, one << 23
            m = (e << 23) + m - (one << 23)
        if sign:
            m = m - mask - 1
        out[i] = m
        left -= 1
        if left == 0:
            left = p[_INNER]
            channel += 1
            if channel == p[_CHANNELS]:
                channel = 0
