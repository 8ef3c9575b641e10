"""The order of float32 by their bits: see loops/order.

A negative number's bits without the sign, taken from 0, are in the order of the floats.

Made from tools/loops/viper/order.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def larger32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    k = p[6]
    i = p[0]
    j = p[3]
    mask = 1
    mask = (mask << 31) - 1
    infinity = mask - 0x7FFFFF
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        v = x[i]
        a = v & mask
        b = w[j] & mask
        if a > infinity or b > infinity:
            v = infinity | 0x400000
        else:
            if (v >> 31) & 1:
                a = 0 - a
            if (w[j] >> 31) & 1:
                b = 0 - b
            if p[9]:
                if a >= b:
                    v = w[j]
            elif a <= b:
                v = w[j]
        out[k] = v
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]


@micropython.viper
def compare8(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    k = p[6]
    i = p[0]
    j = p[3]
    mask = 1
    mask = (mask << 31) - 1
    infinity = mask - 0x7FFFFF
    end = k + p[8]
    last = k + p[7] * p[8]
    while k < last:
        a = x[i] & mask
        b = w[j] & mask
        if a > infinity or b > infinity:
            a = 0
        else:
            if (x[i] >> 31) & 1:
                a = 0 - a
            if (w[j] >> 31) & 1:
                b = 0 - b
            if a == b:
                a = p[9] & 2
            elif a < b:
                a = p[9] & 1
            else:
                a = p[9] & 4
        out[k] = 1 if a else 0
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]
