"""Sums of short mantissas: see loops/short_dot. Inline assembler, ARMv6-M opcodes.

Four channels at a time: 3.3 instructions a multiply-accumulate in the unrolled part, 4.9 of
up to three last channels. Rows and M are above 0.
"""

import micropython


@micropython.asm_thumb
def dots(r0, r1, r2, r3):
    # r0 x, r1 to r4 w of four channels, r8 to r11 their sums, r5, r6 items, r12 where x ends. On
    # the stack: row (0), rows left (4), channels left (8), p (12), end of the row (16), w (20),
    # end of what is unrolled (24), what sums start with (28), out (32), bytes of a row of
    # weights (36)
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    mov(r7, r11)
    push({r4, r5, r6, r7})
    data(2, 0xB08A)  # sub sp, 40
    data(2, 0x9303)  # str r3, [sp, 12]
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    ldr(r4, [r3, 16])
    lsl(r4, r4, 1)
    add(r1, r1, r4)
    data(2, 0x9105)  # str r1, [sp, 20]
    ldr(r4, [r3, 24])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    data(2, 0x9208)  # str r2, [sp, 32]
    ldr(r4, [r3, 4])
    data(2, 0x9401)  # str r4, [sp, 4]
    ldr(r4, [r3, 12])
    add(r4, 1)
    lsr(r4, r4, 1)
    lsl(r4, r4, 2)
    data(2, 0x9409)  # str r4, [sp, 36]
    label(ROW)
    data(2, 0x9B03)  # ldr r3, [sp, 12]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9905)  # ldr r1, [sp, 20]
    ldr(r4, [r3, 12])
    lsl(r5, r4, 2)
    add(r2, r0, r5)
    data(2, 0x9204)  # str r2, [sp, 16]
    lsr(r4, r4, 3)
    lsl(r4, r4, 5)
    add(r4, r4, r0)
    data(2, 0x9406)  # str r4, [sp, 24]
    ldr(r7, [r3, 20])
    data(2, 0x9702)  # str r7, [sp, 8]
    cmp(r7, 4)
    bge(SUM)
    b(SINGLES)
    label(SUM)
    mov(r3, 0)
    cmp(r0, r4)
    beq(COUNT)
    label(TOTAL)  # the sum of x
    data(2, 0xC8E0)  # ldmia r0!, {r5, r6, r7}
    add(r3, r3, r5)
    add(r3, r3, r6)
    add(r3, r3, r7)
    data(2, 0xC8E0)  # ldmia r0!, {r5, r6, r7}
    add(r3, r3, r5)
    add(r3, r3, r6)
    add(r3, r3, r7)
    data(2, 0xC860)  # ldmia r0!, {r5, r6}
    add(r3, r3, r5)
    add(r3, r3, r6)
    cmp(r0, r4)
    bne(TOTAL)
    label(COUNT)
    cmp(r0, r2)
    beq(TOTALLED)
    data(2, 0xC820)  # ldmia r0!, {r5}
    add(r3, r3, r5)
    b(COUNT)
    label(TOTALLED)  # what sums start with
    mov(r4, 1)
    lsl(r4, r4, 30)
    lsl(r3, r3, 14)
    sub(r4, r4, r3)
    data(2, 0x9407)  # str r4, [sp, 28]
    label(CHANNELS)  # r1 weights
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 4)
    bge(FOUR)
    b(SINGLES)
    label(FOUR)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9D09)  # ldr r5, [sp, 36]
    add(r2, r1, r5)
    add(r3, r2, r5)
    add(r4, r3, r5)
    data(2, 0x9D07)  # ldr r5, [sp, 28]
    mov(r8, r5)
    mov(r9, r5)
    mov(r10, r5)
    mov(r11, r5)
    data(2, 0x9F06)  # ldr r7, [sp, 24]
    mov(r12, r7)
    data(2, 0x4560)  # cmp r0, r12
    beq(REST)
    label(EIGHT)
    data(2, 0xC860)  # ldmia r0!, {r5, r6}
    data(2, 0x880F, 0x436F, 0x44B8)  # ldrh r7, [r1, 0]; mul r7, r5; add r8, r7
    data(2, 0x884F, 0x4377, 0x44B8)  # ldrh r7, [r1, 2]; mul r7, r6; add r8, r7
    data(2, 0x8817, 0x436F, 0x44B9)  # ldrh r7, [r2, 0]; mul r7, r5; add r9, r7
    data(2, 0x8857, 0x4377, 0x44B9)  # ldrh r7, [r2, 2]; mul r7, r6; add r9, r7
    data(2, 0x881F, 0x436F, 0x44BA)  # ldrh r7, [r3, 0]; mul r7, r5; add r10, r7
    data(2, 0x885F, 0x4377, 0x44BA)  # ldrh r7, [r3, 2]; mul r7, r6; add r10, r7
    data(2, 0x8827, 0x436F, 0x44BB)  # ldrh r7, [r4, 0]; mul r7, r5; add r11, r7
    data(2, 0x8867, 0x4377, 0x44BB)  # ldrh r7, [r4, 2]; mul r7, r6; add r11, r7
    data(2, 0xC860)  # ldmia r0!, {r5, r6}
    data(2, 0x888F, 0x436F, 0x44B8)  # ldrh r7, [r1, 4]; mul r7, r5; add r8, r7
    data(2, 0x88CF, 0x4377, 0x44B8)  # ldrh r7, [r1, 6]; mul r7, r6; add r8, r7
    data(2, 0x8897, 0x436F, 0x44B9)  # ldrh r7, [r2, 4]; mul r7, r5; add r9, r7
    data(2, 0x88D7, 0x4377, 0x44B9)  # ldrh r7, [r2, 6]; mul r7, r6; add r9, r7
    data(2, 0x889F, 0x436F, 0x44BA)  # ldrh r7, [r3, 4]; mul r7, r5; add r10, r7
    data(2, 0x88DF, 0x4377, 0x44BA)  # ldrh r7, [r3, 6]; mul r7, r6; add r10, r7
    data(2, 0x88A7, 0x436F, 0x44BB)  # ldrh r7, [r4, 4]; mul r7, r5; add r11, r7
    data(2, 0x88E7, 0x4377, 0x44BB)  # ldrh r7, [r4, 6]; mul r7, r6; add r11, r7
    data(2, 0xC860)  # ldmia r0!, {r5, r6}
    data(2, 0x890F, 0x436F, 0x44B8)  # ldrh r7, [r1, 8]; mul r7, r5; add r8, r7
    data(2, 0x894F, 0x4377, 0x44B8)  # ldrh r7, [r1, 10]; mul r7, r6; add r8, r7
    data(2, 0x8917, 0x436F, 0x44B9)  # ldrh r7, [r2, 8]; mul r7, r5; add r9, r7
    data(2, 0x8957, 0x4377, 0x44B9)  # ldrh r7, [r2, 10]; mul r7, r6; add r9, r7
    data(2, 0x891F, 0x436F, 0x44BA)  # ldrh r7, [r3, 8]; mul r7, r5; add r10, r7
    data(2, 0x895F, 0x4377, 0x44BA)  # ldrh r7, [r3, 10]; mul r7, r6; add r10, r7
    data(2, 0x8927, 0x436F, 0x44BB)  # ldrh r7, [r4, 8]; mul r7, r5; add r11, r7
    data(2, 0x8967, 0x4377, 0x44BB)  # ldrh r7, [r4, 10]; mul r7, r6; add r11, r7
    data(2, 0xC860)  # ldmia r0!, {r5, r6}
    data(2, 0x898F, 0x436F, 0x44B8)  # ldrh r7, [r1, 12]; mul r7, r5; add r8, r7
    data(2, 0x89CF, 0x4377, 0x44B8)  # ldrh r7, [r1, 14]; mul r7, r6; add r8, r7
    data(2, 0x8997, 0x436F, 0x44B9)  # ldrh r7, [r2, 12]; mul r7, r5; add r9, r7
    data(2, 0x89D7, 0x4377, 0x44B9)  # ldrh r7, [r2, 14]; mul r7, r6; add r9, r7
    data(2, 0x899F, 0x436F, 0x44BA)  # ldrh r7, [r3, 12]; mul r7, r5; add r10, r7
    data(2, 0x89DF, 0x4377, 0x44BA)  # ldrh r7, [r3, 14]; mul r7, r6; add r10, r7
    data(2, 0x89A7, 0x436F, 0x44BB)  # ldrh r7, [r4, 12]; mul r7, r5; add r11, r7
    data(2, 0x89E7, 0x4377, 0x44BB)  # ldrh r7, [r4, 14]; mul r7, r6; add r11, r7
    add(r1, 16)
    add(r2, 16)
    add(r3, 16)
    add(r4, 16)
    data(2, 0x4560)  # cmp r0, r12
    bne(EIGHT)
    label(REST)
    data(2, 0x9F04)  # ldr r7, [sp, 16]
    mov(r12, r7)
    data(2, 0x4560)  # cmp r0, r12
    beq(SUMMED)
    label(ITEM)
    data(2, 0xC820)  # ldmia r0!, {r5}
    ldrh(r7, [r1, 0])
    mul(r7, r5)
    data(2, 0x44B8)  # add r8, r7
    add(r1, 2)
    ldrh(r7, [r2, 0])
    mul(r7, r5)
    data(2, 0x44B9)  # add r9, r7
    add(r2, 2)
    ldrh(r7, [r3, 0])
    mul(r7, r5)
    data(2, 0x44BA)  # add r10, r7
    add(r3, 2)
    ldrh(r7, [r4, 0])
    mul(r7, r5)
    data(2, 0x44BB)  # add r11, r7
    add(r4, 2)
    data(2, 0x4560)  # cmp r0, r12
    bne(ITEM)
    label(SUMMED)
    add(r1, r4, 3)
    lsr(r1, r1, 2)
    lsl(r1, r1, 2)
    data(2, 0x9808)  # ldr r0, [sp, 32]
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    mov(r7, r11)
    data(2, 0xC0F0)  # stmia r0!, {r4, r5, r6, r7}
    data(2, 0x9008)  # str r0, [sp, 32]
    b(CHANNELS)
    label(SINGLES)  # one channel: 2**14 is taken from each weight
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 1)
    blt(NEXT)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9A06)  # ldr r2, [sp, 24]
    mov(r4, 1)
    lsl(r3, r4, 14)
    lsl(r4, r4, 30)
    cmp(r0, r2)
    beq(LAST_REST)
    label(LAST_FOUR)
    data(2, 0xC860)  # ldmia r0!, {r5, r6}
    ldrh(r7, [r1, 0])
    sub(r7, r7, r3)
    mul(r7, r5)
    add(r4, r4, r7)
    ldrh(r7, [r1, 2])
    sub(r7, r7, r3)
    mul(r7, r6)
    add(r4, r4, r7)
    data(2, 0xC860)  # ldmia r0!, {r5, r6}
    ldrh(r7, [r1, 4])
    sub(r7, r7, r3)
    mul(r7, r5)
    add(r4, r4, r7)
    ldrh(r7, [r1, 6])
    sub(r7, r7, r3)
    mul(r7, r6)
    add(r4, r4, r7)
    add(r1, 8)
    cmp(r0, r2)
    bne(LAST_FOUR)
    label(LAST_REST)
    data(2, 0x9A04)  # ldr r2, [sp, 16]
    cmp(r0, r2)
    beq(LAST_SUMMED)
    label(LAST_ITEM)
    data(2, 0xC820)  # ldmia r0!, {r5}
    ldrh(r7, [r1, 0])
    sub(r7, r7, r3)
    mul(r7, r5)
    add(r4, r4, r7)
    add(r1, 2)
    cmp(r0, r2)
    bne(LAST_ITEM)
    label(LAST_SUMMED)
    add(r1, 3)
    lsr(r1, r1, 2)
    lsl(r1, r1, 2)
    data(2, 0x9808)  # ldr r0, [sp, 32]
    data(2, 0xC010)  # stmia r0!, {r4}
    data(2, 0x9008)  # str r0, [sp, 32]
    b(SINGLES)
    label(NEXT)
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9B03)  # ldr r3, [sp, 12]
    ldr(r4, [r3, 8])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    sub(r4, 1)
    data(2, 0x9401)  # str r4, [sp, 4]
    beq(END)
    b(ROW)
    label(END)
    data(2, 0xB00A)  # add sp, 40
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
