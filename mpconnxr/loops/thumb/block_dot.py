"""Exact sums of mantissas: see loops/viper/block_dot for how. Inline assembler, ARMv6-M opcodes.

12.5 instructions a multiply-accumulate in the unrolled part: two loads, two shifts, two additions,
three products, three sums. Rows, K and M are above 0 but for K, which may be 0. That B starts with
2**30 makes a part's sum 2**42 larger: a channel's sum starts with so much less for each part.
"""

import micropython


@micropython.asm_thumb
def dots(r0, r1, r2, r3):
    # r0 x, r1 w; r8, r9, r10 the sums A, H, B; r11, r12 ends of a part of the row, and of what of
    # it is unrolled. On the stack, in words: 0, 1 sum; 2 row; 3 rows left; 4 channels left; 5 p;
    # 6 end of the row; 7 out; 8 w; 9 upper word that a sum starts with. lr: 2**30
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    mov(r7, r11)
    push({r4, r5, r6, r7})
    data(2, 0xB08A)  # sub sp, 40
    data(2, 0x9305)  # str r3, [sp, 20]
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9002)  # str r0, [sp, 8]
    ldr(r4, [r3, 16])
    lsl(r4, r4, 2)
    add(r1, r1, r4)
    data(2, 0x9108)  # str r1, [sp, 32]
    ldr(r4, [r3, 24])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    data(2, 0x9207)  # str r2, [sp, 28]
    ldr(r4, [r3, 4])
    data(2, 0x9403)  # str r4, [sp, 12]
    mov(r5, 1)
    lsl(r4, r5, 30)
    mov(r14, r4)
    lsl(r4, r5, 31)
    lsl(r5, r5, 10)
    ldr(r6, [r3, 12])
    label(PARTS)
    sub(r4, r4, r5)
    sub(r6, 120)
    bgt(PARTS)
    data(2, 0x9409)  # str r4, [sp, 36]
    label(ROW)
    data(2, 0x9802)  # ldr r0, [sp, 8]
    data(2, 0x9B05)  # ldr r3, [sp, 20]
    ldr(r4, [r3, 20])
    data(2, 0x9404)  # str r4, [sp, 16]
    ldr(r4, [r3, 12])
    lsl(r4, r4, 2)
    add(r7, r4, r0)
    data(2, 0x9706)  # str r7, [sp, 24]
    mov(r11, r7)
    lsr(r4, r4, 4)
    lsl(r4, r4, 4)
    add(r4, r4, r0)
    mov(r12, r4)
    mov(r5, 0)
    mov(r6, 1)
    lsl(r6, r6, 8)
    b(LEFT)
    label(FOUR)  # the sum of x
    data(2, 0xC89A)  # ldmia r0!, {r1, r3, r4, r7}
    add(r1, r1, r3)
    add(r4, r4, r7)
    add(r1, r1, r4)
    asr(r3, r1, 31)
    add(r5, r5, r1)
    data(2, 0x415E)  # adc r6, r3
    label(LEFT)
    data(2, 0x4560)  # cmp r0, r12
    bne(FOUR)
    label(COUNT)
    data(2, 0x4558)  # cmp r0, r11
    beq(COUNTED)
    ldr(r7, [r0, 0])
    add(r0, 4)
    asr(r3, r7, 31)
    add(r5, r5, r7)
    data(2, 0x415E)  # adc r6, r3
    b(COUNT)
    label(COUNTED)
    data(2, 0x9908)  # ldr r1, [sp, 32]
    label(STORE)  # r5, r6 as limbs
    data(2, 0x9A07)  # ldr r2, [sp, 28]
    lsl(r4, r5, 8)
    lsr(r4, r4, 8)
    str(r4, [r2, 0])
    lsr(r5, r5, 24)
    lsl(r4, r6, 16)
    lsr(r4, r4, 8)
    add(r4, r4, r5)
    str(r4, [r2, 4])
    lsr(r6, r6, 16)
    str(r6, [r2, 8])
    add(r2, 12)
    data(2, 0x9207)  # str r2, [sp, 28]
    data(2, 0x9C04)  # ldr r4, [sp, 16]
    sub(r4, 1)
    data(2, 0x9404)  # str r4, [sp, 16]
    bge(CHANNEL)
    data(2, 0x9802)  # ldr r0, [sp, 8]
    data(2, 0x9B05)  # ldr r3, [sp, 20]
    ldr(r4, [r3, 8])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9002)  # str r0, [sp, 8]
    data(2, 0x9C03)  # ldr r4, [sp, 12]
    sub(r4, 1)
    data(2, 0x9403)  # str r4, [sp, 12]
    bne(ROW)
    b(END)
    label(CHANNEL)
    mov(r4, 0)
    data(2, 0x9400)  # str r4, [sp, 0]
    data(2, 0x9C09)  # ldr r4, [sp, 36]
    data(2, 0x9401)  # str r4, [sp, 4]
    data(2, 0x9802)  # ldr r0, [sp, 8]
    label(PART)  # up to 120 items
    data(2, 0x9C06)  # ldr r4, [sp, 24]
    sub(r5, r4, r0)
    mov(r6, 240)
    lsl(r6, r6, 1)
    cmp(r5, r6)
    bls(SHORT)
    mov(r5, r6)
    label(SHORT)
    add(r4, r0, r5)
    mov(r11, r4)
    lsr(r5, r5, 5)
    lsl(r5, r5, 5)
    add(r4, r0, r5)
    mov(r12, r4)
    mov(r4, 0)
    mov(r8, r4)
    mov(r9, r4)
    mov(r10, r14)
    data(2, 0x4560)  # cmp r0, r12
    beq(SINGLE)
    b(EIGHT)
    label(SINGLE)
    data(2, 0x4558)  # cmp r0, r11
    beq(DONE)
    ldr(r2, [r0, 0])
    ldr(r5, [r1, 0])
    asr(r3, r2, 12)
    lsr(r6, r5, 12)
    add(r4, r2, r3)
    add(r7, r5, r6)
    mul(r5, r2)
    mul(r6, r3)
    mul(r7, r4)
    data(2, 0x44A8)  # add r8, r5
    data(2, 0x44B1)  # add r9, r6
    data(2, 0x44BA)  # add r10, r7
    add(r0, 4)
    add(r1, 4)
    b(SINGLE)
    label(DONE)
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    sub(r6, r6, r4)
    lsl(r7, r5, 13)
    sub(r6, r6, r7)
    sub(r6, r6, r5)  # M + 2**30
    lsl(r7, r5, 24)
    sub(r3, r4, r7)
    lsl(r7, r6, 12)
    sub(r3, r3, r7)  # L
    lsr(r3, r3, 12)
    add(r6, r6, r3)
    lsr(r6, r6, 12)
    add(r5, r5, r6)
    asr(r7, r5, 8)  # the upper word of the part's sum; A is the lower one
    data(2, 0x9D00)  # ldr r5, [sp, 0]
    data(2, 0x9E01)  # ldr r6, [sp, 4]
    add(r5, r5, r4)
    data(2, 0x417E)  # adc r6, r7
    data(2, 0x9C06)  # ldr r4, [sp, 24]
    cmp(r0, r4)
    beq(WHOLE)
    data(2, 0x9500)  # str r5, [sp, 0]
    data(2, 0x9601)  # str r6, [sp, 4]
    b(PART)
    label(WHOLE)
    b(STORE)
    label(EIGHT)
    ldr(r2, [r0, 0])
    ldr(r5, [r1, 0])
    asr(r3, r2, 12)
    lsr(r6, r5, 12)
    add(r4, r2, r3)
    add(r7, r5, r6)
    mul(r5, r2)
    mul(r6, r3)
    mul(r7, r4)
    data(2, 0x44A8)  # add r8, r5
    data(2, 0x44B1)  # add r9, r6
    data(2, 0x44BA)  # add r10, r7
    ldr(r2, [r0, 4])
    ldr(r5, [r1, 4])
    asr(r3, r2, 12)
    lsr(r6, r5, 12)
    add(r4, r2, r3)
    add(r7, r5, r6)
    mul(r5, r2)
    mul(r6, r3)
    mul(r7, r4)
    data(2, 0x44A8)  # add r8, r5
    data(2, 0x44B1)  # add r9, r6
    data(2, 0x44BA)  # add r10, r7
    ldr(r2, [r0, 8])
    ldr(r5, [r1, 8])
    asr(r3, r2, 12)
    lsr(r6, r5, 12)
    add(r4, r2, r3)
    add(r7, r5, r6)
    mul(r5, r2)
    mul(r6, r3)
    mul(r7, r4)
    data(2, 0x44A8)  # add r8, r5
    data(2, 0x44B1)  # add r9, r6
    data(2, 0x44BA)  # add r10, r7
    ldr(r2, [r0, 12])
    ldr(r5, [r1, 12])
    asr(r3, r2, 12)
    lsr(r6, r5, 12)
    add(r4, r2, r3)
    add(r7, r5, r6)
    mul(r5, r2)
    mul(r6, r3)
    mul(r7, r4)
    data(2, 0x44A8)  # add r8, r5
    data(2, 0x44B1)  # add r9, r6
    data(2, 0x44BA)  # add r10, r7
    ldr(r2, [r0, 16])
    ldr(r5, [r1, 16])
    asr(r3, r2, 12)
    lsr(r6, r5, 12)
    add(r4, r2, r3)
    add(r7, r5, r6)
    mul(r5, r2)
    mul(r6, r3)
    mul(r7, r4)
    data(2, 0x44A8)  # add r8, r5
    data(2, 0x44B1)  # add r9, r6
    data(2, 0x44BA)  # add r10, r7
    ldr(r2, [r0, 20])
    ldr(r5, [r1, 20])
    asr(r3, r2, 12)
    lsr(r6, r5, 12)
    add(r4, r2, r3)
    add(r7, r5, r6)
    mul(r5, r2)
    mul(r6, r3)
    mul(r7, r4)
    data(2, 0x44A8)  # add r8, r5
    data(2, 0x44B1)  # add r9, r6
    data(2, 0x44BA)  # add r10, r7
    ldr(r2, [r0, 24])
    ldr(r5, [r1, 24])
    asr(r3, r2, 12)
    lsr(r6, r5, 12)
    add(r4, r2, r3)
    add(r7, r5, r6)
    mul(r5, r2)
    mul(r6, r3)
    mul(r7, r4)
    data(2, 0x44A8)  # add r8, r5
    data(2, 0x44B1)  # add r9, r6
    data(2, 0x44BA)  # add r10, r7
    ldr(r2, [r0, 28])
    ldr(r5, [r1, 28])
    asr(r3, r2, 12)
    lsr(r6, r5, 12)
    add(r4, r2, r3)
    add(r7, r5, r6)
    mul(r5, r2)
    mul(r6, r3)
    mul(r7, r4)
    data(2, 0x44A8)  # add r8, r5
    data(2, 0x44B1)  # add r9, r6
    data(2, 0x44BA)  # add r10, r7
    add(r0, 32)
    add(r1, 32)
    data(2, 0x4560)  # cmp r0, r12
    bne(EIGHT)
    b(SINGLE)
    label(END)
    data(2, 0xB00A)  # add sp, 40
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
