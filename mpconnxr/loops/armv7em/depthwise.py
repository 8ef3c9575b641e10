"""Depthwise convolution of bytes: see loops/depthwise. Assembler, ARMv7E-M (DSP).

Bytes become pairs of halfwords, for smlad. 3 x 3 kernels: two outputs at a time, 13 instructions
for each sum and 14 for the rest; 20 and 22 where x has a stride. Kernels of 2 to 8 columns: 9 a
row of up to 4, 15 of up to 8. Shifts of 4 to 12 are quick: the sum is cut where any would
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
    # Weights of four items: (w0, w2), (w1, w3); the last four of a row may overlap those before
    # them, or what lies before the row, with weights of 0: (0, w1), (w0, w2) of three.
    # r0 items, r1 weights, r2 and r3 items, r4 sum, r8 multiplier, r9 step of ky, r10 out, r11
    # outputs left, r12 shift or 9 if it is not quick. 3 x 3: r5 second sum, lr step of out.
    # Others: r5 rows left, lr from the row to its last four items
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
    data(2, 0xE9D3, 0x4504)  # ldrd r4, r5, [r3, 16]
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
    data(2, 0xEA45, 0x4505)  # orr r5, r5, r5, lsl 16
    data(2, 0xE9D3, 0x4604, 0xF1A6, 0x0E04)  # ldrd r4, r6, [r3, 16]; sub lr, r6, 4
    label(WEIGHT)
    data(2, 0xF1BE, 0x0F00)  # cmp lr, 0
    ble(SHORT)
    # ldr r7, [r0]; uxtb16 r6, r7; uxtb16 r7, r7, ror 8
    data(2, 0x6807, 0xFA3F, 0xF687, 0xFA3F, 0xF797)
    data(2, 0xFAD6, 0xF605, 0xFAD7, 0xF705)  # ssub16 r6, r6, r5; ssub16 r7, r7, r5
    data(2, 0xE8E2, 0x6702)  # strd r6, r7, [r2], 8
    label(SHORT)
    data(2, 0x4470)  # add r0, lr
    # ldr r7, [r0], 4; uxtb16 r6, r7; uxtb16 r7, r7, ror 8
    data(2, 0xF850, 0x7B04, 0xFA3F, 0xF687, 0xFA3F, 0xF797)
    data(2, 0xFAD6, 0xF605, 0xFAD7, 0xF705)  # ssub16 r6, r6, r5; ssub16 r7, r7, r5
    data(2, 0xF01E, 0x0103)  # ands r1, lr, 3
    beq(ALL)
    mov(r3, 0)
    cmp(r1, 3)
    data(2, 0xEAC3, 0x0306)  # pkhbt r3, r3, r6
    mov(r6, r3)
    beq(ALL)
    mov(r3, 0)
    data(2, 0xEAC3, 0x0307)  # pkhbt r3, r3, r7
    mov(r7, r3)
    cmp(r1, 2)
    beq(ALL)
    mov(r6, 0)
    label(ALL)
    data(2, 0xE8E2, 0x6702)  # strd r6, r7, [r2], 8
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
    bne_w(LINE)
    data(2, 0xF8DD, 0xE020)  # ldr lr, [sp, 32]
    label(LINE33)
    data(2, 0x980C, 0x9B06)  # ldr r0, [sp, 48]; ldr r3, [sp, 24]
    data(2, 0xF8D3, 0xB024)  # ldr r11, [r3, 36]
    ldr(r4, [r3, 40])
    add(r4, r4, r0)
    data(2, 0x940C, 0x9C07)  # str r4, [sp, 48]; ldr r4, [sp, 28]
    cmp(r4, 1)
    bne(OUTPUT33)
    data(2, 0xF1BC, 0x0F09)  # cmp r12, 9
    beq(OUTPUT33)
    data(2, 0xF1BB, 0x0B02)  # subs r11, r11, 2
    blt(ODD)
    label(PAIR)
    data(2, 0x9C00)  # ldr r4, [sp, 0]
    mov(r5, r4)
    # a row: ldrd r6, r7; ldr r3; uxtb16 r2, r3; uxtb16 r3, r3, ror 8; smlad r4, r2, r7, r4;
    # smladx r4, r3, r6, r4; smlad r5, r3, r7, r5; smlad r5, r2, r6, r5
    data(2, 0xE9D1, 0x6700, 0x6803, 0xFA3F, 0xF283, 0xFA3F, 0xF393)
    data(2, 0xFB22, 0x4407, 0xFB23, 0x4416, 0xFB23, 0x5507, 0xFB22, 0x5506)
    data(2, 0xE9D1, 0x6702, 0xF850, 0x3009, 0xFA3F, 0xF283, 0xFA3F, 0xF393)
    data(2, 0xFB22, 0x4407, 0xFB23, 0x4416, 0xFB23, 0x5507, 0xFB22, 0x5506)
    data(2, 0xE9D1, 0x6704, 0xF850, 0x3019, 0xFA3F, 0xF283, 0xFA3F, 0xF393)
    data(2, 0xFB22, 0x4407, 0xFB23, 0x4416, 0xFB23, 0x5507, 0xFB22, 0x5506)
    data(2, 0xE9DD, 0x6702)  # ldrd r6, r7, [sp, 8]
    # ssat r4, 23, r4; lsl r4, r4, r12; smull r2, r3, r4, r8; ssat r3, 20, r3
    data(2, 0xF304, 0x0416, 0xFA04, 0xF40C, 0xFB84, 0x2308, 0xF303, 0x0313)
    # lsr r2, r2, 24; adc r4, r2, r3, lsl 8; lsr r2, r4, 17; adc r4, r6
    data(2, 0x0E12, 0xEB42, 0x2403, 0x0C62, 0x4174)
    data(2, 0xF3A4, 0x4408, 0x19E4)  # usat r4, 8, r4, asr 16; add r4, r4, r7
    data(2, 0xF88A, 0x4000)  # strb r4, [r10]
    data(2, 0x44F2)  # add r10, lr
    # ssat r5, 23, r5; lsl r5, r5, r12; smull r2, r3, r5, r8; ssat r3, 20, r3
    data(2, 0xF305, 0x0516, 0xFA05, 0xF50C, 0xFB85, 0x2308, 0xF303, 0x0313)
    # lsr r2, r2, 24; adc r5, r2, r3, lsl 8; lsr r2, r5, 17; adc r5, r6
    data(2, 0x0E12, 0xEB42, 0x2503, 0x0C6A, 0x4175)
    data(2, 0xF3A5, 0x4508, 0x19ED)  # usat r5, 8, r5, asr 16; add r5, r5, r7
    data(2, 0xF88A, 0x5000)  # strb r5, [r10]
    data(2, 0x44F2)  # add r10, lr
    add(r0, 2)
    data(2, 0xF1BB, 0x0B02)  # subs r11, r11, 2
    bge(PAIR)
    label(ODD)
    data(2, 0xF11B, 0x0B02)  # adds r11, r11, 2
    beq(NEXT33)
    label(OUTPUT33)
    sub(r5, r0, 1)
    data(2, 0x9C00)  # ldr r4, [sp, 0]
    # a row: ldrd r6, r7; ldr r2; uxtb16 r3, r2; uxtb16 r2, r2, ror 8
    data(2, 0xE9D1, 0x6700, 0x682A, 0xFA3F, 0xF382, 0xFA3F, 0xF292)
    data(2, 0xFB23, 0x4406, 0xFB22, 0x4407)  # smlad r4, r3, r6, r4; smlad r4, r2, r7, r4
    data(2, 0xE9D1, 0x6702, 0xF855, 0x2009, 0xFA3F, 0xF382, 0xFA3F, 0xF292)
    data(2, 0xFB23, 0x4406, 0xFB22, 0x4407)  # smlad r4, r3, r6, r4; smlad r4, r2, r7, r4
    data(2, 0xE9D1, 0x6704, 0xF855, 0x2019, 0xFA3F, 0xF382, 0xFA3F, 0xF292)
    data(2, 0xFB23, 0x4406, 0xFB22, 0x4407)  # smlad r4, r3, r6, r4; smlad r4, r2, r7, r4
    data(2, 0xE9DD, 0x6702, 0xF1BC, 0x0F09)  # ldrd r6, r7, [sp, 8]; cmp r12, 9
    beq_w(SLOW)
    # ssat r4, 23, r4; lsl r4, r4, r12; smull r2, r3, r4, r8; ssat r3, 20, r3
    data(2, 0xF304, 0x0416, 0xFA04, 0xF40C, 0xFB84, 0x2308, 0xF303, 0x0313)
    # lsr r2, r2, 24; adc r4, r2, r3, lsl 8; lsr r2, r4, 17; adc r4, r6
    data(2, 0x0E12, 0xEB42, 0x2403, 0x0C62, 0x4174)
    data(2, 0xF3A4, 0x4408, 0x19E4)  # usat r4, 8, r4, asr 16; add r4, r4, r7
    label(PUT33)
    data(2, 0xF88A, 0x4000)  # strb r4, [r10]
    data(2, 0x44F2, 0x9A07)  # add r10, lr; ldr r2, [sp, 28]
    add(r0, r0, r2)
    data(2, 0xF1BB, 0x0B01)  # subs r11, r11, 1
    bne(OUTPUT33)
    label(NEXT33)
    data(2, 0x9C0B)  # ldr r4, [sp, 44]
    sub(r4, 1)
    data(2, 0x940B)  # str r4, [sp, 44]
    bne_w(LINE33)
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
    data(2, 0x9C00, 0xF1BE, 0x0F00)  # ldr r4, [sp, 0]; cmp lr, 0
    ble(NARROW)
    label(WIDE)
    # ldrd r6, r7, [r1], 8; ldr r3, [r0]; uxtb16 r2, r3; uxtb16 r3, r3, ror 8
    data(2, 0xE8F1, 0x6702, 0x6803, 0xFA3F, 0xF283, 0xFA3F, 0xF393)
    data(2, 0xFB22, 0x4406, 0xFB23, 0x4407)  # smlad r4, r2, r6, r4; smlad r4, r3, r7, r4
    # ldrd r6, r7, [r1], 8; ldr r3, [r0, lr]; uxtb16 r2, r3; uxtb16 r3, r3, ror 8
    data(2, 0xE8F1, 0x6702, 0xF850, 0x300E, 0xFA3F, 0xF283, 0xFA3F, 0xF393)
    data(2, 0xFB22, 0x4406, 0xFB23, 0x4407)  # smlad r4, r2, r6, r4; smlad r4, r3, r7, r4
    data(2, 0x4448)  # add r0, r9
    sub(r5, 1)
    bne(WIDE)
    b(SUMMED)
    label(NARROW)
    # ldrd r6, r7, [r1], 8; ldr r3, [r0, lr]; uxtb16 r2, r3; uxtb16 r3, r3, ror 8
    data(2, 0xE8F1, 0x6702, 0xF850, 0x300E, 0xFA3F, 0xF283, 0xFA3F, 0xF393)
    data(2, 0xFB22, 0x4406, 0xFB23, 0x4407)  # smlad r4, r2, r6, r4; smlad r4, r3, r7, r4
    data(2, 0x4448)  # add r0, r9
    sub(r5, 1)
    bne(NARROW)
    label(SUMMED)
    data(2, 0x9914)  # ldr r1, [sp, 80]
    data(2, 0xE9DD, 0x6702, 0xF1BC, 0x0F09)  # ldrd r6, r7, [sp, 8]; cmp r12, 9
    beq(SLOW)
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
