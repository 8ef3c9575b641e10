"""Exact sums of mantissas: see loops_block_dot. Viper form for 64-bit words.

What ptr32 reads comes out zero-extended: x gets its sign back. The emitter keeps the first three
locals in registers: the pointers of the inner loop come first.
"""

import micropython


@micropython.viper
def dots(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    row = int(x) + 4 * p[0]
    n = 4 * p[3]
    w_first = int(w) + 4 * p[4]
    one = 1  # kept from the folding of constants, which makes big integers of them
    sign = one << 31
    rows = p[1]
    at = p[6]
    while rows:
        end = row + n
        stop = end - 28
        total = one << 40
        x = ptr32(row)
        while int(x) < end:
            total += (x[0] ^ sign) - sign
            x = ptr32(int(x) + 4)
        m = p[5]
        w = ptr32(w_first)
        while True:
            out[at] = total & 0xFFFFFF
            out[at + 1] = (total >> 24) & 0xFFFFFF
            out[at + 2] = (total >> 48) & 0xFFFF
            at += 3
            if m == 0:
                break
            m -= 1
            total = one << 63
            x = ptr32(row)
            while int(x) < stop:
                total += (
                    ((x[0] ^ sign) - sign) * w[0]
                    + ((x[1] ^ sign) - sign) * w[1]
                    + ((x[2] ^ sign) - sign) * w[2]
                    + ((x[3] ^ sign) - sign) * w[3]
                    + ((x[4] ^ sign) - sign) * w[4]
                    + ((x[5] ^ sign) - sign) * w[5]
                    + ((x[6] ^ sign) - sign) * w[6]
                    + ((x[7] ^ sign) - sign) * w[7]
                )
                x = ptr32(int(x) + 32)
                w = ptr32(int(w) + 32)
            while int(x) < end:
                total += ((x[0] ^ sign) - sign) * w[0]
                x = ptr32(int(x) + 4)
                w = ptr32(int(w) + 4)
        row += 4 * p[2]
        rows -= 1
