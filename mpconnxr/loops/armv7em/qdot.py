"""Dot products of bytes with requantization: see loops/qdot. Assembler, ARMv7E-M (DSP).

Four channels of two positions at a time, pairs of products by `smlad`: 1.3 instructions a
multiply-accumulate (1.6 of the last position, 3.3 of up to three last channels), and 19 for each
requantization (27 of the last position).
"""

import micropython


@micropython.asm_thumb
def qdots8(r0, r1, r2, r3):
    # On the stack: channels left (0), rows (4), table (8), position's out (12), positions left
    # (16), first item (20), Kp << 29 (24), end of the items (28), -zw * S of both positions (32,
    # 36), p (40), 2 if there are two (44), next row (48), bytes from a position to the next (52),
    # channel stride (56), sums of one (60) and the other (76), what r0 and r7 to r12 are while
    # requantizing (92), second position of a slow one (120), hi - lo (124).
    # While requantizing: r0 k = 32767 + ((zy - lo) << 16), r1 shift, r4 sum, r5 c, r6 multiplier,
    # r7 end of the sums, r8 9 or, if lo to hi are not 256 values, 0, r9 table, r10 out, r11 from
    # one position to the other, 0 if alone, r12 lo, lr sums. Shifts of 4 to 12 are quick: the sum
    # is cut where any would saturate.
    data(2, 0xE92D, 0x0F00, 0xB0A0)  # push {r8, r9, r10, r11}; sub sp, 128
    data(2, 0x930A)  # str r3, [sp, 40]
    mov(r5, r1)
    ldr(r4, [r3, 60])
    cmp(r4, 0)
    beq(WITH_WEIGHTS)
    mov(r5, r0)
    label(WITH_WEIGHTS)
    data(2, 0x685E, 0x19AD)  # ldr r6, [r3, 4]; add r5, r5, r6
    data(2, 0x695E, 0x18B6)  # ldr r6, [r3, 20]; add r6, r6, r2
    data(2, 0x68DF, 0x681C)  # ldr r7, [r3, 12]; ldr r4, [r3, 0]
    data(2, 0x1864, 0xA901, 0xC1F0)  # add r4, r4, r1; add r1, sp, 4; stmia r1!, {r4, r5, r6, r7}
    data(2, 0x689C, 0x1900)  # ldr r4, [r3, 8]; add r0, r0, r4
    data(2, 0x6B1C, 0x1900, 0x9007)  # ldr r4, [r3, 48]; add r0, r0, r4; str r0, [sp, 28]
    data(2, 0x6B5C, 0x69DD)  # ldr r4, [r3, 52]; ldr r5, [r3, 28]
    data(2, 0xE9CD, 0x450D)  # strd r4, r5, [sp, 52]
    data(2, 0x689C, 0x0764, 0x9406)  # ldr r4, [r3, 8]; lsl r4, r4, 29; str r4, [sp, 24]
    data(2, 0x6A5C, 0x6A9D)  # ldr r4, [r3, 36]; ldr r5, [r3, 40]
    data(2, 0x6ADE, 0x951D)  # ldr r6, [r3, 44]; str r5, [sp, 116]
    data(2, 0x1B76, 0x961F)  # sub r6, r6, r5; str r6, [sp, 124]
    data(2, 0x1B64, 0x0424, 0xF647, 0x75FF)  # sub r4, r4, r5; lsl r4, r4, 16; movw r5, 32767
    data(2, 0x1964, 0x2700)  # add r4, r4, r5; mov r7, 0
    cmp(r6, 255)
    bne(LIMITED)
    mov(r7, 9)
    label(LIMITED)
    data(2, 0xAD13, 0xAE17, 0xC6B0)  # add r5, sp, 76; add r6, sp, 92; stmia r6!, {r4, r5, r7}
    label(POSITION)
    data(2, 0x9B0A, 0x9904)  # ldr r3, [sp, 40]; ldr r1, [sp, 16]
    data(2, 0x2701, 0x2400)  # mov r7, 1; mov r4, 0
    cmp(r1, 2)
    blt(ALONE)
    mov(r7, 2)
    ldr(r4, [r3, 24])
    label(ALONE)
    data(2, 0x970B)  # str r7, [sp, 44]
    data(2, 0x941C, 0x9907, 0x689C)  # str r4, [sp, 112]; ldr r1, [sp, 28]; ldr r4, [r3, 8]
    data(2, 0x1B0C, 0x9405, 0xAA08)  # sub r4, r1, r4; str r4, [sp, 20]; add r2, sp, 32
    label(TOTAL)
    ldr(r4, [r3, 8])
    sub(r0, r1, r4)
    ldr(r5, [r3, 56])
    cmp(r5, 0)
    beq(ITEMS)
    sub(r0, 4)
    ldr(r5, [r0, 0])
    b(TOTALLED)
    label(ITEMS)
    mov(r6, 0)
    label(ITEM)
    data(2, 0xF850, 0x4B04, 0xFB74, 0x5506)  # ldr r4, [r0], 4; usada8 r5, r4, r6, r5
    cmp(r0, r1)
    bne(ITEM)
    label(TOTALLED)
    data(2, 0x6A1C, 0x4365)  # ldr r4, [r3, 32]; mul r5, r4
    data(2, 0x426D, 0xF842, 0x5B04)  # neg r5, r5; str r5, [r2], 4
    data(2, 0x9C0D, 0x1909, 0x3F01)  # ldr r4, [sp, 52]; add r1, r1, r4; sub r7, 1
    bne(TOTAL)
    data(2, 0x9901, 0x9C02, 0x941A)  # ldr r1, [sp, 4]; ldr r4, [sp, 8]; str r4, [sp, 104]
    data(2, 0x9C03, 0x941B)  # ldr r4, [sp, 12]; str r4, [sp, 108]
    data(2, 0x691C, 0x9400)  # ldr r4, [r3, 16]; str r4, [sp, 0]
    label(ROWS)
    data(2, 0x9D00, 0x3D04)  # ldr r5, [sp, 0]; sub r5, 4
    bmi_w(SINGLE)
    data(2, 0x9500)  # str r5, [sp, 0]
    data(2, 0x9805, 0x9C08, 0x4625)  # ldr r0, [sp, 20]; ldr r4, [sp, 32]; mov r5, r4
    data(2, 0x4626, 0x4627)  # mov r6, r4; mov r7, r4
    data(2, 0x9A06, 0x9B0B)  # ldr r2, [sp, 24]; ldr r3, [sp, 44]
    cmp(r3, 2)
    beq(TWO)
    data(2, 0xF8DD, 0x801C)  # ldr r8, [sp, 28]
    cmp(r2, 0)
    bge(EIGHT)
    data(2, 0x3804, 0x3910)  # sub r0, 4; sub r1, 16
    b(FOUR)
    label(EIGHT)
    ldr(r3, [r0, 0])
    data(2, 0xFA3F, 0xF283, 0xFA3F, 0xF393)  # uxtb16 r2, r3; uxtb16 r3, r3, ror 8
    # of each channel: ldr lr, [r1, ..]; uxtb16 r12, lr; uxtb16 lr, lr, ror 8
    data(2, 0xF8D1, 0xE000, 0xFA3F, 0xFC8E, 0xFA3F, 0xFE9E)  # [r1, 0]
    data(2, 0xFB22, 0x440C, 0xFB23, 0x440E)  # smlad r4, r2, r12, r4; smlad r4, r3, lr, r4
    data(2, 0xF8D1, 0xE004, 0xFA3F, 0xFC8E, 0xFA3F, 0xFE9E)  # [r1, 4]
    data(2, 0xFB22, 0x550C, 0xFB23, 0x550E)  # smlad r5, r2, r12, r5; smlad r5, r3, lr, r5
    data(2, 0xF8D1, 0xE008, 0xFA3F, 0xFC8E, 0xFA3F, 0xFE9E)  # [r1, 8]
    data(2, 0xFB22, 0x660C, 0xFB23, 0x660E)  # smlad r6, r2, r12, r6; smlad r6, r3, lr, r6
    data(2, 0xF8D1, 0xE00C, 0xFA3F, 0xFC8E, 0xFA3F, 0xFE9E)  # [r1, 12]
    data(2, 0xFB22, 0x770C, 0xFB23, 0x770E)  # smlad r7, r2, r12, r7; smlad r7, r3, lr, r7
    label(FOUR)
    ldr(r3, [r0, 4])
    data(2, 0xFA3F, 0xF283, 0xFA3F, 0xF393)  # uxtb16 r2, r3; uxtb16 r3, r3, ror 8
    data(2, 0xF8D1, 0xE010, 0xFA3F, 0xFC8E, 0xFA3F, 0xFE9E)  # [r1, 16]
    data(2, 0xFB22, 0x440C, 0xFB23, 0x440E)  # smlad r4, r2, r12, r4; smlad r4, r3, lr, r4
    data(2, 0xF8D1, 0xE014, 0xFA3F, 0xFC8E, 0xFA3F, 0xFE9E)  # [r1, 20]
    data(2, 0xFB22, 0x550C, 0xFB23, 0x550E)  # smlad r5, r2, r12, r5; smlad r5, r3, lr, r5
    data(2, 0xF8D1, 0xE018, 0xFA3F, 0xFC8E, 0xFA3F, 0xFE9E)  # [r1, 24]
    data(2, 0xFB22, 0x660C, 0xFB23, 0x660E)  # smlad r6, r2, r12, r6; smlad r6, r3, lr, r6
    data(2, 0xF8D1, 0xE01C, 0xFA3F, 0xFC8E, 0xFA3F, 0xFE9E)  # [r1, 28]
    data(2, 0xFB22, 0x770C, 0xFB23, 0x770E)  # smlad r7, r2, r12, r7; smlad r7, r3, lr, r7
    add(r0, 8)
    add(r1, 32)
    data(2, 0x4540)  # cmp r0, r8
    bne(EIGHT)
    b(SUMMED)
    label(TWO)
    # ldr r8, [sp, 36]; mov r9, r8; mov r10, r8; mov r11, r8
    data(2, 0xF8DD, 0x8024, 0x46C1, 0x46C2, 0x46C3)
    data(2, 0xF8DD, 0xE034)  # ldr lr, [sp, 52]
    cmp(r2, 0)
    bge(BOTH)
    sub(r1, 16)
    b(LATTER)
    label(BOTH)
    data(2, 0xF850, 0x300E, 0x6802)  # ldr r3, [r0, lr]; ldr r2, [r0]
    data(2, 0xFA3F, 0xF282, 0xFA3F, 0xF383)  # uxtb16 r2, r2; uxtb16 r3, r3
    # then of each channel: ldr r12, [r1, ..]; uxtb16 r12, r12; smlad of both positions
    data(2, 0xF8D1, 0xC000, 0xFA3F, 0xFC8C, 0xFB22, 0x440C, 0xFB23, 0x880C)  # [r1, 0]
    data(2, 0xF8D1, 0xC004, 0xFA3F, 0xFC8C, 0xFB22, 0x550C, 0xFB23, 0x990C)  # [r1, 4]
    data(2, 0xF8D1, 0xC008, 0xFA3F, 0xFC8C, 0xFB22, 0x660C, 0xFB23, 0xAA0C)  # [r1, 8]
    data(2, 0xF8D1, 0xC00C, 0xFA3F, 0xFC8C, 0xFB22, 0x770C, 0xFB23, 0xBB0C)  # [r1, 12]
    data(2, 0xF850, 0x300E, 0xF850, 0x2B04)  # ldr r3, [r0, lr]; ldr r2, [r0], 4
    data(2, 0xFA3F, 0xF292, 0xFA3F, 0xF393)  # uxtb16 r2, r2, ror 8; uxtb16 r3, r3, ror 8
    data(2, 0xF8D1, 0xC000, 0xFA3F, 0xFC9C, 0xFB22, 0x440C, 0xFB23, 0x880C)  # [r1, 0]
    data(2, 0xF8D1, 0xC004, 0xFA3F, 0xFC9C, 0xFB22, 0x550C, 0xFB23, 0x990C)  # [r1, 4]
    data(2, 0xF8D1, 0xC008, 0xFA3F, 0xFC9C, 0xFB22, 0x660C, 0xFB23, 0xAA0C)  # [r1, 8]
    data(2, 0xF8D1, 0xC00C, 0xFA3F, 0xFC9C, 0xFB22, 0x770C, 0xFB23, 0xBB0C)  # [r1, 12]
    label(LATTER)
    data(2, 0xF850, 0x300E, 0x6802)  # ldr r3, [r0, lr]; ldr r2, [r0]
    data(2, 0xFA3F, 0xF282, 0xFA3F, 0xF383)  # uxtb16 r2, r2; uxtb16 r3, r3
    data(2, 0xF8D1, 0xC010, 0xFA3F, 0xFC8C, 0xFB22, 0x440C, 0xFB23, 0x880C)  # [r1, 16]
    data(2, 0xF8D1, 0xC014, 0xFA3F, 0xFC8C, 0xFB22, 0x550C, 0xFB23, 0x990C)  # [r1, 20]
    data(2, 0xF8D1, 0xC018, 0xFA3F, 0xFC8C, 0xFB22, 0x660C, 0xFB23, 0xAA0C)  # [r1, 24]
    data(2, 0xF8D1, 0xC01C, 0xFA3F, 0xFC8C, 0xFB22, 0x770C, 0xFB23, 0xBB0C)  # [r1, 28]
    data(2, 0xF850, 0x300E, 0xF850, 0x2B04)  # ldr r3, [r0, lr]; ldr r2, [r0], 4
    data(2, 0xFA3F, 0xF292, 0xFA3F, 0xF393)  # uxtb16 r2, r2, ror 8; uxtb16 r3, r3, ror 8
    data(2, 0xF8D1, 0xC010, 0xFA3F, 0xFC9C, 0xFB22, 0x440C, 0xFB23, 0x880C)  # [r1, 16]
    data(2, 0xF8D1, 0xC014, 0xFA3F, 0xFC9C, 0xFB22, 0x550C, 0xFB23, 0x990C)  # [r1, 20]
    data(2, 0xF8D1, 0xC018, 0xFA3F, 0xFC9C, 0xFB22, 0x660C, 0xFB23, 0xAA0C)  # [r1, 24]
    data(2, 0xF8D1, 0xC01C, 0xFA3F, 0xFC9C, 0xFB22, 0x770C, 0xFB23, 0xBB0C)  # [r1, 28]
    add(r1, 32)
    data(2, 0x9A07)  # ldr r2, [sp, 28]
    cmp(r0, r2)
    bne_w(BOTH)
    data(2, 0xAA0F)  # add r2, sp, 60
    data(2, 0xE8A2, 0x0FF0)  # stmia r2!, {r4, r5, r6, r7, r8, r9, r10, r11}
    b(START)
    label(SUMMED)
    data(2, 0xAA0F, 0xC2F0)  # add r2, sp, 60; stmia r2!, {r4, r5, r6, r7}
    add(r2, 16)
    label(START)
    data(2, 0x910C, 0xE892, 0x1F81)  # str r1, [sp, 48]; ldmia r2, {r0, r7, r8, r9, r10, r11, r12}
    b(FIRST_CHANNEL)
    label(SINGLE)
    add(r5, 4)
    bne(LAST)
    b(NEXT)
    label(LAST)
    data(2, 0x3D01, 0x9500)  # sub r5, 1; str r5, [sp, 0]
    data(2, 0x9805, 0xF8DD, 0x801C)  # ldr r0, [sp, 20]; ldr r8, [sp, 28]
    data(2, 0x9C08, 0x9F0B)  # ldr r4, [sp, 32]; ldr r7, [sp, 44]
    label(ONE)
    # ldr r2, [r0], 4; ldr r3, [r1], 4; uxtb16 r5, r2; uxtb16 r6, r3
    data(2, 0xF850, 0x2B04, 0xF851, 0x3B04, 0xFA3F, 0xF582, 0xFA3F, 0xF683)
    data(2, 0xFB25, 0x4406)  # smlad r4, r5, r6, r4
    data(2, 0xFA3F, 0xF292, 0xFA3F, 0xF393)  # uxtb16 r2, r2, ror 8; uxtb16 r3, r3, ror 8
    data(2, 0xFB22, 0x4403, 0x4540)  # smlad r4, r2, r3, r4; cmp r0, r8
    bne(ONE)
    sub(r7, 1)
    beq(DOTTED)
    data(2, 0x940F, 0x9C09, 0x9B0A)  # str r4, [sp, 60]; ldr r4, [sp, 36]; ldr r3, [sp, 40]
    ldr(r2, [r3, 8])
    sub(r1, r1, r2)
    sub(r0, r0, r2)
    data(2, 0x9A0D)  # ldr r2, [sp, 52]
    add(r0, r0, r2)
    data(2, 0x4490)  # add r8, r2
    b(ONE)
    label(DOTTED)
    data(2, 0x9A0B)  # ldr r2, [sp, 44]
    cmp(r2, 2)
    beq(SECOND)
    data(2, 0x940F)  # str r4, [sp, 60]
    b(SINGLED)
    label(SECOND)
    data(2, 0x9413)  # str r4, [sp, 76]
    label(SINGLED)
    data(2, 0x910C, 0xAA17)  # str r1, [sp, 48]; add r2, sp, 92
    data(2, 0xE892, 0x1F81, 0x3F0C)  # ldmia r2, {r0, r7, r8, r9, r10, r11, r12}; sub r7, 12
    label(FIRST_CHANNEL)
    data(2, 0xF1A2, 0x0E20)  # sub lr, r2, 32
    label(CHANNEL)
    data(2, 0xE8F9, 0x5602, 0xF006, 0x013F)  # ldrd r5, r6, [r9], 8; and r1, r6, 63
    sub(r1, 4)
    data(2, 0x4541)  # cmp r1, r8
    bcs(SLOW)
    lsr(r6, r6, 4)
    data(2, 0xF85E, 0x4B04)  # ldr r4, [lr], 4
    # add r4, r4, r5; ssat r4, 23, r4; lsl r4, r1; smull r2, r3, r4, r6; ssat r3, 20, r3
    data(2, 0x1964, 0xF304, 0x0416, 0x408C, 0xFB84, 0x2306, 0xF303, 0x0313)
    # lsr r2, r2, 24; adc r4, r2, r3, lsl 8; lsr r2, r4, 17; adc r4, r0
    data(2, 0x0E12, 0xEB42, 0x2403, 0x0C62, 0x4144)
    data(2, 0xF3A4, 0x4408, 0x4464)  # usat r4, 8, r4, asr 16; add r4, r12
    data(2, 0xF88A, 0x4000)  # strb r4, [r10]
    data(2, 0xF1BB, 0x0F00)  # cmp r11, 0
    beq(STEP)
    data(2, 0xF8DE, 0x400C)  # ldr r4, [lr, 12]
    # add r4, r4, r5; ssat r4, 23, r4; lsl r4, r1; smull r2, r3, r4, r6; ssat r3, 20, r3
    data(2, 0x1964, 0xF304, 0x0416, 0x408C, 0xFB84, 0x2306, 0xF303, 0x0313)
    # lsr r2, r2, 24; adc r4, r2, r3, lsl 8; lsr r2, r4, 17; adc r4, r0
    data(2, 0x0E12, 0xEB42, 0x2403, 0x0C62, 0x4144)
    data(2, 0xF3A4, 0x4408, 0x4464)  # usat r4, 8, r4, asr 16; add r4, r12
    data(2, 0xF80A, 0x400B)  # strb r4, [r10, r11]
    label(STEP)
    data(2, 0x9A0E, 0x4492, 0x45BE)  # ldr r2, [sp, 56]; add r10, r2; cmp lr, r7
    bne(CHANNEL)
    data(2, 0xE9CD, 0x9A1A, 0x990C)  # strd r9, r10, [sp, 104]; ldr r1, [sp, 48]
    b(ROWS)
    label(SLOW)  # any other shift or range
    data(2, 0xF8CD, 0xB078, 0xF8DE, 0x4010)  # str r11, [sp, 120]; ldr r4, [lr, 16]
    data(2, 0xF1BB, 0x0F00)  # cmp r11, 0
    bne(ANY)
    label(FIRST)
    data(2, 0xF8DE, 0x4000)  # ldr r4, [lr]
    label(ANY)
    add(r4, r4, r5)
    lsl(r3, r6, 26)
    bpl(LEFT)
    lsr(r3, r3, 26)
    sub(r3, 32)
    asr(r4, r3)
    mov(r3, 0)
    label(LEFT)
    lsr(r3, r3, 26)
    mov(r1, 1)
    lsl(r1, r1, 25)
    lsr(r1, r3)
    cmp(r4, r1)
    data(2, 0xBFC8, 0x460C)  # it gt; movgt r4, r1
    neg(r1, r1)
    cmp(r4, r1)
    data(2, 0xBFB8, 0x460C)  # it lt; movlt r4, r1
    lsl(r4, r3)
    lsr(r1, r6, 8)
    data(2, 0xFB84, 0x2301)  # smull r2, r3, r4, r1
    # lsr r2, r2, 24; adc r4, r2, r3, lsl 8; lsr r2, r4, 17; adc r4, r0
    data(2, 0x0E12, 0xEB42, 0x2403, 0x0C62, 0x4144)
    asr(r4, r4, 16)
    data(2, 0xEA24, 0x74E4, 0x9A1F)  # bic r4, r4, r4, asr 31; ldr r2, [sp, 124]
    cmp(r4, r2)
    data(2, 0xBFC8, 0x4614, 0x4464)  # it gt; movgt r4, r2; add r4, r12
    data(2, 0x991E)  # ldr r1, [sp, 120]
    data(2, 0xF80A, 0x4001)  # strb r4, [r10, r1]
    mov(r2, 0)
    data(2, 0x921E)  # str r2, [sp, 120]
    cmp(r1, 0)
    bne(FIRST)
    data(2, 0xF10E, 0x0E04)  # add lr, 4
    b(STEP)
    label(NEXT)
    data(2, 0x9D04, 0x9C0B, 0x1B2D)  # ldr r5, [sp, 16]; ldr r4, [sp, 44]; sub r5, r5, r4
    beq(DONE)
    data(2, 0x9504)  # str r5, [sp, 16]
    data(2, 0x9B0A, 0x9D03, 0x699E)  # ldr r3, [sp, 40]; ldr r5, [sp, 12]; ldr r6, [r3, 24]
    data(2, 0x4366, 0x19AD, 0x9503)  # mul r6, r4; add r5, r5, r6; str r5, [sp, 12]
    data(2, 0x9D07, 0x9E0D, 0x4366)  # ldr r5, [sp, 28]; ldr r6, [sp, 52]; mul r6, r4
    data(2, 0x19AD, 0x9507)  # add r5, r5, r6; str r5, [sp, 28]
    b(POSITION)
    label(DONE)
    data(2, 0xB020, 0xE8BD, 0x0F00)  # add sp, 128; pop {r8, r9, r10, r11}
    mov(r0, 0)  # what is returned, as a small integer


qdots8_many = qdots8
