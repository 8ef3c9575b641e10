"""Integers of 32 bits, modulo 2**32, and truth values. Written once, in the common subset.

p    as loops/add has it, and behind it what the loop says

Both halves of a sum are computed apart: one of 32 bits has no place in a small integer.

Made from tools/loops/common/ints.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def sum32(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """p[9]: 1 for differences.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[2 * p[6] : 2 * (p[6] + rows * n)]
    """
    flip = 0xFFFF if p[9] else 0
    i = p[0]
    j = p[3]
    k = p[6]
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        a = x[i]
        b = w[j]
        low = (a & 0xFFFF) + ((b & 0xFFFF) ^ flip) + p[9]
        high = ((a >> 16) & 0xFFFF) + (((b >> 16) & 0xFFFF) ^ flip) + (low >> 16)
        out[2 * k] = low & 0xFFFF
        out[2 * k + 1] = high & 0xFFFF
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]


@micropython.viper
def product32(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """
    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[2 * p[6] : 2 * (p[6] + rows * n)]
    """
    i = p[0]
    j = p[3]
    k = p[6]
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        a = x[i]
        b = w[j]
        low = (a & 0xFFFF) * (b & 0xFFFF)
        high = (a & 0xFFFF) * ((b >> 16) & 0xFFFF) & 0xFFFF
        high += ((a >> 16) & 0xFFFF) * (b & 0xFFFF) & 0xFFFF
        high += (low >> 16) & 0xFFFF
        out[2 * k] = low & 0xFFFF
        out[2 * k + 1] = high & 0xFFFF
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]


@micropython.viper
def quotient32(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """p[9]: 0 quotients cut towards 0, 1 what these leave, 2 what is left with the sign of w; and
    plus 4: integers without a sign. By 0 all of them are 0.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[2 * p[6] : 2 * (p[6] + rows * n)]
    """
    mask = 1
    mask = (mask << 31) - 1
    what = p[9] & 3
    is_signed = 1 - (p[9] >> 2)
    i = p[0]
    j = p[3]
    k = p[6]
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        a = x[i]
        b = w[j]
        sign = (a >> 31) & is_signed
        sign_of_b = (b >> 31) & is_signed
        if sign:
            a = 0 - a
        if sign_of_b:
            b = 0 - b
        half = (a >> 1) & mask
        rest = a
        v = 0
        if (b >> 31) & 1:
            if (a >> 31) & 1 and a & mask >= b & mask:
                v = 1
                rest = a - b
        elif b & mask:
            # a half first: what it leaves, twice, is less than 2 * b
            b = b & mask
            v = half // b
            rest = half - v * b
            rest = rest - b + rest + (a & 1)
            v += v
            if rest < 0:
                rest += b
            else:
                v += 1
        else:
            rest = 0
        if what:
            v = rest
            if what == 2 and sign != sign_of_b:
                if v:
                    v = b - v
                sign = sign_of_b
        elif sign_of_b:
            sign = 1 - sign
        if sign:
            v = 0 - v
        out[2 * k] = v & 0xFFFF
        out[2 * k + 1] = (v >> 16) & 0xFFFF
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]


@micropython.viper
def larger32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p[9]: 1 for the smaller.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[p[6] : p[6] + rows * n]
    """
    i = p[0]
    j = p[3]
    k = p[6]
    wanted = 1 if p[9] else 4
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        a = x[i]
        high = (x[i] >> 16) & 65535
        b = w[j]
        low = (w[j] >> 16) & 65535
        a = a & 65535
        b = b & 65535
        high = high ^ 32768
        low = low ^ 32768
        if high == low:
            high = a
            low = b
        order = 2
        if high < low:
            order = 1
        if high > low:
            order = 4
        a = w[j]
        if order == wanted:
            a = x[i]
        out[k] = a
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]


@micropython.viper
def compare32(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """p[9]: which of less (1), equal (2) and greater (4) are true.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[p[6] : p[6] + rows * n]
    """
    i = p[0]
    j = p[3]
    k = p[6]
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        a = x[i]
        high = (x[i] >> 16) & 65535
        b = w[j]
        low = (w[j] >> 16) & 65535
        a = a & 65535
        b = b & 65535
        high = high ^ 32768
        low = low ^ 32768
        if high == low:
            high = a
            low = b
        order = 2
        if high < low:
            order = 1
        if high > low:
            order = 4
        out[k] = 1 if order & p[9] else 0
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]


@micropython.viper
def truth8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Of bytes, 0 or not. p[9], bit n: whether it is true where n of two are.

    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[p[6] : p[6] + rows * n]
    """
    i = p[0]
    j = p[3]
    k = p[6]
    flags = p[9]
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        n = 1 if x[i] else 0
        if w[j]:
            n += 1
        out[k] = (flags >> n) & 1
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]


@micropython.viper
def not8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Of bytes from p[0] to p[1].

    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    i = p[0]
    while i < p[1]:
        out[i] = 0 if x[i] else 1
        i += 1


@micropython.viper
def one_hot32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """loops/one_hot, of indices and values that are words.

    Access:
        depth, inner = p[2:4]
        reads x[p[0] // depth * inner : ((p[1] - 1) // depth + 1) * inner] if p[0] < p[1]
        reads w[0 : 2] if p[0] < p[1]
        writes out[p[0] * inner : p[1] * inner]
    """
    depth = p[2]
    inner = p[3]
    k = p[0] * inner
    row = p[0]
    while row < p[1]:
        i = row // depth * inner
        at = row % depth
        j = 0
        while j < inner:
            v = x[i]
            if (v >> 31) & 1:
                v = v + depth
            v = (v ^ at) & 0x3FFFFFFF | ((v ^ at) >> 30) & 3
            n = w[0]
            if v == 0:
                n = w[1]
            out[k] = n
            i += 1
            k += 1
            j += 1
        row += 1
