"""Convolution of float32 in the FPU: see block_vfp. Inline assembler with VFP instructions.

Weights are the mantissas of loops_block, x and sums are floats.

consts is scale (2**(exponent - 127)) and bias of each channel:
    x    biases;  w  exponents, a byte each
    p    first channel, channels, first item of out, 1 if there are biases, else 0

strips copies rows of planes, with zeros around them, runs of `half` columns for each phase:
    p    first item of x, planes, items from plane to plane, H, W, rows, image rows from one to
         the next, row and column of the first (BIAS + each), phases (column 0, phases, ...; column
         1, ...), half, first item of out

sums is the convolution, to floats: 1.4 instructions a multiply-accumulate of 16 positions, 1.6
of 8, 2.2 of 4:
    x    rows: an item of the kernel meets position i at i * 4 behind its place
    w    mantissas (groups, M, taps, inner)
    p    (all places and steps in bytes) 0 first of x, groups, step of x, rows, step of x, 5
         positions, positions that may be read (at least 4), M, taps, inner, 10 step of inner,
         first of w, consts (in p), 13 first of out, its steps for a position, channel and row, 17
         clip (0 no, 1 below 0, 2 both), bits of low and high, 20 width of windows whose largest
         result is kept, 2 (no windows), 0 (their first row) or 1, 22 place of each tap in x
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


@micropython.asm_thumb
def sums(r0, r1, r2, r3):
    data(2, 0xE92D, 0x0F00)  # push {r8, r9, r10, r11}
    data(2, 0xED2D, 0x8A10)  # vpush {s16-s31}
    data(2, 0xB0B0)  # sub sp, 192
    mov(r8, r3)
    data(2, 0xAE20)  # add r6, sp, 128
    mov(r4, 0)
    mov(r5, 16)
    label(ZERO)
    data(2, 0xF846, 0x4B04)  # str r4, [r6], 4
    sub(r5, 1)
    bne(ZERO)
    data(2, 0xEEF0, 0xFA00)  # vmov s31, 2.0
    ldr(r4, [r3, 0])
    add(r4, r4, r0)
    data(2, 0x9401)  # str r4, [sp, 4]
    ldr(r4, [r3, 44])
    add(r4, r4, r1)
    data(2, 0x9402)  # str r4, [sp, 8]
    ldr(r4, [r3, 48])
    add(r4, r4, r3)
    data(2, 0x9403)  # str r4, [sp, 12]
    ldr(r4, [r3, 52])
    add(r4, r4, r2)
    data(2, 0x9404)  # str r4, [sp, 16]
    ldr(r4, [r3, 4])
    data(2, 0x9400)  # str r4, [sp, 0]
    label(GROUP)
    data(2, 0xF8D8, 0x400C)  # ldr r4, [r8, 12]
    data(2, 0x9405)  # str r4, [sp, 20]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    data(2, 0x9406)  # str r4, [sp, 24]
    data(2, 0x9C04)  # ldr r4, [sp, 16]
    data(2, 0x9407)  # str r4, [sp, 28]
    data(2, 0xF8D8, 0x4054)  # ldr r4, [r8, 84]
    data(2, 0x940B)  # str r4, [sp, 44]
    label(ROW)
    mov(r4, 0)
    label(TILE)
    data(2, 0xF8D8, 0x5014)  # ldr r5, [r8, 20]
    sub(r6, r5, r4)
    mov(r7, 16)
    cmp(r6, 8)
    bgt(FIT)
    mov(r7, 8)
    cmp(r6, 4)
    bgt(FIT)
    mov(r7, 4)
    label(FIT)
    data(2, 0xF8D8, 0x3018)  # ldr r3, [r8, 24]
    add(r2, r4, r7)
    cmp(r2, r3)
    ble(FITS)
    sub(r2, r3, r7)
    bmi(HALF)
    mov(r4, r2)
    mov(r6, r7)
    b(FITS)
    label(HALF)
    lsr(r7, r7, 1)
    b(FIT)
    label(FITS)
    cmp(r6, r7)
    ble(VALID)
    mov(r6, r7)
    label(VALID)
    data(2, 0x9408)  # str r4, [sp, 32]
    data(2, 0x9609)  # str r6, [sp, 36]
    data(2, 0x970A)  # str r7, [sp, 40]
    data(2, 0x9B06)  # ldr r3, [sp, 24]
    data(2, 0xEB03, 0x0B84)  # add r11, r3, r4, lsl 2
    data(2, 0xF8D8, 0x5050)  # ldr r5, [r8, 80]
    data(2, 0xFBB4, 0xF6F5)  # udiv r6, r4, r5
    data(2, 0xFB06, 0x4415)  # mls r4, r6, r5, r4
    sub(r5, r5, r4)
    data(2, 0x950C)  # str r5, [sp, 48]
    data(2, 0xF8D8, 0x5038)  # ldr r5, [r8, 56]
    mul(r6, r5)
    data(2, 0x9D07)  # ldr r5, [sp, 28]
    add(r6, r6, r5)
    mov(lr, r6)
    data(2, 0xF8DD, 0xA008)  # ldr r10, [sp, 8]
    data(2, 0xF8DD, 0x900C)  # ldr r9, [sp, 12]
    data(2, 0xF8D8, 0xC01C)  # ldr r12, [r8, 28]
    label(CHANNEL)
    data(2, 0xA820)  # add r0, sp, 128
    data(2, 0xEC90, 0x0A10)  # vldmia r0, {s0-s15}
    mov(r1, r10)
    data(2, 0xF108, 0x0458)  # add r4, r8, 88
    data(2, 0xF8D8, 0x5020)  # ldr r5, [r8, 32]
    data(2, 0xF8D8, 0x3028)  # ldr r3, [r8, 40]
    data(2, 0xF8D8, 0x6024)  # ldr r6, [r8, 36]
    data(2, 0x9F0A)  # ldr r7, [sp, 40]
    cmp(r7, 16)
    bne(TAP)
    sub(r3, 32)
    label(TAP)
    data(2, 0xF854, 0x0B04)  # ldr r0, [r4], 4
    data(2, 0x4458)  # add r0, r11
    sub(r2, r6, 4)
    cmp(r7, 8)
    beq_w(TAP8)
    blt_w(TAP4)
    add(r2, 2)
    blt(SINGLE16)
    label(TWO16)
    data(2, 0xECB1, 0xCA02)  # vldmia r1!, {s24-s25}
    data(2, 0xEEBA, 0xCAC5, 0xEEFA, 0xCAC5)  # vcvt.f32.s32 s24 to s25, 22 fraction bits
    vsub(s24, s24, s31)
    vsub(s25, s25, s31)
    data(2, 0xECB0, 0x8A08)  # vldmia r0!, {s16-s23}
    # vfma s0 to s7 += s16.. * s24
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)
    data(2, 0xEEAA, 0x2A0C, 0xEEEA, 0x2A8C, 0xEEAB, 0x3A0C, 0xEEEB, 0x3A8C)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    # vfma s8 to s15 += s16.. * s24
    data(2, 0xEEA8, 0x4A0C, 0xEEE8, 0x4A8C, 0xEEA9, 0x5A0C, 0xEEE9, 0x5A8C)
    data(2, 0xEEAA, 0x6A0C, 0xEEEA, 0x6A8C, 0xEEAB, 0x7A0C, 0xEEEB, 0x7A8C)
    add(r0, r0, r3)
    data(2, 0xECB0, 0x8A08)  # vldmia r0!, {s16-s23}
    # vfma s0 to s7 += s16.. * s25
    data(2, 0xEEA8, 0x0A2C, 0xEEE8, 0x0AAC, 0xEEA9, 0x1A2C, 0xEEE9, 0x1AAC)
    data(2, 0xEEAA, 0x2A2C, 0xEEEA, 0x2AAC, 0xEEAB, 0x3A2C, 0xEEEB, 0x3AAC)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    # vfma s8 to s15 += s16.. * s25
    data(2, 0xEEA8, 0x4A2C, 0xEEE8, 0x4AAC, 0xEEA9, 0x5A2C, 0xEEE9, 0x5AAC)
    data(2, 0xEEAA, 0x6A2C, 0xEEEA, 0x6AAC, 0xEEAB, 0x7A2C, 0xEEEB, 0x7AAC)
    add(r0, r0, r3)
    sub(r2, 2)
    bge(TWO16)
    label(SINGLE16)
    add(r2, 2)
    beq_w(TAPPED)
    data(2, 0xECB1, 0xCA01)  # vldmia r1!, {s24}
    data(2, 0xEEBA, 0xCAC5)  # vcvt.s32 s24, s24, 22
    vsub(s24, s24, s31)
    data(2, 0xECB0, 0x8A08)  # vldmia r0!, {s16-s23}
    # vfma s0 to s7 += s16.. * s24
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)
    data(2, 0xEEAA, 0x2A0C, 0xEEEA, 0x2A8C, 0xEEAB, 0x3A0C, 0xEEEB, 0x3A8C)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    # vfma s8 to s15 += s16.. * s24
    data(2, 0xEEA8, 0x4A0C, 0xEEE8, 0x4A8C, 0xEEA9, 0x5A0C, 0xEEE9, 0x5A8C)
    data(2, 0xEEAA, 0x6A0C, 0xEEEA, 0x6A8C, 0xEEAB, 0x7A0C, 0xEEEB, 0x7A8C)
    add(r0, r0, r3)
    b(TAPPED)
    label(TAP8)
    cmp(r2, 0)
    blt(SINGLE8)
    label(FOUR8)
    data(2, 0xECB1, 0xCA04)  # vldmia r1!, {s24-s27}
    # vcvt.f32.s32 s24 to s27, 22 fraction bits
    data(2, 0xEEBA, 0xCAC5, 0xEEFA, 0xCAC5, 0xEEBA, 0xDAC5, 0xEEFA, 0xDAC5)
    vsub(s24, s24, s31)
    vsub(s25, s25, s31)
    vsub(s26, s26, s31)
    vsub(s27, s27, s31)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    # vfma s0 to s7 += s16.. * s24
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)
    data(2, 0xEEAA, 0x2A0C, 0xEEEA, 0x2A8C, 0xEEAB, 0x3A0C, 0xEEEB, 0x3A8C)
    add(r0, r0, r3)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    # vfma s0 to s7 += s16.. * s25
    data(2, 0xEEA8, 0x0A2C, 0xEEE8, 0x0AAC, 0xEEA9, 0x1A2C, 0xEEE9, 0x1AAC)
    data(2, 0xEEAA, 0x2A2C, 0xEEEA, 0x2AAC, 0xEEAB, 0x3A2C, 0xEEEB, 0x3AAC)
    add(r0, r0, r3)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    # vfma s0 to s7 += s16.. * s26
    data(2, 0xEEA8, 0x0A0D, 0xEEE8, 0x0A8D, 0xEEA9, 0x1A0D, 0xEEE9, 0x1A8D)
    data(2, 0xEEAA, 0x2A0D, 0xEEEA, 0x2A8D, 0xEEAB, 0x3A0D, 0xEEEB, 0x3A8D)
    add(r0, r0, r3)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    # vfma s0 to s7 += s16.. * s27
    data(2, 0xEEA8, 0x0A2D, 0xEEE8, 0x0AAD, 0xEEA9, 0x1A2D, 0xEEE9, 0x1AAD)
    data(2, 0xEEAA, 0x2A2D, 0xEEEA, 0x2AAD, 0xEEAB, 0x3A2D, 0xEEEB, 0x3AAD)
    add(r0, r0, r3)
    sub(r2, 4)
    bge(FOUR8)
    label(SINGLE8)
    add(r2, 4)
    beq(TAPPED)
    label(ONE8)
    data(2, 0xECB1, 0xCA01)  # vldmia r1!, {s24}
    data(2, 0xEEBA, 0xCAC5)  # vcvt.s32 s24, s24, 22
    vsub(s24, s24, s31)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    # vfma s0 to s7 += s16.. * s24
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)
    data(2, 0xEEAA, 0x2A0C, 0xEEEA, 0x2A8C, 0xEEAB, 0x3A0C, 0xEEEB, 0x3A8C)
    add(r0, r0, r3)
    sub(r2, 1)
    bne(ONE8)
    b(TAPPED)
    label(TAP4)
    cmp(r2, 0)
    blt(SINGLE4)
    label(FOUR4)
    data(2, 0xECB1, 0xCA04)  # vldmia r1!, {s24-s27}
    # vcvt.f32.s32 s24 to s27, 22 fraction bits
    data(2, 0xEEBA, 0xCAC5, 0xEEFA, 0xCAC5, 0xEEBA, 0xDAC5, 0xEEFA, 0xDAC5)
    vsub(s24, s24, s31)
    vsub(s25, s25, s31)
    vsub(s26, s26, s31)
    vsub(s27, s27, s31)
    data(2, 0xEC90, 0x8A04)  # vldmia r0, {s16-s19}
    # vfma s0 to s3 += s16.. * s24
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)
    add(r0, r0, r3)
    data(2, 0xEC90, 0x8A04)  # vldmia r0, {s16-s19}
    # vfma s0 to s3 += s16.. * s25
    data(2, 0xEEA8, 0x0A2C, 0xEEE8, 0x0AAC, 0xEEA9, 0x1A2C, 0xEEE9, 0x1AAC)
    add(r0, r0, r3)
    data(2, 0xEC90, 0x8A04)  # vldmia r0, {s16-s19}
    # vfma s0 to s3 += s16.. * s26
    data(2, 0xEEA8, 0x0A0D, 0xEEE8, 0x0A8D, 0xEEA9, 0x1A0D, 0xEEE9, 0x1A8D)
    add(r0, r0, r3)
    data(2, 0xEC90, 0x8A04)  # vldmia r0, {s16-s19}
    # vfma s0 to s3 += s16.. * s27
    data(2, 0xEEA8, 0x0A2D, 0xEEE8, 0x0AAD, 0xEEA9, 0x1A2D, 0xEEE9, 0x1AAD)
    add(r0, r0, r3)
    sub(r2, 4)
    bge(FOUR4)
    label(SINGLE4)
    add(r2, 4)
    beq(TAPPED)
    label(ONE4)
    data(2, 0xECB1, 0xCA01)  # vldmia r1!, {s24}
    data(2, 0xEEBA, 0xCAC5)  # vcvt.s32 s24, s24, 22
    vsub(s24, s24, s31)
    data(2, 0xEC90, 0x8A04)  # vldmia r0, {s16-s19}
    # vfma s0 to s3 += s16.. * s24
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)
    add(r0, r0, r3)
    sub(r2, 1)
    bne(ONE4)
    label(TAPPED)
    sub(r5, 1)
    bne_w(TAP)
    mov(r10, r1)
    data(2, 0xECB9, 0x8A02)  # vldmia r9!, {s16, s17}
    cmp(r7, 8)
    beq(EIGHT)
    blt(FOUR)
    # vmul s8 to s15 by s16
    data(2, 0xEE24, 0x4A08, 0xEE64, 0x4A88, 0xEE25, 0x5A08, 0xEE65, 0x5A88)
    data(2, 0xEE26, 0x6A08, 0xEE66, 0x6A88, 0xEE27, 0x7A08, 0xEE67, 0x7A88)
    # vadd s17 to s8 to s15
    data(2, 0xEE34, 0x4A28, 0xEE74, 0x4AA8, 0xEE35, 0x5A28, 0xEE75, 0x5AA8)
    data(2, 0xEE36, 0x6A28, 0xEE76, 0x6AA8, 0xEE37, 0x7A28, 0xEE77, 0x7AA8)
    label(EIGHT)
    # vmul s4 to s7 by s16
    data(2, 0xEE22, 0x2A08, 0xEE62, 0x2A88, 0xEE23, 0x3A08, 0xEE63, 0x3A88)
    # vadd s17 to s4 to s7
    data(2, 0xEE32, 0x2A28, 0xEE72, 0x2AA8, 0xEE33, 0x3A28, 0xEE73, 0x3AA8)
    label(FOUR)
    # vmul s0 to s3 by s16
    data(2, 0xEE20, 0x0A08, 0xEE60, 0x0A88, 0xEE21, 0x1A08, 0xEE61, 0x1A88)
    # vadd s17 to s0 to s3
    data(2, 0xEE30, 0x0A28, 0xEE70, 0x0AA8, 0xEE31, 0x1A28, 0xEE71, 0x1AA8)
    data(2, 0xA810)  # add r0, sp, 64
    data(2, 0xEC80, 0x0A10)  # vstmia r0, {s0-s15}
    data(2, 0xF8D8, 0x4044)  # ldr r4, [r8, 68]
    cmp(r4, 1)
    blt(STORE)
    beq(RELU)
    data(2, 0x9D09)  # ldr r5, [sp, 36]
    data(2, 0xED98, 0x9A12)  # vldr s18, [r8, 72]
    data(2, 0xEDD8, 0x9A13)  # vldr s19, [r8, 76]
    label(CLIP)
    vldr(s0, [r0, 0])
    data(2, 0xEEB4, 0x0A49)  # vcmp s0, s18
    data(2, 0xEEF1, 0xFA10)  # vmrs apsr_nzcv, fpscr
    data(2, 0xBF48)  # it mi
    data(2, 0xEEB0, 0x0A49)  # vmovmi s0, s18
    data(2, 0xEEB4, 0x0A69)  # vcmp s0, s19
    data(2, 0xEEF1, 0xFA10)  # vmrs apsr_nzcv, fpscr
    data(2, 0xBFC8)  # it gt
    data(2, 0xEEB0, 0x0A69)  # vmovgt s0, s19
    data(2, 0xECA0, 0x0A01)  # vstmia r0!, {s0}
    sub(r5, 1)
    bne(CLIP)
    b(STORE)
    label(RELU)
    data(2, 0xE890, 0x001E)  # ldmia r0, {r1, r2, r3, r4}
    # bic r1 to r4, their own signs
    data(2, 0xEA21, 0x71E1, 0xEA22, 0x72E2, 0xEA23, 0x73E3, 0xEA24, 0x74E4)
    data(2, 0xC01E)  # stmia r0!, {r1, r2, r3, r4}
    data(2, 0xE890, 0x001E)  # ldmia r0, {r1, r2, r3, r4}
    # bic r1 to r4, their own signs
    data(2, 0xEA21, 0x71E1, 0xEA22, 0x72E2, 0xEA23, 0x73E3, 0xEA24, 0x74E4)
    data(2, 0xC01E)  # stmia r0!, {r1, r2, r3, r4}
    data(2, 0xE890, 0x001E)  # ldmia r0, {r1, r2, r3, r4}
    # bic r1 to r4, their own signs
    data(2, 0xEA21, 0x71E1, 0xEA22, 0x72E2, 0xEA23, 0x73E3, 0xEA24, 0x74E4)
    data(2, 0xC01E)  # stmia r0!, {r1, r2, r3, r4}
    data(2, 0xE890, 0x001E)  # ldmia r0, {r1, r2, r3, r4}
    # bic r1 to r4, their own signs
    data(2, 0xEA21, 0x71E1, 0xEA22, 0x72E2, 0xEA23, 0x73E3, 0xEA24, 0x74E4)
    data(2, 0xC01E)  # stmia r0!, {r1, r2, r3, r4}
    label(STORE)
    data(2, 0xA810)  # add r0, sp, 64
    data(2, 0x9909)  # ldr r1, [sp, 36]
    mov(r2, lr)
    data(2, 0xF8D8, 0x3038)  # ldr r3, [r8, 56]
    data(2, 0x9F0B)  # ldr r7, [sp, 44]
    cmp(r7, 2)
    blt(POOL)
    cmp(r3, 4)
    bne(EACH)
    sub(r1, 4)
    blt(REST)
    label(QUAD)
    data(2, 0xC878)  # ldmia r0!, {r3, r4, r5, r6}
    data(2, 0xC278)  # stmia r2!, {r3, r4, r5, r6}
    sub(r1, 4)
    bge(QUAD)
    label(REST)
    mov(r3, 4)
    add(r1, 4)
    beq(STORED)
    label(EACH)
    data(2, 0xF850, 0x4B04)  # ldr r4, [r0], 4
    str(r4, [r2, 0])
    add(r2, r2, r3)
    sub(r1, 1)
    bne(EACH)
    b(STORED)
    label(POOL)
    data(2, 0xF8D8, 0x5050)  # ldr r5, [r8, 80]
    data(2, 0x9E0C)  # ldr r6, [sp, 48]
    cmp(r7, 0)
    bne(LARGER)
    cmp(r6, r5)
    beq(FIRST)
    label(LARGER)
    data(2, 0xECB0, 0x0A01)  # vldmia r0!, {s0}
    vldr(s1, [r2, 0])
    data(2, 0xEEB4, 0x0A60)  # vcmp s0, s1
    data(2, 0xEEF1, 0xFA10)  # vmrs apsr_nzcv, fpscr
    data(2, 0xBF48)  # it mi
    data(2, 0xEEB0, 0x0A60)  # vmovmi s0, s1
    vstr(s0, [r2, 0])
    sub(r1, 1)
    beq(STORED)
    sub(r6, 1)
    bne(LARGER)
    mov(r6, r5)
    add(r2, r2, r3)
    cmp(r7, 0)
    bne(LARGER)
    label(FIRST)
    data(2, 0xF850, 0x4B04)  # ldr r4, [r0], 4
    str(r4, [r2, 0])
    sub(r1, 1)
    beq(STORED)
    sub(r6, 1)
    bne(LARGER)
    mov(r6, r5)
    add(r2, r2, r3)
    b(FIRST)
    label(STORED)
    data(2, 0xF8D8, 0x403C)  # ldr r4, [r8, 60]
    data(2, 0x44A6)  # add lr, r4
    data(2, 0xF1BC, 0x0C01)  # subs r12, r12, 1
    bne_w(CHANNEL)
    data(2, 0x9C08)  # ldr r4, [sp, 32]
    data(2, 0x9D09)  # ldr r5, [sp, 36]
    add(r4, r4, r5)
    data(2, 0xF8D8, 0x5014)  # ldr r5, [r8, 20]
    cmp(r4, r5)
    blt_w(TILE)
    data(2, 0x9C06)  # ldr r4, [sp, 24]
    data(2, 0xF8D8, 0x5010)  # ldr r5, [r8, 16]
    add(r4, r4, r5)
    data(2, 0x9406)  # str r4, [sp, 24]
    data(2, 0x9C07)  # ldr r4, [sp, 28]
    data(2, 0xF8D8, 0x5040)  # ldr r5, [r8, 64]
    add(r4, r4, r5)
    data(2, 0x9407)  # str r4, [sp, 28]
    data(2, 0x9C0B)  # ldr r4, [sp, 44]
    mov(r5, 1)
    orr(r4, r5)
    data(2, 0x940B)  # str r4, [sp, 44]
    data(2, 0x9C05)  # ldr r4, [sp, 20]
    sub(r4, 1)
    data(2, 0x9405)  # str r4, [sp, 20]
    bne_w(ROW)
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    data(2, 0xF8D8, 0x5008)  # ldr r5, [r8, 8]
    add(r4, r4, r5)
    data(2, 0x9401)  # str r4, [sp, 4]
    data(2, 0xF8CD, 0xA008)  # str r10, [sp, 8]
    data(2, 0xF8CD, 0x900C)  # str r9, [sp, 12]
    data(2, 0xF8D8, 0x401C)  # ldr r4, [r8, 28]
    data(2, 0xF8D8, 0x503C)  # ldr r5, [r8, 60]
    mul(r4, r5)
    data(2, 0x9D04)  # ldr r5, [sp, 16]
    add(r4, r4, r5)
    data(2, 0x9404)  # str r4, [sp, 16]
    data(2, 0x9C00)  # ldr r4, [sp, 0]
    sub(r4, 1)
    data(2, 0x9400)  # str r4, [sp, 0]
    bne_w(GROUP)
    data(2, 0xB030)  # add sp, 192
    data(2, 0xECBD, 0x8A10)  # vpop {s16-s31}
    data(2, 0xE8BD, 0x0F00)  # pop {r8, r9, r10, r11}
    mov(r0, 0)  # what is returned, as a small integer
