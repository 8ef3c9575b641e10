"""Exact sums of mantissas: see loops/block_dot. Inline assembler with smlal, for ARMv7-M and up.

1.75 instructions a multiply-accumulate in the unrolled part. Rows and M are above 0.
"""

import micropython


@micropython.asm_thumb
def dots(r0, r1, r2, r3):
    # r0 x, r1 w, r2 end of what is unrolled of the row, r3 out; r12, lr the sum. On the stack, in
    # words: 0 row; 1 rows left; 2 channels left; 3 p; 4 end of the row; 5 w; 6 the unrolled end
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    mov(r7, r11)
    push({r4, r5, r6, r7})
    data(2, 0xB087)  # sub sp, 28
    data(2, 0x9303)  # str r3, [sp, 12]
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    ldr(r4, [r3, 16])
    lsl(r4, r4, 2)
    add(r1, r1, r4)
    data(2, 0x9105)  # str r1, [sp, 20]
    ldr(r4, [r3, 4])
    data(2, 0x9401)  # str r4, [sp, 4]
    ldr(r4, [r3, 24])
    lsl(r4, r4, 2)
    add(r3, r2, r4)
    label(ROW)
    data(2, 0x9903)  # ldr r1, [sp, 12]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    ldr(r4, [r1, 20])
    data(2, 0x9402)  # str r4, [sp, 8]
    ldr(r4, [r1, 12])
    lsl(r5, r4, 2)
    add(r5, r5, r0)
    data(2, 0x9504)  # str r5, [sp, 16]
    lsr(r4, r4, 3)
    lsl(r4, r4, 5)
    add(r4, r4, r0)
    data(2, 0x9406)  # str r4, [sp, 24]
    data(2, 0x9905)  # ldr r1, [sp, 20]
    mov(r4, 0)
    mov(r12, r4)
    data(2, 0xF44F, 0x7E80)  # mov lr, 256
    mov(r5, 1)
    mov(r8, r5)
    data(2, 0x9A06)  # ldr r2, [sp, 24]
    cmp(r0, r2)
    beq(COUNT)
    label(FOUR)  # the sum of x
    data(2, 0xC8F0)  # ldmia r0!, {r4, r5, r6, r7}
    data(2, 0xFBC4, 0xCE08)  # smlal r12, lr, r4, r8
    data(2, 0xFBC5, 0xCE08)  # smlal r12, lr, r5, r8
    data(2, 0xFBC6, 0xCE08)  # smlal r12, lr, r6, r8
    data(2, 0xFBC7, 0xCE08)  # smlal r12, lr, r7, r8
    cmp(r0, r2)
    bne(FOUR)
    label(COUNT)
    data(2, 0x9A04)  # ldr r2, [sp, 16]
    label(ONE)
    cmp(r0, r2)
    beq(STORE)
    ldr(r4, [r0, 0])
    add(r0, 4)
    data(2, 0xFBC4, 0xCE08)  # smlal r12, lr, r4, r8
    b(ONE)
    label(STORE)  # r12, lr as limbs
    mov(r5, r12)
    mov(r6, r14)
    lsl(r4, r5, 8)
    lsr(r4, r4, 8)
    lsr(r5, r5, 24)
    lsl(r7, r6, 16)
    lsr(r7, r7, 8)
    add(r5, r5, r7)
    lsr(r6, r6, 16)
    data(2, 0xC370)  # stmia r3!, {r4, r5, r6}
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 1)
    blt(NEXT)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9A06)  # ldr r2, [sp, 24]
    mov(r4, 0)
    mov(r12, r4)
    data(2, 0xF04F, 0x4E00)  # mov lr, 2147483648
    cmp(r0, r2)
    beq(REST)
    label(EIGHT)
    data(2, 0xC8F0)  # ldmia r0!, {r4, r5, r6, r7}
    data(2, 0xE8B1, 0x0F00)  # ldmia r1!, {r8, r9, r10, r11}
    data(2, 0xFBC4, 0xCE08)  # smlal r12, lr, r4, r8
    data(2, 0xFBC5, 0xCE09)  # smlal r12, lr, r5, r9
    data(2, 0xFBC6, 0xCE0A)  # smlal r12, lr, r6, r10
    data(2, 0xFBC7, 0xCE0B)  # smlal r12, lr, r7, r11
    data(2, 0xC8F0)  # ldmia r0!, {r4, r5, r6, r7}
    data(2, 0xE8B1, 0x0F00)  # ldmia r1!, {r8, r9, r10, r11}
    data(2, 0xFBC4, 0xCE08)  # smlal r12, lr, r4, r8
    data(2, 0xFBC5, 0xCE09)  # smlal r12, lr, r5, r9
    data(2, 0xFBC6, 0xCE0A)  # smlal r12, lr, r6, r10
    data(2, 0xFBC7, 0xCE0B)  # smlal r12, lr, r7, r11
    cmp(r0, r2)
    bne(EIGHT)
    label(REST)
    data(2, 0x9A04)  # ldr r2, [sp, 16]
    label(SINGLE)
    cmp(r0, r2)
    beq(STORE)
    ldr(r4, [r0, 0])
    ldr(r5, [r1, 0])
    add(r0, 4)
    add(r1, 4)
    data(2, 0xFBC4, 0xCE05)  # smlal r12, lr, r4, r5
    b(SINGLE)
    label(NEXT)
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
    data(2, 0xB007)  # add sp, 28
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
