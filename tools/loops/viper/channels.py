"""The table of a quantized product's channels: see loops/channels. Viper form.

The emitter keeps the first three locals in registers: where it reads, and as if they were
addresses the bits of a field and of what follows it, in `w`, and how many they are, in `out`.
"""


def channels(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    table, x, out = ptr32(int(out) + p[1]), ptr8(int(x) + p[0]), ptr8(0)
    bits = p[3]
    mask, word_bits = (1 << bits) - 1, p[5]
    word_mask, least, last = (1 << word_bits) - 1, p[4] - (1 << 29), 0
    low_mask = (1 << p[7]) - 1
    for left in range(p[2], 0, -1):
        w = ptr8(last >> (8 - int(out)))
        while int(out) < bits:
            last = x[0]
            w = ptr8((last << int(out)) | int(w))
            out, x = ptr8(8 + int(out)), ptr8(1 + int(x))
        c, out = int(w) & mask, ptr8(int(out) - bits)
        w = ptr8(last >> (8 - int(out)))
        while int(out) < word_bits:
            last = x[0]
            w = ptr8((last << int(out)) | int(w))
            out, x = ptr8(8 + int(out)), ptr8(1 + int(x))
        w = ptr8((int(w) & word_mask) + p[6])
        low = ((c & low_mask) << (7 - p[7])) | p[8]
        table[0] = (((c >> p[7]) + least) << 5) | (int(w) >> 23)
        table = ptr32(4 + int(table))
        table[0] = (((int(w) & 0x7FFFFF) | 0x800000) << 7) | low
        table = ptr32(4 + int(table))
        out = ptr8(int(out) - word_bits)
