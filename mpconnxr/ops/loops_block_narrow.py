"""Exact sums of mantissas with weights of 16, 8 or 4 bits: what loops_block_dot gives for them.

    x    mantissas (see loops_block), int32: rows of K items, the first from p[0], p[2] items apart
    w    M rows, one after another from item p[4]: K uint16 or uint8, or (K + 1) // 2 bytes of two
         each, the first in the lower bits
    out  from p[6] on, for each row of x: limbs (24, 24 and 16 bits) of sum(x) + 2**40, then of
         each sum(x * v) + 2**63, v the weight's mantissa of 24 bits
    p    x first, rows of x, step between them, K, w first, M, out first

A weight of b bits is held as u = m + 2**(b - 1), and stands for the mantissa m * 2**(24 - b). That
one would be held as v = m * 2**(24 - b) + 2**23 = u * 2**(24 - b): so sum(x * v) is sum(x * u),
shifted. Words stay within 31 bits: of x 12 bits at a time are multiplied with a weight of 16, all
24 with 4. Reads come out with or without a sign, by the size of a word: where digits are cut off x
or a sum, the upper one gets its sign back. Written once, in the common subset of Python and viper.
"""

import micropython

COMMON = True


@micropython.viper
def dots16(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    row = p[0]
    rows = p[1]
    at = p[6]
    while rows:
        end = row + p[3]
        low = 0
        high = 0
        i = row
        while i < end:
            low += x[i] & 0xFFF
            high += ((x[i] >> 12) & 0xFFF ^ 0x800) - 0x800
            i += 1
        low += (high & 0xFFF) << 12
        out[at] = low & 0xFFFFFF
        out[at + 1] = (high >> 12) + (low >> 24) + (1 << 16)
        out[at + 2] = 0
        at += 3
        j = p[4]
        m = p[5]
        while m:
            i = row
            low = 0
            high = 0
            top = 0
            while i < end:
                stop = i + 4
                if stop > end:
                    stop = end
                while i < stop:
                    v = w[j]
                    low += (x[i] & 0xFFF) * v
                    high += (((x[i] >> 12) & 0xFFF ^ 0x800) - 0x800) * v
                    i += 1
                    j += 1
                high += low >> 12
                low = low & 0xFFF
                top += high >> 12
                high = high & 0xFFF
            out[at] = (low | (high & 0xF) << 12) << 8
            out[at + 1] = high >> 4 | (top & 0xFFFF) << 8
            out[at + 2] = (top >> 16) + (1 << 15)
            at += 3
            m -= 1
        row += p[2]
        rows -= 1


@micropython.viper
def dots8(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    row = p[0]
    rows = p[1]
    at = p[6]
    while rows:
        end = row + p[3]
        low = 0
        high = 0
        i = row
        while i < end:
            low += x[i] & 0xFFF
            high += ((x[i] >> 12) & 0xFFF ^ 0x800) - 0x800
            i += 1
        low += (high & 0xFFF) << 12
        out[at] = low & 0xFFFFFF
        out[at + 1] = (high >> 12) + (low >> 24) + (1 << 16)
        out[at + 2] = 0
        at += 3
        j = p[4]
        m = p[5]
        while m:
            i = row
            low = 0
            high = 0
            while i < end:
                stop = i + 8
                if stop > end:
                    stop = end
                a = 0
                b = 0
                while i < stop:
                    v = w[j]
                    a += x[i] * (v & 15)
                    b += x[i] * (v >> 4)
                    i += 1
                    j += 1
                low += (a & 0xFFFFFF) + ((b & 0xFFFFF) << 4)
                high += ((a >> 24) & 0xFF ^ 0x80) - 0x80
                high += ((b >> 20) & 0xFFF ^ 0x800) - 0x800 + (low >> 24)
                low = low & 0xFFFFFF
            out[at] = (low & 0xFF) << 16
            out[at + 1] = low >> 8 | (high & 0xFF) << 16
            out[at + 2] = (high >> 8) + (1 << 15)
            at += 3
            m -= 1
        row += p[2]
        rows -= 1


@micropython.viper
def dots4(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    row = p[0]
    rows = p[1]
    at = p[6]
    while rows:
        end = row + p[3]
        low = 0
        high = 0
        i = row
        while i < end:
            low += x[i] & 0xFFF
            high += ((x[i] >> 12) & 0xFFF ^ 0x800) - 0x800
            i += 1
        low += (high & 0xFFF) << 12
        out[at] = low & 0xFFFFFF
        out[at + 1] = (high >> 12) + (low >> 24) + (1 << 16)
        out[at + 2] = 0
        at += 3
        j = p[4]
        m = p[5]
        while m:
            i = row
            low = 0
            high = 0
            while i < end:
                stop = i + 8
                if stop > end:
                    stop = end
                a = 0
                while i + 1 < stop:
                    v = w[j]
                    a += x[i] * (v & 15) + x[i + 1] * (v >> 4)
                    i += 2
                    j += 1
                if i < stop:
                    a += x[i] * (w[j] & 15)
                    i += 1
                    j += 1
                low += a & 0xFFFFFF
                high += ((a >> 24) & 0xFF ^ 0x80) - 0x80 + (low >> 24)
                low = low & 0xFFFFFF
            out[at] = (low & 0xF) << 20
            out[at + 1] = low >> 4 | (high & 0xF) << 20
            out[at + 2] = (high >> 4) + (1 << 15)
            at += 3
            m -= 1
        row += p[2]
        rows -= 1
