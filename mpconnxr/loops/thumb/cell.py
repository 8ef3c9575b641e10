"""The cell of an LSTM in integers: see loops/cell. Assembler, ARMv6-M, of its costliest loop.

540 instructions an item: 27 a term of the series, 5 a bit of the quotient. Where a term is divided
by what is no power of 2, some shifts come near to that; what is left over says what is missing.
"""

import micropython

from ..cell import product, state  # noqa: F401  (rarer, or short)


@micropython.asm_thumb
def squash(r0, r1, r2, r3):
    # r8 x, r9 out, r10 items left, r11 items until those of tanh, r12 v, lr ln2 << 5; on the stack
    # powers of 2. In the series r5 a, r4 and r6 the lower 14 bits and the others of m, r7 one;
    # then r5 what is left over, r6 the divisor, r7 the quotient
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    mov(r7, r11)
    push({r4, r5, r6, r7})
    data(2, 0xB082)  # sub sp, 8
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    mov(r8, r0)
    ldr(r4, [r3, 8])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    mov(r9, r2)
    ldr(r4, [r3, 12])
    mov(r11, r4)
    mov(r4, 0x16)
    lsl(r4, r4, 8)
    add(r4, 0x2E)
    lsl(r4, r4, 8)
    add(r4, 0x43)
    lsl(r4, r4, 9)
    mov(lr, r4)
    ldr(r4, [r3, 4])
    mov(r10, r4)
    cmp(r4, 0)
    bne(ITEM)
    b(DONE)
    label(ITEM)
    mov(r0, r8)
    ldr(r4, [r0, 0])
    add(r0, 4)
    mov(r8, r0)
    mov(r12, r4)
    lsl(r5, r4, 1)
    lsr(r5, r5, 24)
    sub(r5, 125)
    mov(r0, r11)
    cmp(r0, 0)
    bgt(GATE)
    add(r5, 1)
    label(GATE)
    lsl(r6, r4, 9)
    lsr(r6, r6, 9)
    mov(r0, 1)
    lsl(r0, r0, 23)
    orr(r6, r0)
    cmp(r5, 0)
    bge(ABOVE)
    neg(r5, r5)
    mov(r0, 0)
    lsr(r6, r5)
    adc(r6, r0)
    b(SERIES)
    label(ABOVE)
    cmp(r5, 7)
    blt(MODERATE)
    mov(r5, 0)
    b(POWER)
    label(MODERATE)
    lsl(r6, r5)
    label(SERIES)
    mov(r0, lr)
    mov(r7, 0)
    mov(r1, 6)
    label(MULTIPLE)
    lsl(r7, r7, 1)
    cmp(r6, r0)
    bcc(LESS)
    sub(r6, r6, r0)
    add(r7, 1)
    label(LESS)
    lsr(r0, r0, 1)
    sub(r1, 1)
    bne(MULTIPLE)
    add(r7, 1)
    cmp(r7, 28)
    ble(COUNTS)
    mov(r7, 28)
    label(COUNTS)
    data(2, 0x9700)  # str r7, [sp, 0]
    mov(r0, lr)
    lsr(r0, r0, 5)
    sub(r6, r0, r6)
    lsl(r6, r6, 2)
    lsl(r4, r6, 18)
    lsr(r4, r4, 18)
    lsr(r6, r6, 14)
    mov(r7, 1)
    lsl(r7, r7, 27)
    mov(r5, r7)
    # r1 = r5 * m >> 27
    data(2, 0x0BA9, 0x04AA, 0x0C92)  # lsr r1, r5, 14; lsl r2, r5, 18; lsr r2, r2, 18
    data(2, 0x4613, 0x4363, 0x0B9B, 0x4372)  # mov r3, r2; mul r3, r4; lsr r3, r3, 14; mul r2, r6
    data(2, 0x189B, 0x460A, 0x4362)  # add r3, r3, r2; mov r2, r1; mul r2, r4
    data(2, 0x189B, 0x0B5B, 0x4371)  # add r3, r3, r2; lsr r3, r3, 13; mul r1, r6
    data(2, 0x0049, 0x18C9)  # lsl r1, r1, 1; add r1, r1, r3
    # r5 = one + r1 // 10
    data(2, 0x0849, 0x08CA, 0x090B)  # lsr r1, r1, 1; lsr r2, r1, 3; lsr r3, r1, 4
    data(2, 0x18D2, 0x0913, 0x18D2)  # add r2, r2, r3; lsr r3, r2, 4; add r2, r2, r3
    data(2, 0x0A13, 0x18D2, 0x0C13)  # lsr r3, r2, 8; add r2, r2, r3; lsr r3, r2, 16
    data(2, 0x18D2, 0x0093, 0x189B)  # add r2, r2, r3; lsl r3, r2, 2; add r3, r3, r2
    data(2, 0x1AC9, 0x230D, 0x4359)  # sub r1, r1, r3; mov r3, 13; mul r1, r3
    data(2, 0x0989, 0x1889, 0x19CD)  # lsr r1, r1, 6; add r1, r1, r2; add r5, r1, r7
    data(2, 0x0BA9, 0x04AA, 0x0C92, 0x4613, 0x4363, 0x0B9B, 0x4372, 0x189B)
    data(2, 0x460A, 0x4362, 0x189B, 0x0B5B, 0x4371, 0x0049, 0x18C9)
    # r5 = one + r1 // 9
    data(2, 0x08CA, 0x1A8A, 0x0993)  # lsr r2, r1, 3; sub r2, r1, r2; lsr r3, r2, 6
    data(2, 0x18D2, 0x0B13, 0x189B)  # add r2, r2, r3; lsr r3, r2, 12; add r3, r3, r2
    data(2, 0x0E12, 0x18D2, 0x08D2)  # lsr r2, r2, 24; add r2, r2, r3; lsr r2, r2, 3
    data(2, 0x00D3, 0x189B, 0x1AC9)  # lsl r3, r2, 3; add r3, r3, r2; sub r1, r1, r3
    data(2, 0x3107, 0x0909, 0x1889)  # add r1, 7; lsr r1, r1, 4; add r1, r1, r2
    data(2, 0x19CD)  # add r5, r1, r7
    data(2, 0x0BA9, 0x04AA, 0x0C92, 0x4613, 0x4363, 0x0B9B, 0x4372, 0x189B)
    data(2, 0x460A, 0x4362, 0x189B, 0x0B5B, 0x4371, 0x0049, 0x18C9)
    # r5 = one + r1 // 8
    data(2, 0x08C9, 0x19CD)  # lsr r1, r1, 3; add r5, r1, r7
    data(2, 0x0BA9, 0x04AA, 0x0C92, 0x4613, 0x4363, 0x0B9B, 0x4372, 0x189B)
    data(2, 0x460A, 0x4362, 0x189B, 0x0B5B, 0x4371, 0x0049, 0x18C9)
    # r5 = one + r1 // 7
    data(2, 0x084A, 0x090B, 0x18D2)  # lsr r2, r1, 1; lsr r3, r1, 4; add r2, r2, r3
    data(2, 0x0993, 0x18D2, 0x0B13)  # lsr r3, r2, 6; add r2, r2, r3; lsr r3, r2, 12
    data(2, 0x189B, 0x0E12, 0x18D2)  # add r3, r3, r2; lsr r2, r2, 24; add r2, r2, r3
    data(2, 0x0892, 0x00D3, 0x1A9B)  # lsr r2, r2, 2; lsl r3, r2, 3; sub r3, r3, r2
    data(2, 0x1AC9, 0x3101, 0x08C9)  # sub r1, r1, r3; add r1, 1; lsr r1, r1, 3
    data(2, 0x1889, 0x19CD)  # add r1, r1, r2; add r5, r1, r7
    data(2, 0x0BA9, 0x04AA, 0x0C92, 0x4613, 0x4363, 0x0B9B, 0x4372, 0x189B)
    data(2, 0x460A, 0x4362, 0x189B, 0x0B5B, 0x4371, 0x0049, 0x18C9)
    # r5 = one + r1 // 6, half of it as by 3
    data(2, 0x0849, 0x088A, 0x090B, 0x18D2, 0x0913, 0x18D2, 0x0A13, 0x18D2)
    data(2, 0x0C13, 0x18D2, 0x0053, 0x189B, 0x1AC9, 0x230B, 0x4359, 0x0949)
    data(2, 0x1889, 0x19CD)
    data(2, 0x0BA9, 0x04AA, 0x0C92, 0x4613, 0x4363, 0x0B9B, 0x4372, 0x189B)
    data(2, 0x460A, 0x4362, 0x189B, 0x0B5B, 0x4371, 0x0049, 0x18C9)
    # r5 = one + r1 // 5, as half of it by 10
    data(2, 0x08CA, 0x090B, 0x18D2, 0x0913, 0x18D2, 0x0A13, 0x18D2, 0x0C13)
    data(2, 0x18D2, 0x0093, 0x189B, 0x1AC9, 0x230D, 0x4359, 0x0989, 0x1889)
    data(2, 0x19CD)
    data(2, 0x0BA9, 0x04AA, 0x0C92, 0x4613, 0x4363, 0x0B9B, 0x4372, 0x189B)
    data(2, 0x460A, 0x4362, 0x189B, 0x0B5B, 0x4371, 0x0049, 0x18C9)
    # r5 = one + r1 // 4
    data(2, 0x0889, 0x19CD)  # lsr r1, r1, 2; add r5, r1, r7
    data(2, 0x0BA9, 0x04AA, 0x0C92, 0x4613, 0x4363, 0x0B9B, 0x4372, 0x189B)
    data(2, 0x460A, 0x4362, 0x189B, 0x0B5B, 0x4371, 0x0049, 0x18C9)
    # r5 = one + r1 // 3
    data(2, 0x088A, 0x090B, 0x18D2)  # lsr r2, r1, 2; lsr r3, r1, 4; add r2, r2, r3
    data(2, 0x0913, 0x18D2, 0x0A13)  # lsr r3, r2, 4; add r2, r2, r3; lsr r3, r2, 8
    data(2, 0x18D2, 0x0C13, 0x18D2)  # add r2, r2, r3; lsr r3, r2, 16; add r2, r2, r3
    data(2, 0x0053, 0x189B, 0x1AC9)  # lsl r3, r2, 1; add r3, r3, r2; sub r1, r1, r3
    data(2, 0x230B, 0x4359, 0x0949)  # mov r3, 11; mul r1, r3; lsr r1, r1, 5
    data(2, 0x1889, 0x19CD)  # add r1, r1, r2; add r5, r1, r7
    data(2, 0x0BA9, 0x04AA, 0x0C92, 0x4613, 0x4363, 0x0B9B, 0x4372, 0x189B)
    data(2, 0x460A, 0x4362, 0x189B, 0x0B5B, 0x4371, 0x0049, 0x18C9)
    # r5 = one + r1 // 2
    data(2, 0x0849, 0x19CD)  # lsr r1, r1, 1; add r5, r1, r7
    data(2, 0x0BA9, 0x04AA, 0x0C92, 0x4613, 0x4363, 0x0B9B, 0x4372, 0x189B)
    data(2, 0x460A, 0x4362, 0x189B, 0x0B5B, 0x4371, 0x0049, 0x18C9)
    data(2, 0x19CD)  # add r5, r1, r7
    data(2, 0x9800)  # ldr r0, [sp, 0]
    lsr(r5, r0)
    label(POWER)
    mov(r7, 1)
    lsl(r7, r7, 27)
    add(r6, r7, r5)
    mov(r0, r11)
    cmp(r0, 0)
    bgt(SIGMOID)
    sub(r5, r7, r5)
    b(QUOTIENT)
    label(SIGMOID)
    mov(r0, r12)
    cmp(r0, 0)
    blt(QUOTIENT)
    mov(r5, r7)
    label(QUOTIENT)
    mov(r7, 0)
    mov(r1, 7)
    label(BITS)
    sub(r0, r5, r6)
    bcc(A)
    mov(r5, r0)
    label(A)
    adc(r7, r7)
    lsl(r5, r5, 1)
    sub(r0, r5, r6)
    bcc(B)
    mov(r5, r0)
    label(B)
    adc(r7, r7)
    lsl(r5, r5, 1)
    sub(r0, r5, r6)
    bcc(C)
    mov(r5, r0)
    label(C)
    adc(r7, r7)
    lsl(r5, r5, 1)
    sub(r0, r5, r6)
    bcc(D)
    mov(r5, r0)
    label(D)
    adc(r7, r7)
    lsl(r5, r5, 1)
    sub(r1, 1)
    bne(BITS)
    add(r7, 1)
    lsr(r7, r7, 1)
    mov(r0, r11)
    cmp(r0, 0)
    bgt(STORE)
    mov(r0, r12)
    cmp(r0, 0)
    bge(STORE)
    neg(r7, r7)
    label(STORE)
    mov(r0, r9)
    str(r7, [r0, 0])
    add(r0, 4)
    mov(r9, r0)
    mov(r0, r11)
    sub(r0, 1)
    mov(r11, r0)
    mov(r0, r10)
    sub(r0, 1)
    mov(r10, r0)
    beq(DONE)
    b(ITEM)
    label(DONE)
    data(2, 0xB002)  # add sp, 8
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
    mov(r0, 0)
