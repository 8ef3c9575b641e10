"""Sums of a convolution of float32 in the FPU, for loops/vfp/fpu. Inline assembler with VFP.

Weights are mantissas, x and sums floats. 1.4 instructions a multiply-accumulate of 16 positions,
1.6 of 8, 2.2 of 4. What stands behind a line of code is what it adds up: s0-s7+=s16*s24 are eight
vfma, of s16 to s23 with s24.

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
def sums(r0, r1, r2, r3):
    data(2, 0xE92D, 0x0F00, 0xED2D, 0x8A10, 0xB0B0)  # push {r8-r11}; vpush {s16-s31}; sub sp, 192
    mov(r8, r3)
    data(2, 0xAE20, 0x2400, 0x2510)  # add r6, sp, 128; mov r4, 0; mov r5, 16
    label(ZERO)
    data(2, 0xF846, 0x4B04)  # str r4, [r6], 4
    sub(r5, 1)
    bne(ZERO)
    data(2, 0xEEF0, 0xFA00)  # vmov s31, 2.0
    data(2, 0x681C, 0x1824, 0x9401)  # ldr r4, [r3, 0]; add r4, r4, r0; str r4, [sp, 4]
    data(2, 0x6ADC, 0x1864, 0x9402)  # ldr r4, [r3, 44]; add r4, r4, r1; str r4, [sp, 8]
    data(2, 0x6B1C, 0x18E4, 0x9403)  # ldr r4, [r3, 48]; add r4, r4, r3; str r4, [sp, 12]
    data(2, 0x6B5C, 0x18A4, 0x9404)  # ldr r4, [r3, 52]; add r4, r4, r2; str r4, [sp, 16]
    data(2, 0x685C, 0x9400)  # ldr r4, [r3, 4]; str r4, [sp, 0]
    label(GROUP)
    data(2, 0xF8D8, 0x400C, 0x9405)  # ldr r4, [r8, 12]; str r4, [sp, 20]
    data(2, 0x9C01, 0x9406)  # ldr r4, [sp, 4]; str r4, [sp, 24]
    data(2, 0x9C04, 0x9407)  # ldr r4, [sp, 16]; str r4, [sp, 28]
    data(2, 0xF8D8, 0x4054, 0x940B)  # ldr r4, [r8, 84]; str r4, [sp, 44]
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
    data(2, 0xAB08, 0xC3D0)  # add r3, sp, 32; stmia r3!, {r4, r6, r7}
    data(2, 0x9B06, 0xEB03, 0x0B84)  # ldr r3, [sp, 24]; add r11, r3, r4, lsl 2
    data(2, 0xF8D8, 0x5050, 0xFBB4, 0xF6F5)  # ldr r5, [r8, 80]; udiv r6, r4, r5
    data(2, 0xFB06, 0x4415, 0x1B2D, 0x950C)  # mls r4, r6, r5, r4; sub r5, r5, r4; str r5, [sp, 48]
    data(2, 0xF8D8, 0x5038, 0x436E)  # ldr r5, [r8, 56]; mul r6, r5
    data(2, 0x9D07, 0x1976)  # ldr r5, [sp, 28]; add r6, r6, r5
    mov(lr, r6)
    data(2, 0xF8DD, 0xA008, 0xF8DD, 0x900C)  # ldr r10, [sp, 8]; ldr r9, [sp, 12]
    data(2, 0xF8D8, 0xC01C)  # ldr r12, [r8, 28]
    label(CHANNEL)
    data(2, 0xA820, 0xEC90, 0x0A10)  # add r0, sp, 128; vldmia r0, {s0-s15}
    mov(r1, r10)
    data(2, 0xF108, 0x0458, 0xF8D8, 0x5020)  # add r4, r8, 88; ldr r5, [r8, 32]
    data(2, 0xF8D8, 0x3028, 0xF8D8, 0x6024)  # ldr r3, [r8, 40]; ldr r6, [r8, 36]
    data(2, 0x9F0A)  # ldr r7, [sp, 40]
    cmp(r7, 16)
    bne(TAP)
    sub(r3, 32)
    label(TAP)
    data(2, 0xF854, 0x0B04, 0x4458)  # ldr r0, [r4], 4; add r0, r11
    sub(r2, r6, 4)
    cmp(r7, 8)
    beq_w(TAP8)
    blt_w(TAP4)
    add(r2, 2)
    data(2, 0xF016, 0x0F01)  # tst r6, 1
    beq(TWO16)
    add(r2, 1)
    data(2, 0xECF1, 0xCA01, 0xEEFA, 0xCAC5, 0xEE7C, 0xCAEF)  # vldmia r1!, {s25}; vcvt; vsub
    b(ODD16)
    label(TWO16)
    # vldmia r1!, {s24-s25}; vcvt.f32.s32 them, 22 fraction bits; vsub them by s31
    data(2, 0xECB1, 0xCA02, 0xEEBA, 0xCAC5, 0xEEFA, 0xCAC5, 0xEE3C, 0xCA6F, 0xEE7C, 0xCAEF)
    data(2, 0xECB0, 0x8A08)  # vldmia r0!, {s16-s23}
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)  # s0-s7+=s16*s24
    data(2, 0xEEAA, 0x2A0C, 0xEEEA, 0x2A8C, 0xEEAB, 0x3A0C, 0xEEEB, 0x3A8C)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    data(2, 0xEEA8, 0x4A0C, 0xEEE8, 0x4A8C, 0xEEA9, 0x5A0C, 0xEEE9, 0x5A8C)  # s8-s15+=s16*s24
    data(2, 0xEEAA, 0x6A0C, 0xEEEA, 0x6A8C, 0xEEAB, 0x7A0C, 0xEEEB, 0x7A8C)
    add(r0, r0, r3)
    label(ODD16)
    data(2, 0xECB0, 0x8A08)  # vldmia r0!, {s16-s23}
    data(2, 0xEEA8, 0x0A2C, 0xEEE8, 0x0AAC, 0xEEA9, 0x1A2C, 0xEEE9, 0x1AAC)  # s0-s7+=s16*s25
    data(2, 0xEEAA, 0x2A2C, 0xEEEA, 0x2AAC, 0xEEAB, 0x3A2C, 0xEEEB, 0x3AAC)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    data(2, 0xEEA8, 0x4A2C, 0xEEE8, 0x4AAC, 0xEEA9, 0x5A2C, 0xEEE9, 0x5AAC)  # s8-s15+=s16*s25
    data(2, 0xEEAA, 0x6A2C, 0xEEEA, 0x6AAC, 0xEEAB, 0x7A2C, 0xEEEB, 0x7AAC)
    add(r0, r0, r3)
    sub(r2, 2)
    bge(TWO16)
    b(TAPPED)
    label(TAP8)
    cmp(r2, 0)
    blt(SINGLE8)
    label(FOUR8)
    # vldmia r1!, {s24-s27}; vcvt.f32.s32 them, 22 fraction bits; vsub them by s31
    data(2, 0xECB1, 0xCA04, 0xEEBA, 0xCAC5, 0xEEFA, 0xCAC5, 0xEEBA, 0xDAC5, 0xEEFA, 0xDAC5)
    data(2, 0xEE3C, 0xCA6F, 0xEE7C, 0xCAEF, 0xEE3D, 0xDA6F, 0xEE7D, 0xDAEF)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)  # s0-s7+=s16*s24
    data(2, 0xEEAA, 0x2A0C, 0xEEEA, 0x2A8C, 0xEEAB, 0x3A0C, 0xEEEB, 0x3A8C)
    data(2, 0x18C0, 0xEC90, 0x8A08)  # add r0, r0, r3; vldmia r0, {s16-s23}
    data(2, 0xEEA8, 0x0A2C, 0xEEE8, 0x0AAC, 0xEEA9, 0x1A2C, 0xEEE9, 0x1AAC)  # s0-s7+=s16*s25
    data(2, 0xEEAA, 0x2A2C, 0xEEEA, 0x2AAC, 0xEEAB, 0x3A2C, 0xEEEB, 0x3AAC)
    data(2, 0x18C0, 0xEC90, 0x8A08)  # add r0, r0, r3; vldmia r0, {s16-s23}
    data(2, 0xEEA8, 0x0A0D, 0xEEE8, 0x0A8D, 0xEEA9, 0x1A0D, 0xEEE9, 0x1A8D)  # s0-s7+=s16*s26
    data(2, 0xEEAA, 0x2A0D, 0xEEEA, 0x2A8D, 0xEEAB, 0x3A0D, 0xEEEB, 0x3A8D)
    data(2, 0x18C0, 0xEC90, 0x8A08)  # add r0, r0, r3; vldmia r0, {s16-s23}
    data(2, 0xEEA8, 0x0A2D, 0xEEE8, 0x0AAD, 0xEEA9, 0x1A2D, 0xEEE9, 0x1AAD)  # s0-s7+=s16*s27
    data(2, 0xEEAA, 0x2A2D, 0xEEEA, 0x2AAD, 0xEEAB, 0x3A2D, 0xEEEB, 0x3AAD)
    add(r0, r0, r3)
    sub(r2, 4)
    bge(FOUR8)
    label(SINGLE8)
    add(r2, 4)
    beq(TAPPED)
    label(ONE8)
    # vldmia r1!, {s24}; vcvt.f32.s32 s24, 22; vsub s24, s24, s31
    data(2, 0xECB1, 0xCA01, 0xEEBA, 0xCAC5, 0xEE3C, 0xCA6F)
    data(2, 0xEC90, 0x8A08)  # vldmia r0, {s16-s23}
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)  # s0-s7+=s16*s24
    data(2, 0xEEAA, 0x2A0C, 0xEEEA, 0x2A8C, 0xEEAB, 0x3A0C, 0xEEEB, 0x3A8C)
    add(r0, r0, r3)
    sub(r2, 1)
    bne(ONE8)
    b(TAPPED)
    label(TAP4)
    cmp(r2, 0)
    blt(SINGLE4)
    label(FOUR4)
    # vldmia r1!, {s24-s27}; vcvt.f32.s32 them, 22 fraction bits; vsub them by s31
    data(2, 0xECB1, 0xCA04, 0xEEBA, 0xCAC5, 0xEEFA, 0xCAC5, 0xEEBA, 0xDAC5, 0xEEFA, 0xDAC5)
    data(2, 0xEE3C, 0xCA6F, 0xEE7C, 0xCAEF, 0xEE3D, 0xDA6F, 0xEE7D, 0xDAEF)
    data(2, 0xEC90, 0x8A04)  # vldmia r0, {s16-s19}
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)  # s0-s3+=s16*s24
    data(2, 0x18C0, 0xEC90, 0x8A04)  # add r0, r0, r3; vldmia r0, {s16-s19}
    data(2, 0xEEA8, 0x0A2C, 0xEEE8, 0x0AAC, 0xEEA9, 0x1A2C, 0xEEE9, 0x1AAC)  # s0-s3+=s16*s25
    data(2, 0x18C0, 0xEC90, 0x8A04)  # add r0, r0, r3; vldmia r0, {s16-s19}
    data(2, 0xEEA8, 0x0A0D, 0xEEE8, 0x0A8D, 0xEEA9, 0x1A0D, 0xEEE9, 0x1A8D)  # s0-s3+=s16*s26
    data(2, 0x18C0, 0xEC90, 0x8A04)  # add r0, r0, r3; vldmia r0, {s16-s19}
    data(2, 0xEEA8, 0x0A2D, 0xEEE8, 0x0AAD, 0xEEA9, 0x1A2D, 0xEEE9, 0x1AAD)  # s0-s3+=s16*s27
    add(r0, r0, r3)
    sub(r2, 4)
    bge(FOUR4)
    label(SINGLE4)
    add(r2, 4)
    beq(TAPPED)
    label(ONE4)
    # vldmia r1!, {s24}; vcvt.f32.s32 s24, 22; vsub s24, s24, s31
    data(2, 0xECB1, 0xCA01, 0xEEBA, 0xCAC5, 0xEE3C, 0xCA6F)
    data(2, 0xEC90, 0x8A04)  # vldmia r0, {s16-s19}
    data(2, 0xEEA8, 0x0A0C, 0xEEE8, 0x0A8C, 0xEEA9, 0x1A0C, 0xEEE9, 0x1A8C)  # s0-s3+=s16*s24
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
    data(2, 0xEE24, 0x4A08, 0xEE64, 0x4A88, 0xEE25, 0x5A08, 0xEE65, 0x5A88)  # s8-s15*=s16
    data(2, 0xEE26, 0x6A08, 0xEE66, 0x6A88, 0xEE27, 0x7A08, 0xEE67, 0x7A88)
    data(2, 0xEE34, 0x4A28, 0xEE74, 0x4AA8, 0xEE35, 0x5A28, 0xEE75, 0x5AA8)  # s8-s15+=s17
    data(2, 0xEE36, 0x6A28, 0xEE76, 0x6AA8, 0xEE37, 0x7A28, 0xEE77, 0x7AA8)
    label(EIGHT)
    data(2, 0xEE22, 0x2A08, 0xEE62, 0x2A88, 0xEE23, 0x3A08, 0xEE63, 0x3A88)  # s4-s7*=s16
    data(2, 0xEE32, 0x2A28, 0xEE72, 0x2AA8, 0xEE33, 0x3A28, 0xEE73, 0x3AA8)  # s4-s7+=s17
    label(FOUR)
    data(2, 0xEE20, 0x0A08, 0xEE60, 0x0A88, 0xEE21, 0x1A08, 0xEE61, 0x1A88)  # s0-s3*=s16
    data(2, 0xEE30, 0x0A28, 0xEE70, 0x0AA8, 0xEE31, 0x1A28, 0xEE71, 0x1AA8)  # s0-s3+=s17
    data(2, 0xA810, 0xEC80, 0x0A10)  # add r0, sp, 64; vstmia r0, {s0-s15}
    data(2, 0xF8D8, 0x4044)  # ldr r4, [r8, 68]
    cmp(r4, 1)
    blt(STORE)
    beq(RELU)
    data(2, 0x9D09, 0xED98, 0x9A12)  # ldr r5, [sp, 36]; vldr s18, [r8, 72]
    data(2, 0xEDD8, 0x9A13)  # vldr s19, [r8, 76]
    label(CLIP)
    vldr(s0, [r0, 0])
    data(2, 0xEEB4, 0x0A49, 0xEEF1, 0xFA10, 0xBF48)  # vcmp s0, s18; vmrs apsr_nzcv, fpscr; it mi
    data(2, 0xEEB0, 0x0A49, 0xEEB4, 0x0A69)  # vmovmi s0, s18; vcmp s0, s19
    data(2, 0xEEF1, 0xFA10, 0xBFC8, 0xEEB0, 0x0A69)  # vmrs apsr_nzcv, fpscr; it gt; vmovgt s0, s19
    data(2, 0xECA0, 0x0A01)  # vstmia r0!, {s0}
    sub(r5, 1)
    bne(CLIP)
    b(STORE)
    label(RELU)
    lsr(r5, r7, 2)
    label(SIGNS)
    data(2, 0xE890, 0x001E)  # ldmia r0, {r1, r2, r3, r4}
    # bic r1 to r4, their own signs; stmia r0!, {r1, r2, r3, r4}
    data(2, 0xEA21, 0x71E1, 0xEA22, 0x72E2, 0xEA23, 0x73E3, 0xEA24, 0x74E4, 0xC01E)
    sub(r5, 1)
    bne(SIGNS)
    label(STORE)
    data(2, 0xA810, 0x9909)  # add r0, sp, 64; ldr r1, [sp, 36]
    mov(r2, lr)
    data(2, 0xF8D8, 0x3038, 0x9F0B)  # ldr r3, [r8, 56]; ldr r7, [sp, 44]
    cmp(r7, 2)
    blt(POOL)
    cmp(r3, 4)
    bne(EACH)
    sub(r1, 4)
    blt(REST)
    label(QUAD)
    data(2, 0xC878, 0xC278)  # ldmia r0!, {r3, r4, r5, r6}; stmia r2!, {r3, r4, r5, r6}
    sub(r1, 4)
    bge(QUAD)
    label(REST)
    data(2, 0x2304, 0x3104)  # mov r3, 4; add r1, 4
    beq(STORED)
    label(EACH)
    data(2, 0xF850, 0x4B04, 0x6014)  # ldr r4, [r0], 4; str r4, [r2, 0]
    data(2, 0x18D2, 0x3901)  # add r2, r2, r3; sub r1, 1
    bne(EACH)
    b(STORED)
    label(POOL)
    data(2, 0xF8D8, 0x5050, 0x9E0C)  # ldr r5, [r8, 80]; ldr r6, [sp, 48]
    cmp(r7, 0)
    bne(LARGER)
    cmp(r6, r5)
    beq(FIRST)
    label(LARGER)
    data(2, 0xECB0, 0x0A01)  # vldmia r0!, {s0}
    vldr(s1, [r2, 0])
    data(2, 0xEEB4, 0x0A60, 0xEEF1, 0xFA10, 0xBF48)  # vcmp s0, s1; vmrs apsr_nzcv, fpscr; it mi
    data(2, 0xEEB0, 0x0A60)  # vmovmi s0, s1
    vstr(s0, [r2, 0])
    sub(r1, 1)
    beq(STORED)
    sub(r6, 1)
    bne(LARGER)
    data(2, 0x462E, 0x18D2)  # mov r6, r5; add r2, r2, r3
    cmp(r7, 0)
    bne(LARGER)
    label(FIRST)
    data(2, 0xF850, 0x4B04, 0x6014)  # ldr r4, [r0], 4; str r4, [r2, 0]
    sub(r1, 1)
    beq(STORED)
    sub(r6, 1)
    bne(LARGER)
    data(2, 0x462E, 0x18D2)  # mov r6, r5; add r2, r2, r3
    b(FIRST)
    label(STORED)
    data(2, 0xF8D8, 0x403C, 0x44A6)  # ldr r4, [r8, 60]; add lr, r4
    data(2, 0xF1BC, 0x0C01)  # subs r12, r12, 1
    bne_w(CHANNEL)
    data(2, 0x9C08, 0x9D09, 0x1964)  # ldr r4, [sp, 32]; ldr r5, [sp, 36]; add r4, r4, r5
    data(2, 0xF8D8, 0x5014)  # ldr r5, [r8, 20]
    cmp(r4, r5)
    blt_w(TILE)
    data(2, 0x9C06, 0xF8D8, 0x5010, 0x1964)  # ldr r4, [sp, 24]; ldr r5, [r8, 16]; add r4, r4, r5
    data(2, 0x9406)  # str r4, [sp, 24]
    data(2, 0x9C07, 0xF8D8, 0x5040, 0x1964)  # ldr r4, [sp, 28]; ldr r5, [r8, 64]; add r4, r4, r5
    data(2, 0x9407)  # str r4, [sp, 28]
    data(2, 0x9C0B, 0xF044, 0x0401, 0x940B)  # ldr r4, [sp, 44]; orr r4, r4, 1; str r4, [sp, 44]
    data(2, 0x9C05, 0x3C01, 0x9405)  # ldr r4, [sp, 20]; sub r4, 1; str r4, [sp, 20]
    bne_w(ROW)
    data(2, 0x9C01, 0xF8D8, 0x5008, 0x1964)  # ldr r4, [sp, 4]; ldr r5, [r8, 8]; add r4, r4, r5
    data(2, 0x9401)  # str r4, [sp, 4]
    data(2, 0xE9CD, 0xA902)  # strd r10, r9, [sp, 8]
    data(2, 0xF8D8, 0x401C, 0xF8D8, 0x503C)  # ldr r4, [r8, 28]; ldr r5, [r8, 60]
    mul(r4, r5)
    data(2, 0x9D04, 0x1964, 0x9404)  # ldr r5, [sp, 16]; add r4, r4, r5; str r4, [sp, 16]
    data(2, 0x9C00, 0x3C01, 0x9400)  # ldr r4, [sp, 0]; sub r4, 1; str r4, [sp, 0]
    bne_w(GROUP)
    data(2, 0xB030, 0xECBD, 0x8A10, 0xE8BD, 0x0F00)  # add sp, 192; vpop {s16-s31}; pop {r8-r11}
    mov(r0, 0)  # what is returned, as a small integer
