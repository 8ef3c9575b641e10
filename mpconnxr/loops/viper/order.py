"""Order of float32 on the bits: see loops/order. Viper form.

A negative number is mapped to minus its magnitude bits, which are in the order of the floats.
"""

from .._viper import ptr8, ptr32
from .._words import all_but_sign, pairs


def larger32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    k, i, j = p[_OUT_START], p[_X_START], p[_W_START]
    mask = all_but_sign()
    infinity = mask - 0x7FFFFF
    for i, j, k, end, last in pairs(i, j, k, p):
        v = x[i]
        a, b = v & mask, w[j] & mask
        if a > infinity or b > infinity:
            v = infinity | 0x400000
        else:
            if (v >> 31) & 1:
                a = 0 - a
            if (w[j] >> 31) & 1:
                b = 0 - b
            if p[_IS_MINIMUM]:
                if a >= b:
                    v = w[j]
            elif a <= b:
                v = w[j]
        out[k] = v


def compare8(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    k, i, j = p[_OUT_START], p[_X_START], p[_W_START]
    mask = all_but_sign()
    infinity = mask - 0x7FFFFF
    for i, j, k, end, last in pairs(i, j, k, p):
        a, b = x[i] & mask, w[j] & mask
        if a > infinity or b > infinity:
            a = 0
        else:
            if (x[i] >> 31) & 1:
                a = 0 - a
            if (w[j] >> 31) & 1:
                b = 0 - b
            if a == b:
                a = p[_RELATIONS] & 2
            elif a < b:
                a = p[_RELATIONS] & 1
            else:
                a = p[_RELATIONS] & 4
        out[k] = 1 if a else 0
