"""The cell of an LSTM in integers: see loops/cell. Assembler, ARMv7-M, of its costliest loop.

160 instructions an item: a term of the series takes 7, four bits of the quotient take 4.
"""

import micropython

from ..cell import product, state  # noqa: F401  (rarer, or short)


@micropython.asm_thumb
def squash(r0, r1, r2, r3):
    # r1 items left, r3 items until those of tanh, r4 v, r11 ln2, r12 one; r5 a, r6 what the series
    # is of, then the divisor, r7 powers of 2, then the quotient, r10 term
    data(2, 0xE92D, 0x0F00)  # push {r8, r9, r10, r11}
    ldr(r4, [r3, 0])
    data(2, 0xEB00, 0x0084)  # add r0, r0, r4, lsl 2
    ldr(r4, [r3, 8])
    data(2, 0xEB02, 0x0284)  # add r2, r2, r4, lsl 2
    ldr(r1, [r3, 4])
    ldr(r3, [r3, 12])
    data(2, 0xF24E, 0x4B30, 0xF2C0, 0x1B62)  # movw r11, 0xE430; movt r11, 0x162
    data(2, 0xF04F, 0x6C00)  # mov r12, 1 << 27
    cmp(r1, 0)
    beq_w(DONE)
    label(ITEM)
    data(2, 0xF850, 0x4B04)  # ldr r4, [r0], 4
    data(2, 0xF3C4, 0x55C7)  # ubfx r5, r4, 23, 8
    sub(r5, 125)
    cmp(r3, 0)
    data(2, 0xBFD8, 0x3501)  # it le; addle r5, 1
    data(2, 0xF3C4, 0x0616, 0xF446, 0x0600)  # ubfx r6, r4, 0, 23; orr r6, r6, 1 << 23
    cmp(r5, 0)
    bge(ABOVE)
    neg(r5, r5)
    lsr(r6, r5)
    data(2, 0xF146, 0x0600)  # adc r6, r6, 0
    b(SERIES)
    label(ABOVE)
    cmp(r5, 7)
    blt(MODERATE)
    mov(r5, 0)
    b(POWER)
    label(MODERATE)
    lsl(r6, r5)
    label(SERIES)
    data(2, 0xFBB6, 0xF7FB, 0xFB07, 0x661B)  # udiv r7, r6, r11; mls r6, r7, r11, r6
    data(2, 0xEBAB, 0x0606)  # sub r6, r11, r6
    lsl(r6, r6, 2)
    add(r7, 1)
    cmp(r7, 28)
    data(2, 0xBFC8, 0x271C)  # it gt; movgt r7, 28
    mov(r5, r12)
    data(2, 0xF04F, 0x0A0A)  # mov r10, 10
    label(TERM)
    data(2, 0xFBA5, 0x8906)  # umull r8, r9, r5, r6
    data(2, 0xEA4F, 0x68D8, 0xEA48, 0x1549)  # lsr r8, r8, 27; orr r5, r8, r9, lsl 5
    data(2, 0xFBB5, 0xF5FA, 0x4465)  # udiv r5, r5, r10; add r5, r12
    data(2, 0xF1BA, 0x0A01)  # subs r10, r10, 1
    bne(TERM)
    lsr(r5, r7)
    label(POWER)
    data(2, 0xEB0C, 0x0605)  # add r6, r12, r5
    cmp(r3, 0)
    bgt(SIGMOID)
    data(2, 0xEBAC, 0x0505)  # sub r5, r12, r5
    b(QUOTIENT)
    label(SIGMOID)
    cmp(r4, 0)
    data(2, 0xBFA8, 0x4665)  # it ge; movge r5, r12
    label(QUOTIENT)
    mov(r7, 0)
    cmp(r5, r6)
    bcc(FRACTION)
    sub(r5, r5, r6)
    mov(r7, 1)
    label(FRACTION)
    # four bits: lsl r5, r5, 4; udiv r8, r5, r6; mls r5, r8, r6, r5; add r7, r8, r7, lsl 4
    data(2, 0x012D, 0xFBB5, 0xF8F6, 0xFB08, 0x5516, 0xEB08, 0x1707)
    data(2, 0x012D, 0xFBB5, 0xF8F6, 0xFB08, 0x5516, 0xEB08, 0x1707)
    data(2, 0x012D, 0xFBB5, 0xF8F6, 0xFB08, 0x5516, 0xEB08, 0x1707)
    data(2, 0x012D, 0xFBB5, 0xF8F6, 0xFB08, 0x5516, 0xEB08, 0x1707)
    data(2, 0x012D, 0xFBB5, 0xF8F6, 0xFB08, 0x5516, 0xEB08, 0x1707)
    data(2, 0x012D, 0xFBB5, 0xF8F6, 0xFB08, 0x5516, 0xEB08, 0x1707)
    lsl(r5, r5, 3)
    data(2, 0xFBB5, 0xF8F6, 0xEB08, 0x07C7)  # udiv r8, r5, r6; add r7, r8, r7, lsl 3
    add(r7, 1)
    lsr(r7, r7, 1)
    cmp(r3, 0)
    bgt(STORE)
    cmp(r4, 0)
    data(2, 0xBFB8, 0x427F)  # it lt; neglt r7, r7
    label(STORE)
    data(2, 0xC280)  # stmia r2!, {r7}
    sub(r3, 1)
    sub(r1, 1)
    bne_w(ITEM)
    label(DONE)
    data(2, 0xE8BD, 0x0F00)  # pop {r8, r9, r10, r11}
    mov(r0, 0)  # what is returned, as a small integer
