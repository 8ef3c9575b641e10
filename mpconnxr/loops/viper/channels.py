"""The table of a quantized product's channels: see loops/channels. Viper form.

The emitter keeps the first three locals in registers: where it reads, and as if they were
addresses the bits of a field and of what follows it, in `w`, and how many they are, in `out`.

Made from tools/loops/viper/channels.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def channels(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    table = ptr32(int(out) + p[1])
    x = ptr8(int(x) + p[0])
    out = ptr8(0)
    bits = p[3]
    mask = (1 << bits) - 1
    word_bits = p[5]
    word_mask = (1 << word_bits) - 1
    least = p[4] - (1 << 29)
    last = 0
    low_mask = (1 << p[7]) - 1
    left = p[2]
    while left:
        w = ptr8(last >> (8 - int(out)))
        while int(out) < bits:
            last = x[0]
            w = ptr8((last << int(out)) | int(w))
            out = ptr8(8 + int(out))
            x = ptr8(1 + int(x))
        c = int(w) & mask
        out = ptr8(int(out) - bits)
        w = ptr8(last >> (8 - int(out)))
        while int(out) < word_bits:
            last = x[0]
            w = ptr8((last << int(out)) | int(w))
            out = ptr8(8 + int(out))
            x = ptr8(1 + int(x))
        w = ptr8((int(w) & word_mask) + p[6])
        low = ((c & low_mask) << (7 - p[7])) | p[8]
        table[0] = (((c >> p[7]) + least) << 5) | (int(w) >> 23)
        table = ptr32(4 + int(table))
        table[0] = (((int(w) & 0x7FFFFF) | 0x800000) << 7) | low
        table = ptr32(4 + int(table))
        out = ptr8(int(out) - word_bits)
        left -= 1
