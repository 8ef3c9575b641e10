"""Copies items where a condition holds. Written once, in the common subset of Python and viper.

x    items from p[0] on; w: the condition (u8) from p[3] on; out: from p[6] on, in C order
p    first item, row stride, stride of x; the same of w; first item of out; rows; items a row

Made from tools/loops/common/select.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def select8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Access: as qbinary.qadd8"""
    k = p[6]
    n = p[8]
    row = 0
    while row < p[7]:
        i = p[0] + row * p[1]
        j = p[3] + row * p[4]
        end = k + n
        while k < end:
            if w[j] != 0:
                out[k] = x[i]
            i += p[2]
            j += p[5]
            k += 1
        row += 1


@micropython.viper
def select32(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """Access: as qbinary.qadd8"""
    k = p[6]
    n = p[8]
    row = 0
    while row < p[7]:
        i = p[0] + row * p[1]
        j = p[3] + row * p[4]
        end = k + n
        while k < end:
            if w[j] != 0:
                out[k] = x[i]
            i += p[2]
            j += p[5]
            k += 1
        row += 1
