"""Sums and products of quantized bytes, requantized. Written once, for Python and viper.

    x, w, out  bytes;  p[0] to p[8] as runs.Runs sets them: first item, row stride, stride of x;
    the same of w; first item of out; rows; items a row. Signed bytes are made unsigned by the flip
    p[9], also those of out.

    qadd8  p[10] on: factors a and b, BIAS + constant c, 10 lower bits of each, bits behind the
           point, 16 to 20, zero point of out;  out = (x * a + w * b + c) / 2**bits + zy
    qmul8  p[10] on: zero points of x and w, 2**25 >> f, f, the upper 16 bits of M and the
           lower 15, zero point of out
           out = (x - zx) * (w - zw) * scale + zy,  scale = M * 2**(f - 47)

rounded to even from the middle (before zy is added) and limited to 0 .. 255; all bits count. No
intermediate value exceeds 31 bits.

Made from tools/loops/common/qbinary.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def qadd8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """
    Access:
        rows, n = p[7:9]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out[p[6] : p[6] + rows * n]
    """
    flip = p[9]
    a = p[10]
    b = p[11]
    constant = p[12] - (1 << 29)
    a_low = p[13]
    b_low = p[14]
    low = p[15]
    bits = p[16]
    zero = p[17]
    x_step = p[2]
    w_step = p[5]
    i = p[0]
    half = (1 << (bits - 1)) - 1
    j = p[3]
    k = p[6]
    rows = p[7]
    while rows:
        end = k + p[8]
        while k < end:
            u = x[i] ^ flip
            v = w[j] ^ flip
            more = u * a_low + v * b_low + low
            v = u * a + v * b + constant + (more >> 10)
            v = (v + half + (1 if more & 1023 else (v >> bits) & 1)) >> bits
            v = v + zero
            if v < 0:
                v = 0
            if v > 255:
                v = 255
            out[k] = v ^ flip
            i += x_step
            j += w_step
            k += 1
        i += p[1] - p[8] * p[2]
        j += p[4] - p[8] * p[5]
        rows -= 1


@micropython.viper
def qmul8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Access: as qadd8"""
    flip = p[9]
    limit = p[12]
    i = p[0]
    j = p[3]
    k = p[6]
    rows = p[7]
    while rows:
        end = k + p[8]
        while k < end:
            v = ((x[i] ^ flip) - p[10]) * ((w[j] ^ flip) - p[11])
            if v > limit:
                v = limit
            if v < 0 - limit:
                v = 0 - limit
            v = v << p[13]
            high = p[14]
            low = p[15]
            part = v & 4095
            v = v >> 12
            more = part * low
            low = v * low + (more >> 12)
            part = part * high + (low >> 3)
            v = v * high + (part >> 12)
            more = ((more | part) & 4095) | (low & 7)
            v = (v + 524287 + (1 if more else (v >> 20) & 1)) >> 20
            v = v + p[16]
            if v < 0:
                v = 0
            if v > 255:
                v = 255
            out[k] = v ^ flip
            i += p[2]
            j += p[5]
            k += 1
        i += p[1] - p[8] * p[2]
        j += p[4] - p[8] * p[5]
        rows -= 1
