"""Exact sums of mantissas: see loops/block_dot. Viper form for 32-bit words.

A sum S of products x * w has up to 64 bits, but a word has 32. With the upper halves of 24 bits,
xh = x >> 12 (signed) and wh = w >> 12, three products per element suffice, two of which may wrap
around:

    A = sum(x * w) = S;  B = sum((x + xh) * (w + wh));  H = sum(xh * wh)
    B = S + sum(x * wh + xh * w) + H, where that sum is 2 * 2**12 * H + M,
    M = sum(xh * wl + xl * wh) with the lower halves xl, wl: so M = B - A - (2**13 + 1) * H
    L = sum(xl * wl) = A - 2**24 * H - 2**12 * M

modulo 2**32. For up to 120 elements, H is from -2**30 to 2**30, M from -2**30 to 3 * 2**30, and L
from 0 to 2**32. B starts with 2**30, so that the result is M + 2**30, whose 2**42 vanishes in L.
Then S = 2**24 * H + 2**12 * M + L. Longer rows add up such parts.

The emitter keeps the first three locals in registers (two in .mpy files): the pointer to x; in
`w`, cast to a pointer, an element of w, later xh; and in `out` the pointer to w. Each half is used
in several operations, a sum in one.
"""

import sys

from .._hints import far, unroll
from .._viper import ptr32
from .._words import start_sums

if sys.maxsize >> 31:
    raise ImportError("for words of 32 bits: loads have a sign there")


def dots(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    row, w_first = int(x) + 4 * p[_X_START], int(w) + 4 * p[_W_START]
    sums = ptr32(int(out) + 4 * p[_OUT_START])
    i = 0
    one = 1  # a variable: constant folding would make big integers
    for rows in far(range(p[_ROWS], 0, -1)):
        end, x, x_low = row + 4 * p[_COLUMNS], ptr32(row), 0
        x_high = 1 << 16
        while int(x) + 28 < end:
            x_low += x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7]
            x_high += x_low >> 24
            x_low, x = x_low & 0xFFFFFF, ptr32(int(x) + 32)
        x, i, x_low, x_high = start_sums(x, end, x_low, x_high, sums, i)
        out = ptr32(w_first)
        for channels in far(range(p[_CHANNELS], 0, -1)):
            x, low, middle = ptr32(row), 0, 0
            high = 1 << 15
            while far(int(x) < end):
                stop = min(int(x) + 4 * 120, end)
                a, b, h = 0, one << 30, 0
                while int(x) + 28 < stop:
                    for n in unroll(8):
                        w = ptr32(out[n])
                        a = x[n] * int(w) + a
                        w_high = int(w) >> 12
                        w_sum = int(w) + w_high
                        w = ptr32(x[n] >> 12)
                        h = w_high * int(w) + h
                        b = (x[n] + int(w)) * w_sum + b
                    x, out = ptr32(32 + int(x)), ptr32(32 + int(out))
                while int(x) < stop:
                    a = x[0] * out[0] + a
                    h += (x[0] >> 12) * (out[0] >> 12)
                    b += (x[0] + (x[0] >> 12)) * (out[0] + (out[0] >> 12))
                    x, out = ptr32(int(x) + 4), ptr32(int(out) + 4)
                lower = a
                b -= lower + 8193 * h
                lower -= (h << 24) + (b << 12)
                carry = ((lower >> 12) & 0xFFFFF) + (b & 4095)
                h += ((b >> 12) & 0xFFFFF) + (carry >> 12) - (1 << 18)
                low += (lower & 4095) + ((carry & 4095) << 12)
                middle += (h & 0xFFFFFF) + (low >> 24)
                low = low & 0xFFFFFF
                high += (h >> 24) + (middle >> 24)
                middle = middle & 0xFFFFFF
            sums[i] = low
            sums[i + 1] = middle
            sums[i + 2] = high
            i += 3
        row += 4 * p[_X_ROW_STRIDE]
