"""The table of a quantized product's channels: see loops/channels. Viper form.

w, cast to a pointer, holds the unused bits of the last word.
"""

from .._hints import inline, undefined
from .._viper import ptr32


@inline
def next_field(x, w, count, bits, mask):
    """Return v = the next field of `bits` bits, and x, w and count advanced.

    Temporaries: n, word.
    """
    word = undefined
    v = int(w)
    n = bits - count
    if n > 0:
        word, x = x[0], ptr32(4 + int(x))
        v = v | (word << count)
        w = ptr32((word >> n) & ((1 << (32 - n)) - 1))
        count = 32 - n
    else:
        w = ptr32(v >> bits)
        count = 0 - n
    v = v & mask
    return v, x, w, count, n, word


def channels(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    x, w, out = ptr32(int(x) + p[_X_START]), ptr32(0), ptr32(int(out) + p[_OUT_START])
    bits, scale_bits, count, low = p[_FIRST_BITS], p[_SCALE_BITS], 0, p[_LOW_BITS]
    mask, scale_mask, low_mask = (1 << bits) - 1, (1 << scale_bits) - 1, (1 << low) - 1
    least, least_scale, of_all = p[_LEAST_BIAS] - (1 << 29), p[_LEAST_SCALE], p[_COMMON_BITS]
    for left in range(p[_CHANNELS], 0, -1):
        c, x, w, count, n, word = next_field(x, w, count, bits, mask)
        m, x, w, count, n, word = next_field(x, w, count, scale_bits, scale_mask)
        m += least_scale
        out[0] = (((c >> low) + least) << 5) | (m >> 23)
        out = ptr32(4 + int(out))
        out[0] = (((m & 0x7FFFFF) | 0x800000) << 7) | ((c & low_mask) << (7 - low)) | of_all
        out = ptr32(4 + int(out))
