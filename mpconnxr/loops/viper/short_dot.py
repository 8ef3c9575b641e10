"""Sums of short mantissas: see loops/short_dot. Viper form for 32-bit words.

The emitter keeps the first three locals in registers, in .mpy files two: the pointers, and the sum
as if it were an address.

Made from tools/loops/viper/short_dot.py by `make loops`:
change that file, not this one.
"""

import sys

import micropython

if sys.maxsize >> 31:
    raise ImportError("for words of 32 bits: loads have a sign there")


@micropython.viper
def dots(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    row = int(x) + 4 * p[0]
    n = 4 * p[3]
    w_first = int(w) + 2 * p[4]
    o = ptr32(int(out) + 4 * p[6])
    i = 0
    one = 1  # kept from the folding of constants, which makes big integers of them
    rows = p[1]
    if p[5] == 1:  # 2**14 is taken from each weight: the sum of x would take as long
        while rows:
            end = row + n
            stop = end - 12
            x = ptr32(row)
            w = ptr16(w_first)
            out = ptr32(one << 30)
            while int(x) < stop:
                out = ptr32((w[0] - 16384) * x[0] + int(out))
                out = ptr32((w[1] - 16384) * x[1] + int(out))
                out = ptr32((w[2] - 16384) * x[2] + int(out))
                out = ptr32((w[3] - 16384) * x[3] + int(out))
                x = ptr32(16 + int(x))
                w = ptr16(8 + int(w))
            while int(x) < end:
                out = ptr32((w[0] - 16384) * x[0] + int(out))
                x = ptr32(4 + int(x))
                w = ptr16(2 + int(w))
            o[i] = int(out)
            i += 1
            row += 4 * p[2]
            rows -= 1
    while rows:
        end = row + n
        stop = end - 28
        x = ptr32(row)
        out = ptr32(0)
        while int(x) < stop:
            out = ptr32(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7] + int(out))
            x = ptr32(32 + int(x))
        while int(x) < end:
            out = ptr32(x[0] + int(out))
            x = ptr32(4 + int(x))
        added = (int(out) << 14) - (one << 30)
        w = ptr16(w_first)
        m = p[5]
        while m:
            x = ptr32(row)
            out = ptr32(0)
            while int(x) < stop:
                out = ptr32(x[0] * w[0] + int(out))
                out = ptr32(x[1] * w[1] + int(out))
                out = ptr32(x[2] * w[2] + int(out))
                out = ptr32(x[3] * w[3] + int(out))
                out = ptr32(x[4] * w[4] + int(out))
                out = ptr32(x[5] * w[5] + int(out))
                out = ptr32(x[6] * w[6] + int(out))
                out = ptr32(x[7] * w[7] + int(out))
                x = ptr32(32 + int(x))
                w = ptr16(16 + int(w))
            while int(x) < end:
                out = ptr32(x[0] * w[0] + int(out))
                x = ptr32(4 + int(x))
                w = ptr16(2 + int(w))
            if n & 4:
                w = ptr16(2 + int(w))
            o[i] = int(out) - added
            i += 1
            m -= 1
        row += 4 * p[2]
        rows -= 1
