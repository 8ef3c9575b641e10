"""Exact sums of mantissas with narrow weights: see loops/block_narrow. Viper, for 64-bit words.

What ptr32 reads comes out zero-extended: x gets its sign back.

Made from tools/loops/viper64/block_narrow.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def dots(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    one = 1  # kept from the folding of constants, which makes big integers of them
    sign = one << 31
    bits = p[7]
    row = p[0]
    rows = p[1]
    at = p[6]
    while rows:
        end = row + p[3]
        total = one << 40
        i = row
        while i < end:
            total += (x[i] ^ sign) - sign
            i += 1
        m = p[5]
        j = p[4]
        if bits == 4:
            j += j
        while True:
            out[at] = total & 0xFFFFFF
            out[at + 1] = (total >> 24) & 0xFFFFFF
            out[at + 2] = (total >> 48) & 0xFFFF
            at += 3
            if m == 0:
                break
            m -= 1
            total = 0
            i = row
            if bits == 8:
                while i < end:
                    total += ((x[i] ^ sign) - sign) * w[j]
                    i += 1
                    j += 1
            elif bits == 16:
                while i < end:
                    total += ((x[i] ^ sign) - sign) * ptr16(w)[j]
                    i += 1
                    j += 1
            else:
                while i < end:
                    total += ((x[i] ^ sign) - sign) * ((w[j >> 1] >> ((j & 1) << 2)) & 15)
                    i += 1
                    j += 1
                j += j & 1
            total = (total << (24 - bits)) + (one << 63)
        row += p[2]
        rows -= 1
