"""Convolution of float32 in the FPU: see ops/_block_vfp. Inline assembler and viper.

Weights are the mantissas of loops/block, x and sums are floats.

consts is scale (2**(exponent - 127)) and bias of each channel:
    x    biases;  w  exponents, a byte each
    p    first channel, channels, first item of out, 1 if there are biases, else 0

strips copies rows of planes, with zeros around them, runs of `half` columns for each phase:
    p    first item of x, planes, items from plane to plane, H, W, rows, image rows from one to
         the next, row and column of the first (BIAS + each), phases (column 0, phases, ...; column
         1, ...), half, first item of out

sums is the convolution: see loops/vfp/fpu_sums.

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


@micropython.asm_thumb
def consts(r0, r1, r2, r3):
    ldr(r4, [r3, 0])
    data(2, 0xEB00, 0x0084)  # add r0, r0, r4, lsl 2
    add(r1, r1, r4)
    ldr(r4, [r3, 8])
    data(2, 0xEB02, 0x0284)  # add r2, r2, r4, lsl 2
    ldr(r4, [r3, 4])
    ldr(r3, [r3, 12])
    mov(r6, 0)
    label(CHANNEL)
    data(2, 0xF811, 0x5B01)  # ldrb r5, [r1], 1
    lsl(r5, r5, 23)
    cmp(r3, 0)
    data(2, 0xBF18)  # it ne
    data(2, 0xF850, 0x6B04)  # ldrne r6, [r0], 4
    data(2, 0xE8E2, 0x5602)  # strd r5, r6, [r2], 8
    sub(r4, 1)
    bne(CHANNEL)
    mov(r0, 0)  # what is returned, as a small integer


@micropython.asm_thumb
def strips(r0, r1, r2, r3):
    data(2, 0xE92D, 0x0F00)  # push {r8, r9, r10, r11}
    mov(r8, r3)
    ldr(r4, [r3, 0])
    data(2, 0xEB00, 0x0984)  # add r9, r0, r4, lsl 2
    ldr(r4, [r3, 44])
    data(2, 0xEB02, 0x0284)  # add r2, r2, r4, lsl 2
    data(2, 0xF8D3, 0xB004)  # ldr r11, [r3, 4]
    label(PLANE)
    data(2, 0xF8D8, 0xA014)  # ldr r10, [r8, 20]
    data(2, 0xF8D8, 0x401C)  # ldr r4, [r8, 28]
    data(2, 0xF1A4, 0x5C00)  # sub r12, r4, 536870912
    label(ROW)
    data(2, 0xF8D8, 0x6010)  # ldr r6, [r8, 16]
    data(2, 0xFB0C, 0xF506)  # mul r5, r12, r6
    data(2, 0xF8D8, 0x400C)  # ldr r4, [r8, 12]
    data(2, 0x45A4)  # cmp r12, r4
    bcc(COVERED)
    mov(r6, 0)
    label(COVERED)
    data(2, 0xF8D8, 0x4020)  # ldr r4, [r8, 32]
    data(2, 0xF1A4, 0x5000)  # sub r0, r4, 536870912
    add(r5, r5, r0)
    data(2, 0xEB09, 0x0585)  # add r5, r9, r5, lsl 2
    data(2, 0xF04F, 0x0E00)  # mov lr, 0
    label(PHASE)
    data(2, 0xF8D8, 0x4020)  # ldr r4, [r8, 32]
    data(2, 0xF1A4, 0x5000)  # sub r0, r4, 536870912
    data(2, 0x4470)  # add r0, lr
    data(2, 0xEB05, 0x018E)  # add r1, r5, lr, lsl 2
    data(2, 0xF8D8, 0x3028)  # ldr r3, [r8, 40]
    data(2, 0xF8D8, 0x4024)  # ldr r4, [r8, 36]
    label(ITEM)
    cmp(r4, 1)
    bne(ONE)
    cmp(r3, 4)
    blt(ONE)
    cmp(r0, r6)
    bcs(ONE)
    add(r7, r0, 3)
    cmp(r7, r6)
    bcs(ONE)
    label(FOUR)
    data(2, 0xECB1, 0x0A04)  # vldmia r1!, {s0-s3}
    data(2, 0xECA2, 0x0A04)  # vstmia r2!, {s0-s3}
    add(r0, 4)
    sub(r3, 4)
    bne(ITEM)
    b(PHASED)
    label(ONE)
    cmp(r0, r6)
    data(2, 0xBF34)  # ite cc
    data(2, 0x680F)  # ldrcc r7, [r1]
    data(2, 0x2700)  # movcs r7, 0
    data(2, 0xF842, 0x7B04)  # str r7, [r2], 4
    add(r0, r0, r4)
    data(2, 0xEB01, 0x0184)  # add r1, r1, r4, lsl 2
    sub(r3, 1)
    bne(ITEM)
    label(PHASED)
    data(2, 0xF10E, 0x0E01)  # add lr, lr, 1
    data(2, 0x45A6)  # cmp lr, r4
    bne(PHASE)
    data(2, 0xF8D8, 0x4018)  # ldr r4, [r8, 24]
    data(2, 0x44A4)  # add r12, r4
    data(2, 0xF1BA, 0x0A01)  # subs r10, r10, 1
    bne(ROW)
    data(2, 0xF8D8, 0x4008)  # ldr r4, [r8, 8]
    data(2, 0xEB09, 0x0984)  # add r9, r9, r4, lsl 2
    data(2, 0xF1BB, 0x0B01)  # subs r11, r11, 1
    bne(PLANE)
    data(2, 0xE8BD, 0x0F00)  # pop {r8, r9, r10, r11}
    mov(r0, 0)  # what is returned, as a small integer


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
