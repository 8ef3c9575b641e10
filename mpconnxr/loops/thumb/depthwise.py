"""Depthwise convolution of bytes: see loops/depthwise. Assembler, ARMv6-M instructions only.

4.2 instructions a tap of a 3 x 3 kernel, 4 and 5 a row of dense ones of up to 8 columns, 8 of
others; and 29 for each output, 50 where one product does not decide (see loops/viper/qdot).
"""

import micropython


@micropython.asm_thumb
def depthwise8(r0, r1, r2, r3):
    # r5 step of ky, r6 out, r7 factor, r8 window, r9 twice the limit, r10 zy << 21 and the middle
    # of a step less what the limit adds to a product, r11 the part of a step for which one product
    # decides, r12 lo, lr hi; on the stack weights as words (0), c + limit (4), shift (8), position
    # stride (12), step of x (16), window behind the line (20), way of a row: 0 for 3 x 3, 1 for
    # any, else bytes to jump to the first of 8 - kw taps (24), kh (28), 4 * kw (32), step of kx
    # (36), p (40), planes left (44), channels left (48), lines left (52), line (56), plane (60),
    # table (64), weights (68), channel's out (72), word (76), out of a slow one (80), from the end
    # of a row to the next (84), factor (88), middle (92)
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    mov(r7, r11)
    push({r4, r5, r6, r7})
    data(2, 0xB098)  # sub sp, 96
    mov(r7, sp)
    str(r3, [r7, 40])
    str(r0, [r7, 0])
    ldr(r4, [r3, 0])
    add(r4, r4, r0)
    mov(r5, r1)
    ldr(r6, [r3, 84])
    cmp(r6, 0)
    beq(WITH_WEIGHTS)
    mov(r5, r0)
    label(WITH_WEIGHTS)
    data(2, 0x6B1E, 0x1976, 0x643E)  # ldr r6, [r3, 48]; add r6, r6, r5; str r6, [r7, 64]
    data(2, 0x6B5E, 0x1876, 0x647E)  # ldr r6, [r3, 52]; add r6, r6, r1; str r6, [r7, 68]
    data(2, 0x6B9E, 0x18B6, 0x64BE)  # ldr r6, [r3, 56]; add r6, r6, r2; str r6, [r7, 72]
    data(2, 0x689E, 0x62FE)  # ldr r6, [r3, 8]; str r6, [r7, 44]
    data(2, 0x6C1E, 0x60FE)  # ldr r6, [r3, 64]; str r6, [r7, 12]
    data(2, 0x6ADE, 0x613E)  # ldr r6, [r3, 44]; str r6, [r7, 16]
    data(2, 0x6918, 0x61F8)  # ldr r0, [r3, 16]; str r0, [r7, 28]
    data(2, 0x6959, 0x008A, 0x623A)  # ldr r1, [r3, 20]; lsl r2, r1, 2; str r2, [r7, 32]
    data(2, 0x69DA, 0x627A)  # ldr r2, [r3, 28]; str r2, [r7, 36]
    data(2, 0x460E, 0x4356)  # mov r6, r1; mul r6, r2
    data(2, 0x699D, 0x1BAE, 0x657E)  # ldr r5, [r3, 24]; sub r6, r5, r6; str r6, [r7, 84]
    mov(r6, 1)
    cmp(r2, 1)
    bne(WAY)
    cmp(r1, 8)
    bgt(WAY)
    cmp(r0, 3)
    bne(DENSE)
    mov(r6, 0)
    cmp(r1, 3)
    beq(WAY)
    label(DENSE)
    mov(r6, 8)
    sub(r6, r6, r1)
    sub(r4, r4, r6)
    lsl(r6, r6, 3)
    sub(r6, 2)
    label(WAY)
    str(r6, [r7, 24])
    str(r4, [r7, 60])
    mov(r5, 1)
    lsl(r5, r5, 29)
    ldr(r6, [r3, 76])
    sub(r6, r6, r5)
    mov(r12, r6)
    ldr(r6, [r3, 80])
    sub(r6, r6, r5)
    mov(lr, r6)
    mov(r4, 248)
    lsl(r4, r4, 12)
    sub(r4, 64)
    ldr(r6, [r3, 72])
    lsl(r6, r6, 21)
    add(r6, r6, r4)
    str(r6, [r7, 92])
    mov(r4, 244)
    lsl(r4, r4, 24)
    mov(r11, r4)
    label(PLANE)
    ldr(r4, [r3, 12])
    str(r4, [r7, 48])
    label(CHANNEL)
    data(2, 0x6838, 0x6C79, 0x691C)  # ldr r0, [r7, 0]; ldr r1, [r7, 68]; ldr r4, [r3, 16]
    data(2, 0x695D, 0x436C)  # ldr r5, [r3, 20]; mul r4, r5
    ldr(r5, [r3, 68])
    label(WEIGHT)
    data(2, 0x780A, 0x1B52, 0xC004)  # ldrb r2, [r1, 0]; sub r2, r2, r5; stmia r0!, {r2}
    data(2, 0x3101, 0x3C01)  # add r1, 1; sub r4, 1
    bne(WEIGHT)
    str(r1, [r7, 68])
    data(2, 0x6C38, 0xC830, 0x6438)  # ldr r0, [r7, 64]; ldmia r0!, {r4, r5}; str r0, [r7, 64]
    str(r5, [r7, 76])
    data(2, 0x06AE, 0x0EB6, 0x60BE)  # lsl r6, r5, 26; lsr r6, r6, 26; str r6, [r7, 8]
    data(2, 0x2001, 0x0640, 0x40F0)  # mov r0, 1; lsl r0, r0, 25; lsr r0, r6
    data(2, 0x1824, 0x607C)  # add r4, r4, r0; str r4, [r7, 4]
    lsl(r0, r0, 1)
    mov(r9, r0)
    data(2, 0x0C6D, 0x65BD)  # lsr r5, r5, 17; str r5, [r7, 88]
    lsl(r5, r5, 15)
    data(2, 0x6DFC, 0x1B64)  # ldr r4, [r7, 92]; sub r4, r4, r5
    mov(r10, r4)
    data(2, 0x6CBE, 0x6BDD, 0x19AD)  # ldr r6, [r7, 72]; ldr r5, [r3, 60]; add r5, r5, r6
    str(r5, [r7, 72])
    data(2, 0x6BFC, 0x63BC)  # ldr r4, [r7, 60]; str r4, [r7, 56]
    data(2, 0x6A1C, 0x637C)  # ldr r4, [r3, 32]; str r4, [r7, 52]
    ldr(r5, [r3, 24])
    label(LINE)
    ldr(r0, [r7, 56])
    mov(r8, r0)
    ldr(r4, [r3, 36])
    ldr(r2, [r7, 16])
    mul(r4, r2)
    add(r4, r4, r0)
    str(r4, [r7, 20])
    ldr(r7, [r7, 88])
    label(OUTPUT)
    mov(r0, r8)
    data(2, 0x9900)  # ldr r1, [sp, 0]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    data(2, 0x9B06)  # ldr r3, [sp, 24]
    cmp(r3, 0)
    bne(ROWS)
    # an item: ldrb r2, [r0, i]; ldmia r1!, {r3}; mul r2, r3; add r4, r4, r2
    data(2, 0x7802, 0xC908, 0x435A, 0x18A4)  # item 0
    data(2, 0x7842, 0xC908, 0x435A, 0x18A4)  # item 1
    data(2, 0x7882, 0xC908, 0x435A, 0x18A4)  # item 2
    add(r0, r0, r5)
    data(2, 0x7802, 0xC908, 0x435A, 0x18A4)  # item 0
    data(2, 0x7842, 0xC908, 0x435A, 0x18A4)  # item 1
    data(2, 0x7882, 0xC908, 0x435A, 0x18A4)  # item 2
    add(r0, r0, r5)
    data(2, 0x7802, 0xC908, 0x435A, 0x18A4)  # item 0
    data(2, 0x7842, 0xC908, 0x435A, 0x18A4)  # item 1
    data(2, 0x7882, 0xC908, 0x435A, 0x18A4)  # item 2
    label(REQUANTIZE)
    data(2, 0x454C)  # cmp r4, r9
    bcs(BEYOND)
    data(2, 0x9A02)  # ldr r2, [sp, 8]
    lsl(r4, r2)
    lsr(r3, r4, 10)
    mul(r3, r7)
    data(2, 0x4453)  # add r3, r10
    lsl(r2, r3, 11)
    data(2, 0x455A)  # cmp r2, r11
    bcs(BETWEEN)
    asr(r3, r3, 21)
    label(LIMIT)
    data(2, 0x4563)  # cmp r3, r12
    bge(LEAST)
    mov(r3, r12)
    label(LEAST)
    data(2, 0x4573)  # cmp r3, lr
    ble(MOST)
    mov(r3, lr)
    label(MOST)
    strb(r3, [r6, 0])
    data(2, 0x9A03)  # ldr r2, [sp, 12]
    add(r6, r6, r2)
    data(2, 0x9A04)  # ldr r2, [sp, 16]
    data(2, 0x4490)  # add r8, r2
    data(2, 0x9A05)  # ldr r2, [sp, 20]
    data(2, 0x4590)  # cmp r8, r2
    bne(OUTPUT)
    b(LINE_END)
    label(BEYOND)
    mov(r2, r9)
    lsr(r2, r2, 1)
    sub(r4, r4, r2)
    data(2, 0x9B02)  # ldr r3, [sp, 8]
    cmp(r3, 32)
    blt(SHIFTED)
    sub(r3, 32)
    asr(r4, r3)
    mov(r3, 0)
    label(SHIFTED)
    mov(r2, 1)
    lsl(r2, r2, 25)
    lsr(r2, r3)
    cmp(r4, r2)
    ble(BELOW)
    mov(r4, r2)
    label(BELOW)
    neg(r2, r2)
    cmp(r4, r2)
    bge(ABOVE)
    mov(r4, r2)
    label(ABOVE)
    lsl(r4, r3)
    b(EXACT)
    label(BETWEEN)
    mov(r2, 1)
    lsl(r2, r2, 25)
    sub(r4, r4, r2)
    label(EXACT)
    data(2, 0x9D13, 0x0D2B, 0x032D)  # ldr r5, [sp, 76]; lsr r3, r5, 20; lsl r5, r5, 12
    data(2, 0x0D2D, 0x0522, 0x0D12)  # lsr r5, r5, 20; lsl r2, r4, 20; lsr r2, r2, 20
    data(2, 0x1324, 0x4617, 0x435F, 0x436A)  # asr r4, r4, 12; mov r7, r2; mul r7, r3; mul r2, r5
    data(2, 0x0B12, 0x18BF, 0x4365)  # lsr r2, r2, 12; add r7, r7, r2; mul r5, r4
    data(2, 0x197F, 0x12FF, 0x3701)  # add r7, r7, r5; asr r7, r7, 11; add r7, 1
    data(2, 0x107F, 0x435C, 0x19E4)  # asr r7, r7, 1; mul r4, r3; add r4, r4, r7
    data(2, 0x03E2, 0x0FD2, 0x18A4)  # lsl r2, r4, 15; lsr r2, r2, 31; add r4, r4, r2
    data(2, 0x3C01, 0x13E4, 0x3401, 0x1063)  # sub r4, 1; asr r4, r4, 15; add r4, 1; asr r3, r4, 1
    data(2, 0x9A0A, 0x6995, 0x6C92)  # ldr r2, [sp, 40]; ldr r5, [r2, 24]; ldr r2, [r2, 72]
    data(2, 0x00D2, 0x10D2, 0x189B)  # lsl r2, r2, 3; asr r2, r2, 3; add r3, r3, r2
    data(2, 0x9F16)  # ldr r7, [sp, 88]
    b(LIMIT)
    label(ROWS)
    data(2, 0x9F07)  # ldr r7, [sp, 28]
    cmp(r3, 1)
    beq(ANY)
    label(ROW)
    data(2, 0x9B06)  # ldr r3, [sp, 24]
    data(2, 0x449F)  # add pc, r3
    data(2, 0x7802, 0xC908, 0x435A, 0x18A4)  # item 0
    data(2, 0x7842, 0xC908, 0x435A, 0x18A4)  # item 1
    data(2, 0x7882, 0xC908, 0x435A, 0x18A4)  # item 2
    data(2, 0x78C2, 0xC908, 0x435A, 0x18A4)  # item 3
    data(2, 0x7902, 0xC908, 0x435A, 0x18A4)  # item 4
    data(2, 0x7942, 0xC908, 0x435A, 0x18A4)  # item 5
    data(2, 0x7982, 0xC908, 0x435A, 0x18A4)  # item 6
    data(2, 0x79C2, 0xC908, 0x435A, 0x18A4)  # item 7
    add(r0, r0, r5)
    sub(r7, 1)
    bne(ROW)
    data(2, 0x9F16)  # ldr r7, [sp, 88]
    b(REQUANTIZE)
    label(ANY)
    data(2, 0x9614)  # str r6, [sp, 80]
    label(ANY_ROW)
    data(2, 0x9E08)  # ldr r6, [sp, 32]
    add(r6, r6, r1)
    label(TAP)
    data(2, 0x7802, 0xC908, 0x435A, 0x18A4)  # item 0
    data(2, 0x9B09)  # ldr r3, [sp, 36]
    add(r0, r0, r3)
    cmp(r1, r6)
    bne(TAP)
    data(2, 0x9B15)  # ldr r3, [sp, 84]
    add(r0, r0, r3)
    sub(r7, 1)
    bne(ANY_ROW)
    data(2, 0x9E14)  # ldr r6, [sp, 80]
    data(2, 0x9F16)  # ldr r7, [sp, 88]
    b(REQUANTIZE)
    label(LINE_END)
    mov(r7, sp)
    data(2, 0x6ABB, 0x6BBA, 0x6A9C)  # ldr r3, [r7, 40]; ldr r2, [r7, 56]; ldr r4, [r3, 40]
    data(2, 0x1912, 0x63BA)  # add r2, r2, r4; str r2, [r7, 56]
    data(2, 0x6B7A, 0x3A01, 0x637A)  # ldr r2, [r7, 52]; sub r2, 1; str r2, [r7, 52]
    beq(CHANNEL_END)
    b(LINE)
    label(CHANNEL_END)
    data(2, 0x6B3A, 0x3A01, 0x633A)  # ldr r2, [r7, 48]; sub r2, 1; str r2, [r7, 48]
    beq(PLANE_END)
    b(CHANNEL)
    label(PLANE_END)
    data(2, 0x6BFA, 0x685C, 0x1912)  # ldr r2, [r7, 60]; ldr r4, [r3, 4]; add r2, r2, r4
    str(r2, [r7, 60])
    data(2, 0x6AFA, 0x3A01, 0x62FA)  # ldr r2, [r7, 44]; sub r2, 1; str r2, [r7, 44]
    beq(DONE)
    b(PLANE)
    label(DONE)
    data(2, 0xB018)  # add sp, 96
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
    mov(r0, 0)


depthwise33 = depthwise_dense = depthwise8
