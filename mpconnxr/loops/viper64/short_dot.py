"""Sums of short mantissas: see loops/short_dot. Viper form for 64-bit words.

What ptr32 reads comes out zero-extended: of a negative x that is 2**32 too much, and a product has
32 bits that count.
"""

from .._viper import ptr16, ptr32


def dots(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    row, n, w_first = int(x) + 4 * p[0], 4 * p[3], int(w) + 2 * p[4]
    one = 1  # kept from the folding of constants, which makes big integers of them
    rows, at = p[1], p[6]
    while rows:
        end = row + n
        stop, total, x = end - 12, 0, ptr32(row)
        while int(x) < end:
            total += x[0]
            x = ptr32(int(x) + 4)
        added = (total << 14) - (one << 30)
        m, w = p[5], ptr16(w_first)
        while m:
            total, x = 0, ptr32(row)
            while int(x) < stop:
                total += x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]
                x, w = ptr32(int(x) + 16), ptr16(int(w) + 8)
            while int(x) < end:
                total += x[0] * w[0]
                x, w = ptr32(int(x) + 4), ptr16(int(w) + 2)
            if n & 4:
                w = ptr16(int(w) + 2)
            out[at] = total - added
            at += 1
            m -= 1
        row += 4 * p[2]
        rows -= 1
