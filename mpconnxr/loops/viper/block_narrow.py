"""Exact sums of mantissas with narrow weights: see loops/block_narrow. Viper, 32-bit words.

A sum S of products x * u has up to 55 bits, but a word has 32. For 16 and 8 bits, two products per
element suffice, one of which may wrap around:

    A = sum(x * u) = S modulo 2**32;  B = sum((x >> 12) * u)
    L = sum((x & 4095) * u) = A - 2**12 * B modulo 2**32

For 12 elements of 16 bits, or 240 of 8, B fits 32 signed bits, and L 32 unsigned bits. Then S =
2**12 * B + L. For 4 bits, A alone is S: 16 products fit 32 signed bits. Longer rows add up such
parts, in 24 bits and the upper part.

The emitter keeps the first three locals in registers; A uses the pointer to the output to be one
of them.
"""

import sys

from .._hints import far, unroll
from .._viper import ptr8, ptr16, ptr32
from .._words import start_sums

if sys.maxsize >> 31:
    raise ImportError("for words of 32 bits: loads have a sign there")


def dots(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    row, bits = int(x) + 4 * p[_X_START], p[_BITS]
    w_first = int(w) + (p[_W_START] << (bits >> 4))
    sums = ptr32(int(out) + 4 * p[_OUT_START])
    mask, part = (1 << bits) - 1, 4 * 16
    if bits == 8:
        part = 4 * 240
    if bits == 16:
        part = 4 * 12
    i = 0
    for rows in far(range(p[_ROWS], 0, -1)):
        end, x, low = row + 4 * p[_COLUMNS], ptr32(row), 0
        high = 1 << 16
        x, i, low, high = start_sums(x, end, low, high, sums, i)
        w = ptr8(w_first)
        for channels in far(range(p[_CHANNELS], 0, -1)):
            x, low, high = ptr32(row), 0, 0
            while int(x) < end:
                stop = min(int(x) + part, end)
                out = ptr32(0)
                if bits == 4:
                    while int(x) + 12 < stop:
                        out = ptr32(x[0] * (w[0] & 15) + int(out))
                        out = ptr32(x[1] * (w[0] >> 4) + int(out))
                        out = ptr32(x[2] * (w[1] & 15) + int(out))
                        out = ptr32(x[3] * (w[1] >> 4) + int(out))
                        x, w = ptr32(16 + int(x)), ptr8(2 + int(w))
                    while int(x) < stop:
                        out = ptr32(x[0] * (w[0] & 15) + int(out))
                        if int(x) + 4 < stop:
                            out = ptr32(x[1] * (w[0] >> 4) + int(out))
                        x, w = ptr32(8 + int(x)), ptr8(1 + int(w))
                    low += int(out) & 0xFFFFFF
                    high += int(out) >> 24
                else:
                    b = 0
                    if bits == 16:
                        while int(x) + 12 < stop:
                            for n in unroll(4):
                                out = ptr32(x[n] * ptr16(w)[n] + int(out))
                                b = (x[n] >> 12) * ptr16(w)[n] + b
                            x, w = ptr32(16 + int(x)), ptr8(8 + int(w))
                        while int(x) < stop:
                            out = ptr32(x[0] * ptr16(w)[0] + int(out))
                            b = (x[0] >> 12) * ptr16(w)[0] + b
                            x, w = ptr32(4 + int(x)), ptr8(2 + int(w))
                    else:
                        while int(x) + 12 < stop:
                            for n in unroll(4):
                                out = ptr32(x[n] * w[n] + int(out))
                                b = (x[n] >> 12) * w[n] + b
                            x, w = ptr32(16 + int(x)), ptr8(4 + int(w))
                        while int(x) < stop:
                            out = ptr32(x[0] * w[0] + int(out))
                            b, x = (x[0] >> 12) * w[0] + b, ptr32(4 + int(x))
                            w = ptr8(1 + int(w))
                    lower = int(out) - (b << 12)
                    b += (lower >> 12) & 0xFFFFF
                    low += ((b & 0xFFF) << 12) + (lower & 0xFFF)
                    high += b >> 12
                high += low >> 24
                low = low & 0xFFFFFF
            sums[i] = (low & mask) << (24 - bits)
            sums[i + 1] = (low >> bits) + ((high & mask) << (24 - bits))
            sums[i + 2] = (high >> bits) + (1 << 15)
            i += 3
        row += 4 * p[_X_ROW_STRIDE]
