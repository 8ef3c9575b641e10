"""Exact sums of mantissas with narrow weights: see loops_block_narrow. Viper, for 64-bit words.

What ptr32 reads comes out zero-extended: x gets its sign back.
"""

import micropython


@micropython.viper
def dots16(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    one = 1  # kept from the folding of constants, which makes big integers of them
    sign = one << 31
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
            while i < end:
                total += ((x[i] ^ sign) - sign) * w[j]
                i += 1
                j += 1
            total = (total << 8) + (one << 63)
        row += p[2]
        rows -= 1


@micropython.viper
def dots8(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    one = 1
    sign = one << 31
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
            while i < end:
                total += ((x[i] ^ sign) - sign) * w[j]
                i += 1
                j += 1
            total = (total << 16) + (one << 63)
        row += p[2]
        rows -= 1


@micropython.viper
def dots4(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    one = 1
    sign = one << 31
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
        j = p[4] << 1
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
            while i < end:
                total += ((x[i] ^ sign) - sign) * ((w[j >> 1] >> ((j & 1) << 2)) & 15)
                i += 1
                j += 1
            j += j & 1
            total = (total << 20) + (one << 63)
        row += p[2]
        rows -= 1
