"""Sigmoid and tanh of float32 without a table: see loops/gates. Assembler, ARMv7-M.

170 instructions an item: a term of the series takes 7, four bits of the quotient take 4.
"""

import micropython


@micropython.asm_thumb
def gate32(r0, r1, r2, r3):
    # r1 items left, r3 1 for tanh, r4 v, r5 exponent, r6 mantissa, r11 ln2, r12 one; in the series
    # r5 term, r7 powers of 2, r10 a; then r7 divisor
    data(2, 0xE92D, 0x0F00)  # push {r8, r9, r10, r11}
    ldr(r4, [r3, 0])
    data(2, 0xEB00, 0x0084)  # add r0, r0, r4, lsl 2
    ldr(r4, [r3, 8])
    data(2, 0xEB02, 0x0284)  # add r2, r2, r4, lsl 2
    ldr(r1, [r3, 4])
    ldr(r3, [r3, 12])
    data(2, 0xF64B, 0x1B0C, 0xF2C0, 0x0B58)  # movw r11, 0xB90C; movt r11, 0x58
    data(2, 0xF04F, 0x6C00)  # mov r12, 1 << 27
    cmp(r1, 0)
    beq_w(DONE)
    label(ITEM)
    data(2, 0xF850, 0x4B04)  # ldr r4, [r0], 4
    data(2, 0xF3C4, 0x55C7)  # ubfx r5, r4, 23, 8
    data(2, 0xF3C4, 0x0616)  # ubfx r6, r4, 0, 23
    cmp(r5, 255)
    bne(NUMBER)
    cmp(r6, 0)
    bne_w(NAN)
    label(NUMBER)
    data(2, 0xF446, 0x0600)  # orr r6, r6, 1 << 23
    cmp(r3, 0)
    beq(USUAL)
    cmp(r5, 123)
    blt_w(SMALL)
    label(USUAL)
    sub(r5, 127)
    add(r5, r5, r3)
    mov(r7, 0)
    cmp(r5, 4)
    bge(NO_MORE)
    mov(r7, 3)
    add(r5, 3)
    label(NO_MORE)
    cmp(r5, 0)
    bge(ABOVE)
    neg(r5, r5)
    cmp(r5, 24)
    blt(BELOW)
    mov(r6, 0)
    label(BELOW)
    lsr(r6, r5)
    data(2, 0xF146, 0x0600)  # adc r6, r6, 0
    b(REDUCE)
    label(ABOVE)
    cmp(r5, 7)
    blt(MODERATE)
    mov(r6, 255)
    lsl(r6, r6, 1)
    add(r6, 1)
    lsl(r6, r6, 21)
    b(REDUCE)
    label(MODERATE)
    lsl(r6, r5)
    label(REDUCE)
    data(2, 0xFA0B, 0xF907)  # lsl r9, r11, r7
    data(2, 0xFBB6, 0xF8F9, 0xF108, 0x0801)  # udiv r8, r6, r9; add r8, r8, 1
    data(2, 0xFB08, 0xF909, 0xEBA9, 0x0606)  # mul r9, r8, r9; sub r6, r9, r6
    mov(r5, 4)
    sub(r5, r5, r7)
    lsl(r6, r5)
    mov(r5, 19)
    data(2, 0xFB08, 0xF905, 0xEBA6, 0x1699)  # mul r9, r8, r5; sub r6, r6, r9, lsr 6
    data(2, 0xEA26, 0x76E6)  # bic r6, r6, r6, asr 31
    mov(r7, r8)
    data(2, 0x46E2)  # mov r10, r12
    mov(r5, 10)
    label(TERM)
    data(2, 0xFBAA, 0x8906)  # umull r8, r9, r10, r6
    data(2, 0xEA4F, 0x68D8, 0xEA48, 0x1A49)  # lsr r8, r8, 27; orr r10, r8, r9, lsl 5
    data(2, 0xFBBA, 0xFAF5, 0x44E2)  # udiv r10, r10, r5; add r10, r12
    sub(r5, 1)
    bne(TERM)
    data(2, 0xFA2A, 0xF607)  # lsr r6, r10, r7
    cmp(r7, 28)
    data(2, 0xBFA8, 0x2600)  # it ge; movge r6, 0
    mov(r5, 127)
    cmp(r3, 0)
    beq(SIGMOID)
    data(2, 0xEBAC, 0x0A06)  # sub r10, r12, r6
    b(QUOTIENT)
    label(SIGMOID)
    cmp(r4, 0)
    bge(POSITIVE)
    sub(r5, r5, r7)
    b(QUOTIENT)
    label(POSITIVE)
    data(2, 0x46E2)  # mov r10, r12
    label(QUOTIENT)
    data(2, 0xEB0C, 0x0706)  # add r7, r12, r6
    mov(r6, 0)
    data(2, 0x45BA)  # cmp r10, r7
    bcc(FRACTION)
    data(2, 0xEBAA, 0x0A07)  # sub r10, r10, r7
    mov(r6, 1)
    label(FRACTION)
    # four bits: lsl r10, r10, 4; udiv r8, r10, r7; mls r10, r8, r7, r10; add r6, r8, r6, lsl 4
    data(2, 0xEA4F, 0x1A0A, 0xFBBA, 0xF8F7, 0xFB08, 0xAA17, 0xEB08, 0x1606)
    data(2, 0xEA4F, 0x1A0A, 0xFBBA, 0xF8F7, 0xFB08, 0xAA17, 0xEB08, 0x1606)
    data(2, 0xEA4F, 0x1A0A, 0xFBBA, 0xF8F7, 0xFB08, 0xAA17, 0xEB08, 0x1606)
    data(2, 0xEA4F, 0x1A0A, 0xFBBA, 0xF8F7, 0xFB08, 0xAA17, 0xEB08, 0x1606)
    data(2, 0xEA4F, 0x1A0A, 0xFBBA, 0xF8F7, 0xFB08, 0xAA17, 0xEB08, 0x1606)
    data(2, 0xEA4F, 0x1A0A, 0xFBBA, 0xF8F7, 0xFB08, 0xAA17, 0xEB08, 0x1606)
    data(2, 0xEA4F, 0x1A0A, 0xFBBA, 0xF8F7, 0xFB08, 0xAA17, 0xEB08, 0x1606)
    # one more
    data(2, 0xEA4F, 0x0A4A, 0xFBBA, 0xF8F7, 0xEB08, 0x0646)
    data(2, 0xFAB6, 0xF786)  # clz r7, r6
    sub(r7, 2)
    bmi(LONGER)
    lsl(r6, r7)
    sub(r5, r5, r7)
    b(PACK)
    label(LONGER)
    lsr(r6, r6, 1)
    add(r5, 1)
    label(PACK)
    mov(r7, 6)
    cmp(r5, 1)
    bge(NORMAL)
    mov(r7, 7)
    sub(r7, r7, r5)
    mov(r5, 1)
    cmp(r7, 30)
    ble(NORMAL)
    mov(r7, 6)
    mov(r6, 0)
    label(NORMAL)
    lsr(r6, r7)
    data(2, 0xF146, 0x0600)  # adc r6, r6, 0
    sub(r5, 1)
    lsl(r5, r5, 23)
    add(r6, r6, r5)
    cmp(r3, 0)
    beq(STORE)
    label(SIGN)
    cmp(r4, 0)
    bge(STORE)
    data(2, 0xF046, 0x4600)  # orr r6, r6, 1 << 31
    label(STORE)
    data(2, 0xC240)  # stmia r2!, {r6}
    sub(r1, 1)
    bne_w(ITEM)
    b(DONE)
    label(NAN)
    mov(r6, 255)
    lsl(r6, r6, 1)
    add(r6, 1)
    lsl(r6, r6, 22)
    b(STORE)
    label(SMALL)
    cmp(r5, 115)
    bgt(SHIFTED)
    beq(HALVED)
    mov(r6, r4)
    b(STORE)
    label(HALVED)
    lsr(r7, r6, 1)
    b(SQUARE)
    label(SHIFTED)
    mov(r7, r5)
    sub(r7, 116)
    data(2, 0xFA06, 0xF707)  # lsl r7, r6, r7
    label(SQUARE)
    lsr(r7, r7, 15)
    mul(r7, r7)
    lsr(r7, r7, 8)
    data(2, 0xF04F, 0x0803, 0xFBB7, 0xF9F8)  # mov r8, 3; udiv r9, r7, r8
    lsr(r7, r7, 8)
    mul(r7, r7)
    lsr(r7, r7, 14)
    lsl(r7, r7, 1)
    data(2, 0xF04F, 0x080F, 0xFBB7, 0xF7F8)  # mov r8, 15; udiv r7, r7, r8
    data(2, 0xEBA9, 0x0707)  # sub r7, r9, r7
    lsr(r7, r7, 6)
    lsl(r6, r6, 6)
    data(2, 0xEA4F, 0x38D6)  # lsr r8, r6, 15
    data(2, 0xFB08, 0xF807, 0xEBA6, 0x2658)  # mul r8, r8, r7; sub r6, r6, r8, lsr 9
    lsr(r7, r6, 29)
    bne(WHOLE)
    lsl(r6, r6, 1)
    sub(r5, 1)
    label(WHOLE)
    lsr(r6, r6, 6)
    data(2, 0xF146, 0x0600)  # adc r6, r6, 0
    sub(r5, 1)
    lsl(r5, r5, 23)
    add(r6, r6, r5)
    b(SIGN)
    label(DONE)
    data(2, 0xE8BD, 0x0F00)  # pop {r8, r9, r10, r11}
    mov(r0, 0)  # what is returned, as a small integer
