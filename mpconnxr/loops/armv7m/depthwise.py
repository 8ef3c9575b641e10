"""Depthwise convolution of bytes: see loops/depthwise. Assembler, ARMv7-M.

3 x 3 kernels: 25 instructions for the sum and 20 for the rest of an output. Kernels of 2 to 9
columns: 2.5 a product, and 8 a row. Shifts of 4 to 12 are quick: the sum is cut where any would
saturate.
"""

import micropython

from ..thumb.depthwise import depthwise8  # noqa: F401  (other kernels)


@micropython.asm_thumb
def depthwise_dense(r0, r1, r2, r3):
    # On the stack: c and word of a channel (0, 4), k = 32767 + ((zy - lo) << 16) (8), lo (12),
    # hi - lo (16), 9 if lo to hi are 256 values, else 0 (20), p (24), step of x (28), of out (32),
    # planes left (36), channels left (40), lines left (44), line (48), plane (52), table (56),
    # weights (60), channel's out (64), 0 for 3 x 3 (68), window (76), weights in x (80).
    # r0 items, r1 weights as words, r4 sum, r8 multiplier, r10 out, r11 outputs left, r12 shift or
    # 9 if it is not quick. 3 x 3: r7 row, r9 step of ky, lr of x. Others: r5 rows left, r7 not 0
    # if there is an odd column, r9 from row to row, lr pairs to skip
    data(2, 0xE92D, 0x0F00, 0xB097)  # push {r8, r9, r10, r11}; sub sp, 92
    data(2, 0x9306)  # str r3, [sp, 24]
    data(2, 0x9014)  # str r0, [sp, 80]
    ldr(r4, [r3, 0])
    add(r4, r4, r0)
    data(2, 0x940D)  # str r4, [sp, 52]
    mov(r5, r1)
    ldr(r4, [r3, 84])
    cmp(r4, 0)
    beq(WITH_WEIGHTS)
    mov(r5, r0)
    label(WITH_WEIGHTS)
    ldr(r4, [r3, 48])
    ldr(r6, [r3, 52])
    ldr(r7, [r3, 56])
    add(r4, r4, r5)
    add(r6, r6, r1)
    add(r7, r7, r2)
    data(2, 0xAD0E, 0xC5D0)  # add r5, sp, 56; stmia r5!, {r4, r6, r7}
    ldr(r4, [r3, 72])
    ldr(r5, [r3, 76])
    ldr(r6, [r3, 80])
    sub(r6, r6, r5)
    sub(r4, r4, r5)
    lsl(r4, r4, 16)
    data(2, 0xF647, 0x77FF)  # movw r7, 32767
    add(r4, r4, r7)
    mov(r7, 0)
    cmp(r6, 255)
    bne(LIMITED)
    mov(r7, 9)
    label(LIMITED)
    data(2, 0xAA02, 0xC2F0)  # add r2, sp, 8; stmia r2!, {r4, r5, r6, r7}
    data(2, 0xF8D3, 0x9018)  # ldr r9, [r3, 24]
    ldr(r4, [r3, 44])
    ldr(r5, [r3, 64])
    ldr(r6, [r3, 8])
    data(2, 0xAA07, 0xC270)  # add r2, sp, 28; stmia r2!, {r4, r5, r6}
    data(2, 0xF8D3, 0xE02C, 0xE9D3, 0x4504)  # ldr lr, [r3, 44]; ldrd r4, r5, [r3, 16]
    sub(r4, 3)
    sub(r5, 3)
    orr(r4, r5)
    data(2, 0x9411)  # str r4, [sp, 68]
    label(PLANE)
    data(2, 0x9B06)  # ldr r3, [sp, 24]
    ldr(r4, [r3, 12])
    data(2, 0x940A)  # str r4, [sp, 40]
    label(CHANNEL)
    data(2, 0x980F, 0x9A14)  # ldr r0, [sp, 60]; ldr r2, [sp, 80]
    ldr(r5, [r3, 68])
    ldr(r4, [r3, 16])
    ldr(r6, [r3, 20])
    mul(r4, r6)
    label(WEIGHT)
    data(2, 0xF810, 0x6B01)  # ldrb r6, [r0], 1
    sub(r6, r6, r5)
    data(2, 0xF842, 0x6B04)  # str r6, [r2], 4
    sub(r4, 1)
    bne(WEIGHT)
    data(2, 0x900F, 0x980E)  # str r0, [sp, 60]; ldr r0, [sp, 56]
    data(2, 0xE8F0, 0x4502)  # ldrd r4, r5, [r0], 8
    data(2, 0x900E)  # str r0, [sp, 56]
    data(2, 0xE9CD, 0x4500, 0xF005, 0x043F)  # strd r4, r5, [sp]; and r4, r5, 63
    sub(r4, 4)
    data(2, 0xEA4F, 0x1815, 0x9E05)  # lsr r8, r5, 4; ldr r6, [sp, 20]
    cmp(r4, r6)
    bcc(QUICK)
    mov(r4, 9)
    label(QUICK)
    mov(r12, r4)
    data(2, 0x9B06, 0xF8DD, 0xA040)  # ldr r3, [sp, 24]; ldr r10, [sp, 64]
    ldr(r5, [r3, 60])
    data(2, 0x4455, 0x9510)  # add r5, r10; str r5, [sp, 64]
    ldr(r4, [r3, 32])
    data(2, 0x9D0D, 0xE9CD, 0x450B)  # ldr r5, [sp, 52]; strd r4, r5, [sp, 44]
    data(2, 0x9914, 0x9C11)  # ldr r1, [sp, 80]; ldr r4, [sp, 68]
    cmp(r4, 0)
    bne(LINE)
    label(LINE33)
    data(2, 0x980C, 0x9B06)  # ldr r0, [sp, 48]; ldr r3, [sp, 24]
    data(2, 0xF8D3, 0xB024)  # ldr r11, [r3, 36]
    ldr(r4, [r3, 40])
    add(r4, r4, r0)
    data(2, 0x940C)  # str r4, [sp, 48]
    label(OUTPUT33)
    data(2, 0x9C00, 0xEB00, 0x0709)  # ldr r4, [sp, 0]; add r7, r0, r9
    data(2, 0xE9D1, 0x2300)  # ldrd r2, r3, [r1, 0]
    ldrb(r5, [r0, 0])
    ldrb(r6, [r0, 1])
    data(2, 0xFB02, 0x4405, 0xFB03, 0x4406)  # mla r4, r2, r5, r4; mla r4, r3, r6, r4
    data(2, 0xE9D1, 0x2302)  # ldrd r2, r3, [r1, 8]
    ldrb(r5, [r0, 2])
    ldrb(r6, [r7, 0])
    data(2, 0xFB02, 0x4405, 0xFB03, 0x4406)  # mla r4, r2, r5, r4; mla r4, r3, r6, r4
    data(2, 0xE9D1, 0x2304)  # ldrd r2, r3, [r1, 16]
    ldrb(r5, [r7, 1])
    ldrb(r6, [r7, 2])
    data(2, 0x444F)  # add r7, r9
    data(2, 0xFB02, 0x4405, 0xFB03, 0x4406)  # mla r4, r2, r5, r4; mla r4, r3, r6, r4
    data(2, 0xE9D1, 0x2306)  # ldrd r2, r3, [r1, 24]
    ldrb(r5, [r7, 0])
    ldrb(r6, [r7, 1])
    data(2, 0xFB02, 0x4405, 0xFB03, 0x4406)  # mla r4, r2, r5, r4; mla r4, r3, r6, r4
    ldr(r2, [r1, 32])
    ldrb(r5, [r7, 2])
    data(2, 0xFB02, 0x4405)  # mla r4, r2, r5, r4
    data(2, 0xE9DD, 0x6702, 0xF1BC, 0x0F09)  # ldrd r6, r7, [sp, 8]; cmp r12, 9
    beq_w(SLOW)
    # ssat r4, 23, r4; lsl r4, r4, r12; smull r2, r3, r4, r8; ssat r3, 20, r3
    data(2, 0xF304, 0x0416, 0xFA04, 0xF40C, 0xFB84, 0x2308, 0xF303, 0x0313)
    # lsr r2, r2, 24; adc r4, r2, r3, lsl 8; lsr r2, r4, 17; adc r4, r6
    data(2, 0x0E12, 0xEB42, 0x2403, 0x0C62, 0x4174)
    data(2, 0xF3A4, 0x4408, 0x19E4)  # usat r4, 8, r4, asr 16; add r4, r4, r7
    label(PUT33)
    data(2, 0xF88A, 0x4000)  # strb r4, [r10]
    data(2, 0x9A08, 0x4492, 0x4470)  # ldr r2, [sp, 32]; add r10, r2; add r0, lr
    data(2, 0xF1BB, 0x0B01)  # subs r11, r11, 1
    bne(OUTPUT33)
    data(2, 0x9C0B)  # ldr r4, [sp, 44]
    sub(r4, 1)
    data(2, 0x940B)  # str r4, [sp, 44]
    bne(LINE33)
    b(NEXT_CHANNEL)
    label(LINE)
    data(2, 0x980C, 0x9B06)  # ldr r0, [sp, 48]; ldr r3, [sp, 24]
    data(2, 0xF8D3, 0xB024)  # ldr r11, [r3, 36]
    ldr(r4, [r3, 40])
    add(r4, r4, r0)
    data(2, 0x940C)  # str r4, [sp, 48]
    label(OUTPUT)
    data(2, 0x9013, 0x9B06)  # str r0, [sp, 76]; ldr r3, [sp, 24]
    ldr(r5, [r3, 16])
    data(2, 0xF8D3, 0xE014, 0xEBA9, 0x090E)  # ldr lr, [r3, 20]; sub r9, r9, lr
    data(2, 0x9C00, 0xF1CE, 0x0E09)  # ldr r4, [sp, 0]; rsb lr, lr, 9
    data(2, 0xEA5F, 0x0E5E)  # lsrs lr, lr, 1
    ldr(r7, [r3, 20])
    lsl(r7, r7, 31)
    label(ROW)
    cmp(r7, 0)
    beq(EVEN)
    # ldr r2, [r1], 4; ldrb r6, [r0], 1; mla r4, r2, r6, r4
    data(2, 0xF851, 0x2B04, 0xF810, 0x6B01, 0xFB02, 0x4406)
    label(EVEN)
    data(2, 0xE8DF, 0xF00E)  # tbb [pc, lr]
    data(2, 0x0D03, 0x2117, 0x002B)  # to all four pairs, to three, ...
    # ldrd r2, r3, [r1], 8; ldrb r6, [r0], 1; mla r4, r2, r6, r4
    data(2, 0xE8F1, 0x2302, 0xF810, 0x6B01, 0xFB02, 0x4406)
    data(2, 0xF810, 0x6B01, 0xFB03, 0x4406)  # ldrb r6, [r0], 1; mla r4, r3, r6, r4
    # ldrd r2, r3, [r1], 8; ldrb r6, [r0], 1; mla r4, r2, r6, r4
    data(2, 0xE8F1, 0x2302, 0xF810, 0x6B01, 0xFB02, 0x4406)
    data(2, 0xF810, 0x6B01, 0xFB03, 0x4406)  # ldrb r6, [r0], 1; mla r4, r3, r6, r4
    # ldrd r2, r3, [r1], 8; ldrb r6, [r0], 1; mla r4, r2, r6, r4
    data(2, 0xE8F1, 0x2302, 0xF810, 0x6B01, 0xFB02, 0x4406)
    data(2, 0xF810, 0x6B01, 0xFB03, 0x4406)  # ldrb r6, [r0], 1; mla r4, r3, r6, r4
    # ldrd r2, r3, [r1], 8; ldrb r6, [r0], 1; mla r4, r2, r6, r4
    data(2, 0xE8F1, 0x2302, 0xF810, 0x6B01, 0xFB02, 0x4406)
    data(2, 0xF810, 0x6B01, 0xFB03, 0x4406)  # ldrb r6, [r0], 1; mla r4, r3, r6, r4
    data(2, 0x4448)  # add r0, r9
    sub(r5, 1)
    bne(ROW)
    data(2, 0x9B06, 0xF8D3, 0x9018, 0x9914)  # ldr r3, [sp, 24]; ldr r9, [r3, 24]; ldr r1, [sp, 80]
    data(2, 0xE9DD, 0x6702, 0xF1BC, 0x0F09)  # ldrd r6, r7, [sp, 8]; cmp r12, 9
    beq_w(SLOW)
    # ssat r4, 23, r4; lsl r4, r4, r12; smull r2, r3, r4, r8; ssat r3, 20, r3
    data(2, 0xF304, 0x0416, 0xFA04, 0xF40C, 0xFB84, 0x2308, 0xF303, 0x0313)
    # lsr r2, r2, 24; adc r4, r2, r3, lsl 8; lsr r2, r4, 17; adc r4, r6
    data(2, 0x0E12, 0xEB42, 0x2403, 0x0C62, 0x4174)
    data(2, 0xF3A4, 0x4408, 0x19E4)  # usat r4, 8, r4, asr 16; add r4, r4, r7
    label(PUT)
    data(2, 0xF88A, 0x4000)  # strb r4, [r10]
    data(2, 0x9A08, 0x4492, 0x9813)  # ldr r2, [sp, 32]; add r10, r2; ldr r0, [sp, 76]
    data(2, 0x9A07)  # ldr r2, [sp, 28]
    add(r0, r0, r2)
    data(2, 0xF1BB, 0x0B01)  # subs r11, r11, 1
    bne(OUTPUT)
    data(2, 0x9C0B)  # ldr r4, [sp, 44]
    sub(r4, 1)
    data(2, 0x940B)  # str r4, [sp, 44]
    bne_w(LINE)
    label(NEXT_CHANNEL)
    data(2, 0x9B06, 0x9C0A)  # ldr r3, [sp, 24]; ldr r4, [sp, 40]
    sub(r4, 1)
    data(2, 0x940A)  # str r4, [sp, 40]
    bne_w(CHANNEL)
    data(2, 0x9C0D)  # ldr r4, [sp, 52]
    ldr(r5, [r3, 4])
    add(r4, r4, r5)
    data(2, 0x940D, 0x9C09)  # str r4, [sp, 52]; ldr r4, [sp, 36]
    sub(r4, 1)
    data(2, 0x9409)  # str r4, [sp, 36]
    bne_w(PLANE)
    b(DONE)
    label(SLOW)  # any other shift or range
    data(2, 0x9D01)  # ldr r5, [sp, 4]
    lsl(r3, r5, 26)
    bpl(LEFT)
    lsr(r3, r3, 26)
    sub(r3, 32)
    asr(r4, r3)
    mov(r3, 0)
    label(LEFT)
    lsr(r3, r3, 26)
    mov(r2, 1)
    lsl(r2, r2, 25)
    lsr(r2, r3)
    cmp(r4, r2)
    data(2, 0xBFC8, 0x4614)  # it gt; movgt r4, r2
    neg(r2, r2)
    cmp(r4, r2)
    data(2, 0xBFB8, 0x4614)  # it lt; movlt r4, r2
    lsl(r4, r3)
    lsr(r5, r5, 8)
    data(2, 0xFB84, 0x2305)  # smull r2, r3, r4, r5
    # lsr r2, r2, 24; adc r4, r2, r3, lsl 8; lsr r2, r4, 17; adc r4, r6
    data(2, 0x0E12, 0xEB42, 0x2403, 0x0C62, 0x4174)
    asr(r4, r4, 16)
    data(2, 0xEA24, 0x74E4, 0x9A04)  # bic r4, r4, r4, asr 31; ldr r2, [sp, 16]
    cmp(r4, r2)
    data(2, 0xBFC8, 0x4614)  # it gt; movgt r4, r2
    add(r4, r4, r7)
    data(2, 0x9A11)  # ldr r2, [sp, 68]
    cmp(r2, 0)
    bne_w(PUT)
    b(PUT33)
    label(DONE)
    data(2, 0xB017, 0xE8BD, 0x0F00)  # add sp, 92; pop {r8, r9, r10, r11}
    mov(r0, 0)  # what is returned, as a small integer


depthwise33 = depthwise_dense
