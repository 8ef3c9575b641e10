"""Exact sums of mantissas with narrow weights: see loops_block_narrow_viper for how. Inline
assembler, ARMv6-M opcodes.

7 instructions a multiply-accumulate in the unrolled part, of 4 bits 5. Rows and M are above 0.
"""

import micropython


@micropython.asm_thumb
def dots16(r0, r1, r2, r3):
    # r0 x, r1 w, r3 out; r6, r7 the sums A, B of a part; r8, r9 the sum; r10 end of the row. On
    # the stack, in words: 0 row; 1 rows left; 2 channels left; 3 p; 4 w; 5 out
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    push({r4, r5, r6})
    data(2, 0xB086)  # sub sp, 24
    data(2, 0x9303)  # str r3, [sp, 12]
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    ldr(r4, [r3, 16])
    lsl(r4, r4, 1)
    add(r1, r1, r4)
    data(2, 0x9104)  # str r1, [sp, 16]
    ldr(r4, [r3, 4])
    data(2, 0x9401)  # str r4, [sp, 4]
    ldr(r4, [r3, 24])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    data(2, 0x9205)  # str r2, [sp, 20]
    label(ROW)
    data(2, 0x9903)  # ldr r1, [sp, 12]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    ldr(r4, [r1, 20])
    data(2, 0x9402)  # str r4, [sp, 8]
    ldr(r4, [r1, 12])
    lsl(r4, r4, 2)
    add(r4, r4, r0)
    mov(r10, r4)
    data(2, 0x9904)  # ldr r1, [sp, 16]
    mov(r5, 0)
    mov(r6, 1)
    lsl(r6, r6, 8)
    label(COUNT)  # the sum of x
    data(2, 0x4550)  # cmp r0, r10
    beq(STORE)
    ldr(r4, [r0, 0])
    add(r0, 4)
    asr(r7, r4, 31)
    add(r5, r5, r4)
    data(2, 0x417E)  # adc r6, r7
    b(COUNT)
    label(SUMMED)
    mov(r5, r8)
    mov(r6, r9)
    lsl(r6, r6, 8)
    lsr(r4, r5, 24)
    orr(r6, r4)
    lsl(r5, r5, 8)
    label(STORE)  # r5, r6 as limbs
    lsl(r4, r5, 8)
    lsr(r4, r4, 8)
    lsr(r5, r5, 24)
    lsl(r7, r6, 16)
    lsr(r7, r7, 8)
    add(r5, r5, r7)
    lsr(r6, r6, 16)
    data(2, 0x9B05)  # ldr r3, [sp, 20]
    data(2, 0xC370)  # stmia r3!, {r4, r5, r6}
    data(2, 0x9305)  # str r3, [sp, 20]
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 1)
    bge(CHANNEL)
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9903)  # ldr r1, [sp, 12]
    ldr(r4, [r1, 8])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    sub(r4, 1)
    data(2, 0x9401)  # str r4, [sp, 4]
    bne(ROW)
    data(2, 0xB006)  # add sp, 24
    pop({r4, r5, r6})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r0, 0)  # what is returned, as a small integer
    b(END)
    label(CHANNEL)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    mov(r4, 0)
    mov(r8, r4)
    mov(r4, 1)
    lsl(r4, r4, 23)
    mov(r9, r4)
    label(PART)
    mov(r6, 0)
    mov(r7, 0)
    mov(r4, r10)
    sub(r4, r4, r0)
    cmp(r4, 48)
    bge(WHOLE)
    cmp(r4, 0)
    beq(SUMMED)
    label(SINGLE)
    ldr(r2, [r0, 0])
    ldrh(r5, [r1, 0])
    asr(r3, r2, 12)
    mul(r2, r5)
    mul(r3, r5)
    add(r6, r6, r2)
    add(r7, r7, r3)
    add(r0, 4)
    add(r1, 2)
    data(2, 0x4550)  # cmp r0, r10
    bne(SINGLE)
    b(DONE)
    label(WHOLE)
    # items: ldr r2; ldrh r5; asr r3, r2, 12; mul r2, r5; mul r3, r5; add r6, r2; add r7, r3
    data(2, 0x6802, 0x880D, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6842, 0x884D, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6882, 0x888D, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x68C2, 0x88CD, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6902, 0x890D, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6942, 0x894D, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6982, 0x898D, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x69C2, 0x89CD, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6A02, 0x8A0D, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6A42, 0x8A4D, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6A82, 0x8A8D, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6AC2, 0x8ACD, 0x1313, 0x436A, 0x436B, 0x18B6, 0x18FF)
    add(r0, 48)
    add(r1, 24)
    label(DONE)
    mov(r5, 0)
    lsl(r2, r7, 12)
    sub(r3, r6, r2)  # L
    asr(r4, r7, 20)
    add(r2, r2, r3)
    data(2, 0x416C)  # adc r4, r5
    mov(r5, r8)
    add(r5, r5, r2)
    mov(r8, r5)
    mov(r5, r9)
    data(2, 0x4165)  # adc r5, r4
    mov(r9, r5)
    b(PART)
    label(END)


