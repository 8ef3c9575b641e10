"""Rows of floats to mantissas, each row with its exponent: weights that only a run knows.

See loops_block. Written once, in the common subset of Python and viper.
"""

import micropython

COMMON = True


@micropython.viper
def rows(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first item of x, rows, K, first item of out for mantissas, the same for tails (3 a row:
    limbs of the sum and exponent, bias), item that becomes 1 if a value is inf or nan, else 0,
    has_bias (0 or 1): it lies behind its row"""
    mask = 1  # kept from the folding of constants, which makes big integers of them
    mask = (mask << 31) - 1
    half = 1 << 23
    i = p[0]
    at = p[3]
    tail = p[4]
    rows = p[1]
    special = 0
    while rows:
        end = i + p[2]
        most = 0
        while i < end:
            v = x[i] & mask
            if v > most:
                most = v
            i += 1
        block = most >> 23
        if block == 255:
            special = 1
        elif block == 0:
            block = 1
        low = 0
        high = 1 << 20
        i = end - p[2]
        while i < end:
            v = x[i]
            m = v & 0x7FFFFF
            e = (v >> 23) & 255
            if e:
                m += half
            else:
                e = 1
            e = block - e
            if e > 23:
                m = 0
            else:
                m = (m + (1 << e)) >> (e + 1)
                if m == half:
                    m = half - 1
            if (v >> 31) & 1:
                m = 0 - m
            out[at] = m + half
            low += m
            high += low >> 24
            low = low & 0xFFFFFF
            at += 1
            i += 1
        out[tail] = low
        out[tail + 1] = high | block << 21
        v = 0
        if p[6]:
            v = x[i]
            i += 1
            if (v >> 23) & 255 == 255:
                special = 1
        out[tail + 2] = v
        tail += 3
        rows -= 1
    i = p[5]
    out[i] = special
