"""Exact sums of mantissas with narrow weights: see loops/block_narrow. Inline assembler, ARMv7-M.

2.6 to 3 instructions a multiply-accumulate in the unrolled parts: weights are read by words, from
any byte, and cut out of them. A sum starts so that what is added to it is there once it is
shifted. Rows and M are above 0.
"""

import micropython


@micropython.asm_thumb
def dots(r0, r1, r2, r3):
    # r0 x, r1 w, r2 end of what is unrolled of the row, r3 out, r8 weights, r9 one of them; r12,
    # lr the sum. On the stack, in words: 0 row; 1 rows left; 2 channels left; 3 p; 4 end of the
    # row; 5 w; 6 the unrolled end; 7 bits
    mov(r4, r8)
    mov(r5, r9)
    push({r4, r5, r6, r7})
    data(2, 0xB088)  # sub sp, 32
    data(2, 0x9303)  # str r3, [sp, 12]
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x9000)  # str r0, [sp, 0]
    ldr(r5, [r3, 28])
    data(2, 0x9507)  # str r5, [sp, 28]
    lsr(r5, r5, 4)
    ldr(r4, [r3, 16])
    data(2, 0x40AC)  # lsl r4, r5
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
    add(r2, r5, r0)
    data(2, 0x9204)  # str r2, [sp, 16]
    lsr(r4, r4, 3)
    lsl(r4, r4, 5)
    add(r4, r4, r0)
    data(2, 0x9406)  # str r4, [sp, 24]
    data(2, 0x9905)  # ldr r1, [sp, 20]
    mov(r5, 0)
    mov(r6, 1)
    lsl(r6, r6, 8)
    label(COUNT)  # the sum of x
    cmp(r0, r2)
    beq(STORE)
    ldr(r4, [r0, 0])
    add(r0, 4)
    asr(r7, r4, 31)
    add(r5, r5, r4)
    data(2, 0x417E)  # adc r6, r7
    b(COUNT)
    label(STORE)  # r5, r6 as limbs
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
    blt_w(NEXT)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9A06)  # ldr r2, [sp, 24]
    mov(r4, 0)
    mov(r12, r4)
    data(2, 0x9C07)  # ldr r4, [sp, 28]
    cmp(r4, 8)
    blt_w(WIDTH4)
    beq(WIDTH8)
    data(2, 0xF44F, 0x0E00)  # mov lr, 8388608
    cmp(r0, r2)
    beq(REST16)
    label(EIGHT16)
    data(2, 0xC8F0)  # ldmia r0!, {r4, r5, r6, r7}
    data(2, 0xF851, 0x8B04)  # ldr r8, [r1], 4
    data(2, 0xFA1F, 0xF988, 0xFBC4, 0xCE09)  # uxth r9, r8; smlal r12, lr, r4, r9
    data(2, 0xFA1F, 0xF9A8, 0xFBC5, 0xCE09)  # uxth r9, r8, ror 16; smlal r12, lr, r5, r9
    data(2, 0xF851, 0x8B04)  # ldr r8, [r1], 4
    data(2, 0xFA1F, 0xF988, 0xFBC6, 0xCE09)  # uxth r9, r8; smlal r12, lr, r6, r9
    data(2, 0xFA1F, 0xF9A8, 0xFBC7, 0xCE09)  # uxth r9, r8, ror 16; smlal r12, lr, r7, r9
    data(2, 0xC8F0)  # ldmia r0!, {r4, r5, r6, r7}
    data(2, 0xF851, 0x8B04)  # ldr r8, [r1], 4
    data(2, 0xFA1F, 0xF988, 0xFBC4, 0xCE09)  # uxth r9, r8; smlal r12, lr, r4, r9
    data(2, 0xFA1F, 0xF9A8, 0xFBC5, 0xCE09)  # uxth r9, r8, ror 16; smlal r12, lr, r5, r9
    data(2, 0xF851, 0x8B04)  # ldr r8, [r1], 4
    data(2, 0xFA1F, 0xF988, 0xFBC6, 0xCE09)  # uxth r9, r8; smlal r12, lr, r6, r9
    data(2, 0xFA1F, 0xF9A8, 0xFBC7, 0xCE09)  # uxth r9, r8, ror 16; smlal r12, lr, r7, r9
    cmp(r0, r2)
    bne(EIGHT16)
    label(REST16)
    data(2, 0x9A04)  # ldr r2, [sp, 16]
    label(SINGLE16)
    cmp(r0, r2)
    beq(SUMMED16)
    ldr(r4, [r0, 0])
    add(r0, 4)
    ldrh(r5, [r1, 0])
    add(r1, 2)
    data(2, 0xFBC4, 0xCE05)  # smlal r12, lr, r4, r5
    b(SINGLE16)
    label(SUMMED16)
    mov(r5, r12)
    mov(r6, r14)
    lsl(r6, r6, 8)
    lsr(r4, r5, 24)
    orr(r6, r4)
    lsl(r5, r5, 8)
    b(STORE)
    label(WIDTH8)
    data(2, 0xF44F, 0x4E00)  # mov lr, 32768
    cmp(r0, r2)
    beq(REST8)
    label(EIGHT8)
    data(2, 0xC8F0)  # ldmia r0!, {r4, r5, r6, r7}
    data(2, 0xF851, 0x8B04)  # ldr r8, [r1], 4
    data(2, 0xFA5F, 0xF988, 0xFBC4, 0xCE09)  # uxtb r9, r8; smlal r12, lr, r4, r9
    data(2, 0xFA5F, 0xF998, 0xFBC5, 0xCE09)  # uxtb r9, r8, ror 8; smlal r12, lr, r5, r9
    data(2, 0xFA5F, 0xF9A8, 0xFBC6, 0xCE09)  # uxtb r9, r8, ror 16; smlal r12, lr, r6, r9
    data(2, 0xFA5F, 0xF9B8, 0xFBC7, 0xCE09)  # uxtb r9, r8, ror 24; smlal r12, lr, r7, r9
    data(2, 0xC8F0)  # ldmia r0!, {r4, r5, r6, r7}
    data(2, 0xF851, 0x8B04)  # ldr r8, [r1], 4
    data(2, 0xFA5F, 0xF988, 0xFBC4, 0xCE09)  # uxtb r9, r8; smlal r12, lr, r4, r9
    data(2, 0xFA5F, 0xF998, 0xFBC5, 0xCE09)  # uxtb r9, r8, ror 8; smlal r12, lr, r5, r9
    data(2, 0xFA5F, 0xF9A8, 0xFBC6, 0xCE09)  # uxtb r9, r8, ror 16; smlal r12, lr, r6, r9
    data(2, 0xFA5F, 0xF9B8, 0xFBC7, 0xCE09)  # uxtb r9, r8, ror 24; smlal r12, lr, r7, r9
    cmp(r0, r2)
    bne(EIGHT8)
    label(REST8)
    data(2, 0x9A04)  # ldr r2, [sp, 16]
    label(SINGLE8)
    cmp(r0, r2)
    beq(SUMMED8)
    ldr(r4, [r0, 0])
    add(r0, 4)
    ldrb(r5, [r1, 0])
    add(r1, 1)
    data(2, 0xFBC4, 0xCE05)  # smlal r12, lr, r4, r5
    b(SINGLE8)
    label(SUMMED8)
    mov(r5, r12)
    mov(r6, r14)
    lsl(r6, r6, 16)
    lsr(r4, r5, 16)
    orr(r6, r4)
    lsl(r5, r5, 16)
    b(STORE)
    label(WIDTH4)
    data(2, 0xF44F, 0x6E00)  # mov lr, 2048
    cmp(r0, r2)
    beq(REST4)
    label(EIGHT4)
    data(2, 0xC8F0)  # ldmia r0!, {r4, r5, r6, r7}
    data(2, 0xF851, 0x8B04)  # ldr r8, [r1], 4
    data(2, 0xF3C8, 0x0903, 0xFBC4, 0xCE09)  # ubfx r9, r8, 0, 4; smlal r12, lr, r4, r9
    data(2, 0xF3C8, 0x1903, 0xFBC5, 0xCE09)  # ubfx r9, r8, 4, 4; smlal r12, lr, r5, r9
    data(2, 0xF3C8, 0x2903, 0xFBC6, 0xCE09)  # ubfx r9, r8, 8, 4; smlal r12, lr, r6, r9
    data(2, 0xF3C8, 0x3903, 0xFBC7, 0xCE09)  # ubfx r9, r8, 12, 4; smlal r12, lr, r7, r9
    data(2, 0xC8F0)  # ldmia r0!, {r4, r5, r6, r7}
    data(2, 0xF3C8, 0x4903, 0xFBC4, 0xCE09)  # ubfx r9, r8, 16, 4; smlal r12, lr, r4, r9
    data(2, 0xF3C8, 0x5903, 0xFBC5, 0xCE09)  # ubfx r9, r8, 20, 4; smlal r12, lr, r5, r9
    data(2, 0xF3C8, 0x6903, 0xFBC6, 0xCE09)  # ubfx r9, r8, 24, 4; smlal r12, lr, r6, r9
    data(2, 0xF3C8, 0x7903, 0xFBC7, 0xCE09)  # ubfx r9, r8, 28, 4; smlal r12, lr, r7, r9
    cmp(r0, r2)
    bne(EIGHT4)
    label(REST4)
    data(2, 0x9A04)  # ldr r2, [sp, 16]
    label(SINGLE4)
    cmp(r0, r2)
    beq(SUMMED4)
    ldr(r4, [r0, 0])
    add(r0, 4)
    ldrb(r5, [r1, 0])
    add(r1, 1)
    lsr(r6, r5, 4)
    lsl(r5, r5, 28)
    lsr(r5, r5, 28)
    data(2, 0xFBC4, 0xCE05)  # smlal r12, lr, r4, r5
    cmp(r0, r2)
    beq(SUMMED4)
    ldr(r4, [r0, 0])
    add(r0, 4)
    data(2, 0xFBC4, 0xCE06)  # smlal r12, lr, r4, r6
    b(SINGLE4)
    label(SUMMED4)
    mov(r5, r12)
    mov(r6, r14)
    lsl(r6, r6, 20)
    lsr(r4, r5, 12)
    orr(r6, r4)
    lsl(r5, r5, 20)
    b(STORE)
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
    bne_w(ROW)
    data(2, 0xB008)  # add sp, 32
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r0, 0)  # what is returned, as a small integer
