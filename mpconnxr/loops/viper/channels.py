"""The table of a quantized product's channels: see loops/channels. Viper form.

w, as if it were an address, has the bits of the last word that are not used yet.

Made from tools/loops/viper/channels.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def channels(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    x = ptr32(int(x) + p[0])
    w = ptr32(0)
    out = ptr32(int(out) + p[1])
    bits = p[3]
    word_bits = p[5]
    count = 0
    low = p[7]
    mask = (1 << bits) - 1
    word_mask = (1 << word_bits) - 1
    low_mask = (1 << low) - 1
    least = p[4] - (1 << 29)
    least_word = p[6]
    of_all = p[8]
    left = p[2]
    while left:
        c = int(w)
        n = bits - count
        if n > 0:
            word = x[0]
            x = ptr32(4 + int(x))
            c = c | (word << count)
            w = ptr32((word >> n) & ((1 << (32 - n)) - 1))
            count = 32 - n
        else:
            w = ptr32(c >> bits)
            count = 0 - n
        c = c & mask
        m = int(w)
        n = word_bits - count
        if n > 0:
            word = x[0]
            x = ptr32(4 + int(x))
            m = m | (word << count)
            w = ptr32((word >> n) & ((1 << (32 - n)) - 1))
            count = 32 - n
        else:
            w = ptr32(m >> word_bits)
            count = 0 - n
        m = m & word_mask
        m += least_word
        out[0] = (((c >> low) + least) << 5) | (m >> 23)
        out = ptr32(4 + int(out))
        out[0] = (((m & 0x7FFFFF) | 0x800000) << 7) | ((c & low_mask) << (7 - low)) | of_all
        out = ptr32(4 + int(out))
        left -= 1
