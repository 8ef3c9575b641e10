"""Arguments of a cell's gates, of integer sums over bytes. Written once, for Python and viper.

An argument is what loops/gated takes: 26 bits behind the point in one word, -32 to 32. It is a
bias and two sums, each an int below 2**29 times a unit, which is the product of two scales.

Terms have 26 bits behind the point, too; where one is 8 or more all of them have less, by a
multiple of 6. So none is less exact than a float32.

Made from tools/loops/common/byte_gates.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def arguments(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out[k] = out[k] * (a * w[k]) + out[n + k] * (b * w[n + k]) + bias, of n rows.

    A bias is w[2 * n + k] * 2**w[3 * n + k], with 26 bits behind the point, and below 2**29. The
    second word is what all terms of this row have less.

    p    first of out, n; where x has the scale a, and the scale b

    Access:
        n = p[1]
        reads x[p[2] : p[2] + 1]
        reads x[p[3] : p[3] + 1]
        reads w[0 : 4 * n]
        updates out[p[0] : p[0] + 2 * n]
    """
    mask = 1
    mask = (mask << 31) - 1
    n = p[1]
    at = p[0]
    last = 0
    other = 0
    f = 0
    g = 0
    d = 0
    e = 0
    i = 0
    while True:
        if i >= n:
            break
        part = 0
        while True:
            if part >= 2:
                break
            b = w[part * n + i]
            if b != (other if part else last):
                a = x[p[3] if part else p[2]]
                s = b
                k = ((a >> 23) & 255) + ((b >> 23) & 255)
                high = 1 if ((a ^ b) >> 31) & 1 else 0
                if (a >> 23) & 255 == 0 or (b >> 23) & 255 == 0:
                    high = 2
                a = (a & 0x7FFFFF) | 0x800000
                b = (b & 0x7FFFFF) | 0x800000
                low = (a & 4095) * (b & 4095)
                m = (a & 4095) * (b >> 12) + (a >> 12) * (b & 4095) + (low >> 12)
                low = ((m & 4095) << 12) | (low & 4095)
                m = (m >> 12) + (a >> 12) * (b >> 12)
                if m < 8388608:
                    m = (m << 1) | (low >> 23)
                    low = (low << 1) & 16777215
                    k -= 1
                if low + (m & 1) > 8388608:
                    m += 1
                k = 250 - k
                if high:
                    m = 0 - m if high == 1 else 0
                if part:
                    other = s
                    g = m
                    e = k
                else:
                    last = s
                    f = m
                    d = k
            part += 1
        z = w[3 * n + i] & 31
        s = 0 - 1
        while True:
            if s == z:
                break
            s = z
            k = z - (w[3 * n + i] & 31)
            total = ((w[2 * n + i] + (1 << 29)) & 0x3FFFFFFF) - (1 << 29)
            total = total >> (k if k < 31 else 31)
            part = 0
            while True:
                if part >= 2:
                    break
                m = f
                k = d + s
                if part:
                    m = g
                    k = e + s
                v = ((out[at + part * n + i] + (1 << 29)) & 0x3FFFFFFF) - (1 << 29)
                low = (v & 4095) * (m & 4095)
                middle = (v >> 12) * (m & 4095) + (v & 4095) * (m >> 12) + (low >> 12)
                high = (v >> 12) * (m >> 12) + (middle >> 12)
                if k > 24:
                    total += high >> (k - 24 if k < 55 else 31)
                else:
                    most = 1 << (k + 5) if k >= 0 else 0
                    if high < most and high >= 0 - most:
                        low = (low & 4095) | (middle & 4095) << 12
                        total += (high << (24 - k)) + (low >> k)
                    elif v:
                        z += 6
                part += 1
        k = mask >> (z if z < 31 else 31)
        if total > k:
            total = mask
        elif total < 0 - k:
            total = 0 - mask
        else:
            total = total << z
        out[at + i] = total
        i += 1
