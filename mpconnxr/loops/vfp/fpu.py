"""Convolution of float32 in the FPU: see ops/_block_vfp. In viper.

Weights are the mantissas of loops/block, x and sums are floats. What is assembler: consts and
strips (see loops/vfp/fpu_strips), and sums, the convolution (see loops/vfp/fpu_sums).

rows and points call them for pieces of a convolution:
    p     0  first piece, end, pieces a plane, rows of a piece, planes an image, groups of a plane,
      6  groups, channels of each, items of x and bytes of weights of each, channels of out of each
     11  first item of out, its steps for an image, channel, row and position
     16  rows at a time, rows, stride of rows, row of x of the first one (BIAS + it), height of the
         windows whose largest result is kept, rows of x under one, 22 0, bytes of a row of x
     24  positions of a row, those at a time, stride, column of x of the first one (BIAS + it)
     28  place of the first channel's consts, then what strips takes, 41 what sums takes
"""

import micropython

from .fpu_strips import consts, strips  # noqa: F401  (consts is for the kernels)


@micropython.viper
def rows(p: ptr32, w):
    """A convolution by calls of strips and sums; w: their blocks, parts of p, then x, scratch,
    weights, out, sums
    """
    strips_p = w[0]
    sums_p = w[1]
    x = w[2]
    scratch = w[3]
    weights = w[4]
    out = w[5]
    add = w[6]
    while p[0] < p[1]:
        group = p[0] // p[2] % p[4] * p[5]
        image = p[0] // p[2] // p[4]
        groups = p[6] - group
        if groups > p[5]:
            groups = p[5]
        i = 29
        p[i] = (image * p[6] + group) * p[8]
        p[i + 1] = groups * p[7]
        p[i + 13] = groups
        i = 52
        p[i] = group * p[9]
        p[i + 1] = p[28] + 8 * group * p[10]
        y = p[0] % p[2] * p[3]
        end = y + p[3]
        if end > p[17]:
            end = p[17]
        while y < end:
            n = end - y
            if n > p[16]:
                n = p[16]
            i = 44
            p[i] = n
            i = 36
            p[i] = y * p[18] + p[19]
            if p[7] == 1:
                i = 34
                p[i] = (n - 1) * p[18] + p[21]
                i = 43
                p[i] = p[34] * p[23]
            if p[62] < 2:
                i = 62
                p[i] = 1 if y % p[20] else 0
            at = p[11] + image * p[12] + group * p[10] * p[13] + y // p[20] * p[14]
            first = 0
            while first < p[24]:
                n = p[24] - first
                if n > p[25]:
                    n = p[25]
                i = 46
                p[i] = n
                i = 54
                p[i] = 4 * at
                i = 37
                p[i] = first * p[26] + p[27]
                strips(x, x, scratch, strips_p)
                add(scratch, weights, out, sums_p)
                at += p[25] // p[61] * p[15]
                first += p[25]
            y += p[44]
        i = 0
        p[i] = p[0] + 1


@micropython.viper
def points(p: ptr32, w):
    """The same where the kernel is one item; p[24] and p[25] as if the image were one row"""
    sums_p = w[1]
    x = w[2]
    weights = w[4]
    out = w[5]
    add = w[6]
    while p[0] < p[1]:
        image = p[0] // p[2]
        group = image % p[6]
        at = p[0] % p[2] * p[25]
        if at > p[24] - p[25]:  # the last may compute some once more
            at = p[24] - p[25]
        i = 41
        p[i] = 4 * (image * p[8] + at)
        i = 52
        p[i] = group * p[9]
        p[i + 1] = p[28] + 8 * group * p[10]
        p[i + 2] = 4 * (p[11] + image // p[6] * p[12] + group * p[10] * p[13] + at * p[15])
        add(x, weights, out, sums_p)
        i = 0
        p[i] = p[0] + 1
