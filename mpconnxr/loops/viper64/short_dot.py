"""Sums of short mantissas: see loops/short_dot. Viper form for 64-bit words.

What ptr32 reads comes out zero-extended: of a negative x that is 2**32 too much, and a product has
32 bits that count.

Made from tools/loops/viper64/short_dot.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def dots(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    row = int(x) + 4 * p[0]
    n = 4 * p[3]
    w_first = int(w) + 2 * p[4]
    one = 1  # kept from the folding of constants, which makes big integers of them
    rows = p[1]
    at = p[6]
    while rows:
        end = row + n
        stop = end - 12
        total = 0
        x = ptr32(row)
        while int(x) < end:
            total += x[0]
            x = ptr32(int(x) + 4)
        added = (total << 14) - (one << 30)
        m = p[5]
        w = ptr16(w_first)
        while m:
            total = 0
            x = ptr32(row)
            while int(x) < stop:
                total += x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]
                x = ptr32(int(x) + 16)
                w = ptr16(int(w) + 8)
            while int(x) < end:
                total += x[0] * w[0]
                x = ptr32(int(x) + 4)
                w = ptr16(int(w) + 2)
            if n & 4:
                w = ptr16(int(w) + 2)
            out[at] = total - added
            at += 1
            m -= 1
        row += 4 * p[2]
        rows -= 1
