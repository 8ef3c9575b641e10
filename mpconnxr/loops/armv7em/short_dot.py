"""Sums of short mantissas: see loops/short_dot. Inline assembler, ARMv7E-M (DSP).

Four channels at a time, two items by one `smlad`: 1.0 instructions a multiply-accumulate in the
unrolled part, 2.25 of up to three last channels. Rows and M are above 0.
"""

import micropython


@micropython.asm_thumb
def dots(r0, r1, r2, r3):
    # r0 x, r1 to r4 w of four channels, r5 to r8 their sums, r9 to r12 items, lr where x ends.
    # On the stack: row (0), rows left (4), channels left (8), p (12), end of the row (16), w (20),
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
    blt_w(SINGLES)
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
    blt_w(SINGLES)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9D09)  # ldr r5, [sp, 36]
    add(r2, r1, r5)
    add(r3, r2, r5)
    add(r4, r3, r5)
    data(2, 0x9D07)  # ldr r5, [sp, 28]
    mov(r6, r5)
    mov(r7, r5)
    mov(r8, r5)
    data(2, 0xF8DD, 0xE018)  # ldr lr, [sp, 24]
    data(2, 0x4570)  # cmp r0, lr
    beq(REST)
    label(EIGHT)
    data(2, 0xE8B0, 0x1E00)  # ldmia r0!, {r9, r10, r11, r12}
    data(2, 0xEAC9, 0x490A)  # pkhbt r9, r9, r10, lsl 16
    data(2, 0xEACB, 0x4A0C)  # pkhbt r10, r11, r12, lsl 16
    data(2, 0xE8B1, 0x1800)  # ldmia r1!, {r11, r12}
    data(2, 0xFB29, 0x550B)  # smlad r5, r9, r11, r5
    data(2, 0xFB2A, 0x550C)  # smlad r5, r10, r12, r5
    data(2, 0xE8B2, 0x1800)  # ldmia r2!, {r11, r12}
    data(2, 0xFB29, 0x660B)  # smlad r6, r9, r11, r6
    data(2, 0xFB2A, 0x660C)  # smlad r6, r10, r12, r6
    data(2, 0xE8B3, 0x1800)  # ldmia r3!, {r11, r12}
    data(2, 0xFB29, 0x770B)  # smlad r7, r9, r11, r7
    data(2, 0xFB2A, 0x770C)  # smlad r7, r10, r12, r7
    data(2, 0xE8B4, 0x1800)  # ldmia r4!, {r11, r12}
    data(2, 0xFB29, 0x880B)  # smlad r8, r9, r11, r8
    data(2, 0xFB2A, 0x880C)  # smlad r8, r10, r12, r8
    data(2, 0xE8B0, 0x1E00)  # ldmia r0!, {r9, r10, r11, r12}
    data(2, 0xEAC9, 0x490A)  # pkhbt r9, r9, r10, lsl 16
    data(2, 0xEACB, 0x4A0C)  # pkhbt r10, r11, r12, lsl 16
    data(2, 0xE8B1, 0x1800)  # ldmia r1!, {r11, r12}
    data(2, 0xFB29, 0x550B)  # smlad r5, r9, r11, r5
    data(2, 0xFB2A, 0x550C)  # smlad r5, r10, r12, r5
    data(2, 0xE8B2, 0x1800)  # ldmia r2!, {r11, r12}
    data(2, 0xFB29, 0x660B)  # smlad r6, r9, r11, r6
    data(2, 0xFB2A, 0x660C)  # smlad r6, r10, r12, r6
    data(2, 0xE8B3, 0x1800)  # ldmia r3!, {r11, r12}
    data(2, 0xFB29, 0x770B)  # smlad r7, r9, r11, r7
    data(2, 0xFB2A, 0x770C)  # smlad r7, r10, r12, r7
    data(2, 0xE8B4, 0x1800)  # ldmia r4!, {r11, r12}
    data(2, 0xFB29, 0x880B)  # smlad r8, r9, r11, r8
    data(2, 0xFB2A, 0x880C)  # smlad r8, r10, r12, r8
    data(2, 0x4570)  # cmp r0, lr
    bne(EIGHT)
    label(REST)
    data(2, 0xF8DD, 0xE010)  # ldr lr, [sp, 16]
    data(2, 0x4570)  # cmp r0, lr
    beq(DONE)
    label(ITEM)
    data(2, 0xF850, 0x9B04)  # ldr r9, [r0], 4
    data(2, 0xF831, 0xBB02)  # ldrh r11, [r1], 2
    data(2, 0xFB09, 0x550B)  # mla r5, r9, r11, r5
    data(2, 0xF832, 0xBB02)  # ldrh r11, [r2], 2
    data(2, 0xFB09, 0x660B)  # mla r6, r9, r11, r6
    data(2, 0xF833, 0xBB02)  # ldrh r11, [r3], 2
    data(2, 0xFB09, 0x770B)  # mla r7, r9, r11, r7
    data(2, 0xF834, 0xBB02)  # ldrh r11, [r4], 2
    data(2, 0xFB09, 0x880B)  # mla r8, r9, r11, r8
    data(2, 0x4570)  # cmp r0, lr
    bne(ITEM)
    label(DONE)
    add(r1, r4, 3)
    lsr(r1, r1, 2)
    lsl(r1, r1, 2)
    data(2, 0x9808)  # ldr r0, [sp, 32]
    data(2, 0xE8A0, 0x01E0)  # stmia r0!, {r5, r6, r7, r8}
    data(2, 0x9008)  # str r0, [sp, 32]
    b(CHANNELS)
    label(SINGLES)  # one channel: 2**14 is taken from each weight
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 1)
    blt_w(NEXT)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9800)  # ldr r0, [sp, 0]
    data(2, 0x9A04)  # ldr r2, [sp, 16]
    data(2, 0x9C06)  # ldr r4, [sp, 24]
    mov(r14, r4)
    mov(r5, 1)
    lsl(r6, r5, 14)
    lsl(r4, r5, 30)
    add(r4, r4, r6)
    mov(r8, r4)
    lsl(r5, r5, 30)
    data(2, 0x4570)  # cmp r0, lr
    beq(LAST_REST)
    label(LAST_EIGHT)
    data(2, 0xE8B0, 0x1E00)  # ldmia r0!, {r9, r10, r11, r12}
    data(2, 0xEAC9, 0x490A)  # pkhbt r9, r9, r10, lsl 16
    data(2, 0xEACB, 0x4A0C)  # pkhbt r10, r11, r12, lsl 16
    data(2, 0xE8B1, 0x1800)  # ldmia r1!, {r11, r12}
    data(2, 0xFADB, 0xFB08)  # ssub16 r11, r11, r8
    data(2, 0xFADC, 0xFC08)  # ssub16 r12, r12, r8
    data(2, 0xFB29, 0x550B)  # smlad r5, r9, r11, r5
    data(2, 0xFB2A, 0x550C)  # smlad r5, r10, r12, r5
    data(2, 0xE8B0, 0x1E00)  # ldmia r0!, {r9, r10, r11, r12}
    data(2, 0xEAC9, 0x490A)  # pkhbt r9, r9, r10, lsl 16
    data(2, 0xEACB, 0x4A0C)  # pkhbt r10, r11, r12, lsl 16
    data(2, 0xE8B1, 0x1800)  # ldmia r1!, {r11, r12}
    data(2, 0xFADB, 0xFB08)  # ssub16 r11, r11, r8
    data(2, 0xFADC, 0xFC08)  # ssub16 r12, r12, r8
    data(2, 0xFB29, 0x550B)  # smlad r5, r9, r11, r5
    data(2, 0xFB2A, 0x550C)  # smlad r5, r10, r12, r5
    data(2, 0x4570)  # cmp r0, lr
    bne(LAST_EIGHT)
    label(LAST_REST)
    cmp(r0, r2)
    beq(LAST_DONE)
    label(LAST_ITEM)
    data(2, 0xC810)  # ldmia r0!, {r4}
    data(2, 0xF831, 0x7B02)  # ldrh r7, [r1], 2
    sub(r7, r7, r6)
    data(2, 0xFB04, 0x5507)  # mla r5, r4, r7, r5
    cmp(r0, r2)
    bne(LAST_ITEM)
    label(LAST_DONE)
    add(r1, 3)
    lsr(r1, r1, 2)
    lsl(r1, r1, 2)
    data(2, 0x9808)  # ldr r0, [sp, 32]
    data(2, 0xC020)  # stmia r0!, {r5}
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
    bne_w(ROW)
    data(2, 0xB00A)  # add sp, 40
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