@micropython.asm_thumb
def dots8(r0, r1, r2, r3):
    # registers and stack: see dots16
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    push({r4, r5, r6})
    data(2, 0xB086)  # sub sp, 24
    data(2, 0x9303)  # str r3, [sp, 12]
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    ldr(r4, [r3, 16])
    add(r1, r1, r4)
    data(2, 0x9104)  # str r1, [sp, 16]
    ldr(r4, [r3, 4])
    data(2, 0x9401)  # str r4, [sp, 4]
    ldr(r4, [r3, 24])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    data(2, 0x9205)  # str r2, [sp, 20]
    label(ROW)
    data(2, 0x9903)  # ldr r1, [sp, 12]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    ldr(r4, [r1, 20])
    data(2, 0x9402)  # str r4, [sp, 8]
    ldr(r4, [r1, 12])
    lsl(r4, r4, 2)
    add(r4, r4, r0)
    mov(r10, r4)
    data(2, 0x9904)  # ldr r1, [sp, 16]
    mov(r5, 0)
    mov(r6, 1)
    lsl(r6, r6, 8)
    label(COUNT)  # the sum of x
    data(2, 0x4550)  # cmp r0, r10
    beq(STORE)
    ldr(r4, [r0, 0])
    add(r0, 4)
    asr(r7, r4, 31)
    add(r5, r5, r4)
    data(2, 0x417E)  # adc r6, r7
    b(COUNT)
    label(SUMMED)
    mov(r5, r8)
    mov(r6, r9)
    lsl(r6, r6, 16)
    lsr(r4, r5, 16)
    orr(r6, r4)
    lsl(r5, r5, 16)
    label(STORE)  # r5, r6 as limbs
    lsl(r4, r5, 8)
    lsr(r4, r4, 8)
    lsr(r5, r5, 24)
    lsl(r7, r6, 16)
    lsr(r7, r7, 8)
    add(r5, r5, r7)
    lsr(r6, r6, 16)
    data(2, 0x9B05)  # ldr r3, [sp, 20]
    data(2, 0xC370)  # stmia r3!, {r4, r5, r6}
    data(2, 0x9305)  # str r3, [sp, 20]
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 1)
    bge(CHANNEL)
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9903)  # ldr r1, [sp, 12]
    ldr(r4, [r1, 8])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    sub(r4, 1)
    data(2, 0x9401)  # str r4, [sp, 4]
    bne(ROW)
    data(2, 0xB006)  # add sp, 24
    pop({r4, r5, r6})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r0, 0)  # what is returned, as a small integer
    b(END)
    label(CHANNEL)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    mov(r4, 0)
    mov(r8, r4)
    mov(r4, 1)
    lsl(r4, r4, 15)
    mov(r9, r4)
    label(PART)
    mov(r6, 0)
    mov(r7, 0)
    mov(r4, r10)
    sub(r4, r4, r0)
    cmp(r4, 64)
    bge(WHOLE)
    cmp(r4, 0)
    beq(SUMMED)
    label(SINGLE)
    ldr(r2, [r0, 0])
    ldrb(r5, [r1, 0])
    asr(r3, r2, 8)
    mul(r2, r5)
    mul(r3, r5)
    add(r6, r6, r2)
    add(r7, r7, r3)
    add(r0, 4)
    add(r1, 1)
    data(2, 0x4550)  # cmp r0, r10
    bne(SINGLE)
    b(DONE)
    label(WHOLE)
    # items: ldr r2; ldrb r5; asr r3, r2, 8; mul r2, r5; mul r3, r5; add r6, r2; add r7, r3
    data(2, 0x6802, 0x780D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6842, 0x784D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6882, 0x788D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x68C2, 0x78CD, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6902, 0x790D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6942, 0x794D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6982, 0x798D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x69C2, 0x79CD, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6A02, 0x7A0D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6A42, 0x7A4D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6A82, 0x7A8D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6AC2, 0x7ACD, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6B02, 0x7B0D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6B42, 0x7B4D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6B82, 0x7B8D, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    data(2, 0x6BC2, 0x7BCD, 0x1213, 0x436A, 0x436B, 0x18B6, 0x18FF)
    add(r0, 64)
    add(r1, 16)
    label(DONE)
    mov(r5, 0)
    lsl(r2, r7, 8)
    sub(r3, r6, r2)  # L
    asr(r4, r7, 24)
    add(r2, r2, r3)
    data(2, 0x416C)  # adc r4, r5
    mov(r5, r8)
    add(r5, r5, r2)
    mov(r8, r5)
    mov(r5, r9)
    data(2, 0x4165)  # adc r5, r4
    mov(r9, r5)
    b(PART)
    label(END)


@micropython.asm_thumb
def dots4(r0, r1, r2, r3):
    # registers and stack: see dots16
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    push({r4, r5, r6})
    data(2, 0xB086)  # sub sp, 24
    data(2, 0x9303)  # str r3, [sp, 12]
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    ldr(r4, [r3, 16])
    add(r1, r1, r4)
    data(2, 0x9104)  # str r1, [sp, 16]
    ldr(r4, [r3, 4])
    data(2, 0x9401)  # str r4, [sp, 4]
    ldr(r4, [r3, 24])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    data(2, 0x9205)  # str r2, [sp, 20]
    label(ROW)
    data(2, 0x9903)  # ldr r1, [sp, 12]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    ldr(r4, [r1, 20])
    data(2, 0x9402)  # str r4, [sp, 8]
    ldr(r4, [r1, 12])
    lsl(r4, r4, 2)
    add(r4, r4, r0)
    mov(r10, r4)
    data(2, 0x9904)  # ldr r1, [sp, 16]
    mov(r5, 0)
    mov(r6, 1)
    lsl(r6, r6, 8)
    label(COUNT)  # the sum of x
    data(2, 0x4550)  # cmp r0, r10
    beq(STORE)
    ldr(r4, [r0, 0])
    add(r0, 4)
    asr(r7, r4, 31)
    add(r5, r5, r4)
    data(2, 0x417E)  # adc r6, r7
    b(COUNT)
    label(SUMMED)
    mov(r5, r8)
    mov(r6, r9)
    lsl(r6, r6, 20)
    lsr(r4, r5, 12)
    orr(r6, r4)
    lsl(r5, r5, 20)
    label(STORE)  # r5, r6 as limbs
    lsl(r4, r5, 8)
    lsr(r4, r4, 8)
    lsr(r5, r5, 24)
    lsl(r7, r6, 16)
    lsr(r7, r7, 8)
    add(r5, r5, r7)
    lsr(r6, r6, 16)
    data(2, 0x9B05)  # ldr r3, [sp, 20]
    data(2, 0xC370)  # stmia r3!, {r4, r5, r6}
    data(2, 0x9305)  # str r3, [sp, 20]
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 1)
    bge(CHANNEL)
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9903)  # ldr r1, [sp, 12]
    ldr(r4, [r1, 8])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    sub(r4, 1)
    data(2, 0x9401)  # str r4, [sp, 4]
    bne(ROW)
    data(2, 0xB006)  # add sp, 24
    pop({r4, r5, r6})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r0, 0)  # what is returned, as a small integer
    b(END)
    label(CHANNEL)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    mov(r4, 0)
    mov(r8, r4)
    mov(r4, 1)
    lsl(r4, r4, 11)
    mov(r9, r4)
    label(PART)
    mov(r6, 0)
    mov(r4, r10)
    sub(r4, r4, r0)
    cmp(r4, 64)
    bge(WHOLE)
    cmp(r4, 0)
    beq(SUMMED)
    label(SINGLE)
    ldrb(r5, [r1, 0])
    ldr(r2, [r0, 0])
    add(r1, 1)
    add(r0, 4)
    lsr(r4, r5, 4)
    lsl(r5, r5, 28)
    lsr(r5, r5, 28)
    mul(r2, r5)
    add(r6, r6, r2)
    data(2, 0x4550)  # cmp r0, r10
    beq(DONE)
    ldr(r2, [r0, 0])
    add(r0, 4)
    mul(r2, r4)
    add(r6, r6, r2)
    data(2, 0x4550)  # cmp r0, r10
    bne(SINGLE)
    b(DONE)
    label(WHOLE)
    # two items: ldrb r5; ldr r2; ldr r3; lsr r4, r5, 4; lsl r5, r5, 28; lsr r5, r5, 28;
    # mul r2, r5; mul r3, r4; add r6, r2; add r6, r3
    data(2, 0x780D, 0x6802, 0x6843, 0x092C, 0x072D, 0x0F2D, 0x436A, 0x4363, 0x18B6, 0x18F6)
    data(2, 0x784D, 0x6882, 0x68C3, 0x092C, 0x072D, 0x0F2D, 0x436A, 0x4363, 0x18B6, 0x18F6)
    data(2, 0x788D, 0x6902, 0x6943, 0x092C, 0x072D, 0x0F2D, 0x436A, 0x4363, 0x18B6, 0x18F6)
    data(2, 0x78CD, 0x6982, 0x69C3, 0x092C, 0x072D, 0x0F2D, 0x436A, 0x4363, 0x18B6, 0x18F6)
    data(2, 0x790D, 0x6A02, 0x6A43, 0x092C, 0x072D, 0x0F2D, 0x436A, 0x4363, 0x18B6, 0x18F6)
    data(2, 0x794D, 0x6A82, 0x6AC3, 0x092C, 0x072D, 0x0F2D, 0x436A, 0x4363, 0x18B6, 0x18F6)
    data(2, 0x798D, 0x6B02, 0x6B43, 0x092C, 0x072D, 0x0F2D, 0x436A, 0x4363, 0x18B6, 0x18F6)
    data(2, 0x79CD, 0x6B82, 0x6BC3, 0x092C, 0x072D, 0x0F2D, 0x436A, 0x4363, 0x18B6, 0x18F6)
    add(r0, 64)
    add(r1, 8)
    label(DONE)
    mov(r2, r6)
    asr(r4, r6, 31)
    mov(r5, r8)
    add(r5, r5, r2)
    mov(r8, r5)
    mov(r5, r9)
    data(2, 0x4165)  # adc r5, r4
    mov(r9, r5)
    b(PART)
    label(END)
