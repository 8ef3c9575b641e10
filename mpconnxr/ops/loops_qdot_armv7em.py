"""Dot products of bytes with requantization: see loops_qdot. Assembler, ARMv7E-M (DSP).

Four channels at a time, pairs of products by `smlad`: 1.6 instructions a multiply-accumulate, and
41 for each requantization.
"""

import micropython

from .loops_qdot_viper import qdots32  # noqa: F401  (rare)


@micropython.asm_thumb
def qdots8(r0, r1, r2, r3):
    # r8 end of the position's items, r9 table, r10 out, r11 p, r12 and lr weights, then -zw * S
    # and rows; on the stack the channels that are left, rows, table, the position's out,
    # positions that are left, -zw * S
    data(2, 0xE92D, 0x0F00)  # push {r8, r9, r10, r11}
    push({r2})
    mov(r11, r3)
    ldr(r7, [r3, 12])
    ldr(r6, [r3, 20])
    add(r6, r6, r2)
    mov(r4, r1)
    ldr(r5, [r3, 60])
    cmp(r5, 0)
    beq(WITH_WEIGHTS)
    mov(r4, r0)
    label(WITH_WEIGHTS)
    ldr(r5, [r3, 4])
    add(r5, r5, r4)
    ldr(r4, [r3, 0])
    add(r4, r4, r1)
    ldr(r2, [r3, 8])
    add(r0, r0, r2)
    ldr(r2, [r3, 48])
    add(r0, r0, r2)
    mov(r8, r0)
    push({r3, r4, r5, r6, r7})
    label(POSITION)
    mov(r3, r11)
    mov(r0, r8)
    ldr(r4, [r3, 8])
    sub(r0, r0, r4)
    mov(r4, 0)
    ldr(r5, [r3, 56])
    cmp(r5, 0)
    beq(ITEMS)
    sub(r0, 4)
    ldr(r5, [r0, 0])
    b(TOTALLED)
    label(ITEMS)
    ldr(r2, [r0, 0])
    data(2, 0xFB72, 0x5504)  # usada8 r5, r2, r4, r5
    add(r0, 4)
    data(2, 0x4540)  # cmp r0, r8
    bne(ITEMS)
    label(TOTALLED)
    ldr(r6, [r3, 32])
    mul(r5, r6)
    neg(r5, r5)
    mov(r4, sp)
    str(r5, [r4, 20])
    ldr(r1, [r4, 4])
    ldr(r5, [r4, 8])
    mov(r9, r5)
    ldr(r5, [r4, 12])
    mov(r10, r5)
    ldr(r5, [r3, 16])
    str(r5, [r4, 0])
    label(ROWS)
    mov(r3, r11)
    ldr(r2, [r3, 8])
    mov(r0, r8)
    sub(r0, r0, r2)
    mov(r4, sp)
    ldr(r5, [r4, 0])
    sub(r5, 4)
    bpl(TILE)
    b(SINGLE)
    label(TILE)
    str(r5, [r4, 0])
    mov(r4, 0)
    mov(r5, 0)
    mov(r6, 0)
    mov(r7, 0)
    lsl(r2, r2, 29)
    bpl(EIGHT)
    sub(r0, 4)
    sub(r1, 16)
    b(FOUR)
    label(EIGHT)
    ldr(r3, [r0, 0])
    data(2, 0xFA3F, 0xF283)  # uxtb16 r2, r3
    data(2, 0xFA3F, 0xF393)  # uxtb16 r3, r3, ror 8
    data(2, 0xF8D1, 0xE000)  # ldr lr, [r1, 0]
    data(2, 0xFA3F, 0xFC8E)  # uxtb16 r12, lr
    data(2, 0xFA3F, 0xFE9E)  # uxtb16 lr, lr, ror 8
    data(2, 0xFB22, 0x440C)  # smlad r4, r2, r12, r4
    data(2, 0xFB23, 0x440E)  # smlad r4, r3, lr, r4
    data(2, 0xF8D1, 0xE004)  # ldr lr, [r1, 4]
    data(2, 0xFA3F, 0xFC8E)  # uxtb16 r12, lr
    data(2, 0xFA3F, 0xFE9E)  # uxtb16 lr, lr, ror 8
    data(2, 0xFB22, 0x550C)  # smlad r5, r2, r12, r5
    data(2, 0xFB23, 0x550E)  # smlad r5, r3, lr, r5
    data(2, 0xF8D1, 0xE008)  # ldr lr, [r1, 8]
    data(2, 0xFA3F, 0xFC8E)  # uxtb16 r12, lr
    data(2, 0xFA3F, 0xFE9E)  # uxtb16 lr, lr, ror 8
    data(2, 0xFB22, 0x660C)  # smlad r6, r2, r12, r6
    data(2, 0xFB23, 0x660E)  # smlad r6, r3, lr, r6
    data(2, 0xF8D1, 0xE00C)  # ldr lr, [r1, 12]
    data(2, 0xFA3F, 0xFC8E)  # uxtb16 r12, lr
    data(2, 0xFA3F, 0xFE9E)  # uxtb16 lr, lr, ror 8
    data(2, 0xFB22, 0x770C)  # smlad r7, r2, r12, r7
    data(2, 0xFB23, 0x770E)  # smlad r7, r3, lr, r7
    label(FOUR)
    ldr(r3, [r0, 4])
    data(2, 0xFA3F, 0xF283)  # uxtb16 r2, r3
    data(2, 0xFA3F, 0xF393)  # uxtb16 r3, r3, ror 8
    data(2, 0xF8D1, 0xE010)  # ldr lr, [r1, 16]
    data(2, 0xFA3F, 0xFC8E)  # uxtb16 r12, lr
    data(2, 0xFA3F, 0xFE9E)  # uxtb16 lr, lr, ror 8
    data(2, 0xFB22, 0x440C)  # smlad r4, r2, r12, r4
    data(2, 0xFB23, 0x440E)  # smlad r4, r3, lr, r4
    data(2, 0xF8D1, 0xE014)  # ldr lr, [r1, 20]
    data(2, 0xFA3F, 0xFC8E)  # uxtb16 r12, lr
    data(2, 0xFA3F, 0xFE9E)  # uxtb16 lr, lr, ror 8
    data(2, 0xFB22, 0x550C)  # smlad r5, r2, r12, r5
    data(2, 0xFB23, 0x550E)  # smlad r5, r3, lr, r5
    data(2, 0xF8D1, 0xE018)  # ldr lr, [r1, 24]
    data(2, 0xFA3F, 0xFC8E)  # uxtb16 r12, lr
    data(2, 0xFA3F, 0xFE9E)  # uxtb16 lr, lr, ror 8
    data(2, 0xFB22, 0x660C)  # smlad r6, r2, r12, r6
    data(2, 0xFB23, 0x660E)  # smlad r6, r3, lr, r6
    data(2, 0xF8D1, 0xE01C)  # ldr lr, [r1, 28]
    data(2, 0xFA3F, 0xFC8E)  # uxtb16 r12, lr
    data(2, 0xFA3F, 0xFE9E)  # uxtb16 lr, lr, ror 8
    data(2, 0xFB22, 0x770C)  # smlad r7, r2, r12, r7
    data(2, 0xFB23, 0x770E)  # smlad r7, r3, lr, r7
    add(r0, 8)
    add(r1, 32)
    data(2, 0x4540)  # cmp r0, r8
    bne(EIGHT)
    mov(r2, sp)
    ldr(r2, [r2, 20])
    mov(r12, r2)
    mov(lr, r1)
    push({r4, r5, r6, r7})
    mov(r7, 4)
    b(CONSTANTS)
    label(SINGLE)
    add(r5, 4)
    beq(NEXT)
    sub(r5, 1)
    str(r5, [r4, 0])
    mov(r4, 0)
    label(ONE)
    ldr(r3, [r0, 0])
    data(2, 0xFA3F, 0xF283)  # uxtb16 r2, r3
    data(2, 0xFA3F, 0xF393)  # uxtb16 r3, r3, ror 8
    data(2, 0xF8D1, 0xE000)  # ldr lr, [r1, 0]
    data(2, 0xFA3F, 0xFC8E)  # uxtb16 r12, lr
    data(2, 0xFA3F, 0xFE9E)  # uxtb16 lr, lr, ror 8
    data(2, 0xFB22, 0x440C)  # smlad r4, r2, r12, r4
    data(2, 0xFB23, 0x440E)  # smlad r4, r3, lr, r4
    add(r0, 4)
    add(r1, 4)
    data(2, 0x4540)  # cmp r0, r8
    bne(ONE)
    mov(r2, sp)
    ldr(r2, [r2, 20])
    mov(r12, r2)
    mov(lr, r1)
    push({r4})
    mov(r7, 1)
    label(CONSTANTS)
    mov(r1, 1)
    lsl(r0, r1, 15)
    sub(r0, 1)
    lsl(r1, r1, 25)
    label(CHANNEL)
    pop({r4})
    data(2, 0xF859, 0x5B04)  # ldr r5, [r9], 4
    data(2, 0xF859, 0x6B04)  # ldr r6, [r9], 4
    add(r4, r4, r5)
    data(2, 0x4464)  # add r4, r12
    lsl(r3, r6, 26)
    bpl(LEFT)
    lsr(r3, r3, 26)
    sub(r3, 32)
    asr(r4, r3)
    mov(r3, 0)
    label(LEFT)
    lsr(r3, r3, 26)
    data(2, 0xFA21, 0xF203)  # lsr r2, r1, r3
    cmp(r4, r2)
    data(2, 0xBFC8)  # it gt
    mov(r4, r2)
    neg(r2, r2)
    cmp(r4, r2)
    data(2, 0xBFB8)  # it lt
    mov(r4, r2)
    lsl(r4, r3)
    lsr(r6, r6, 8)
    data(2, 0xFB84, 0x2306)  # smull r2, r3, r4, r6
    lsr(r2, r2, 24)
    data(2, 0xEB42, 0x2403)  # adc r4, r2, r3, lsl 8
    data(2, 0xF3C4, 0x4200)  # ubfx r2, r4, 16, 1
    add(r4, r4, r2)
    add(r4, r4, r0)
    asr(r4, r4, 16)
    mov(r5, r11)
    ldr(r2, [r5, 36])
    add(r4, r4, r2)
    ldr(r2, [r5, 40])
    cmp(r4, r2)
    data(2, 0xBFB8)  # it lt
    mov(r4, r2)
    ldr(r2, [r5, 44])
    cmp(r4, r2)
    data(2, 0xBFC8)  # it gt
    mov(r4, r2)
    ldr(r2, [r5, 28])
    data(2, 0xF88A, 0x4000)  # strb r4, [r10, 0]
    data(2, 0x4492)  # add r10, r2
    sub(r7, 1)
    bne(CHANNEL)
    mov(r1, lr)
    b(ROWS)
    label(NEXT)
    mov(r4, sp)
    ldr(r5, [r4, 16])
    sub(r5, 1)
    beq(DONE)
    str(r5, [r4, 16])
    mov(r3, r11)
    ldr(r5, [r4, 12])
    ldr(r6, [r3, 24])
    add(r5, r5, r6)
    str(r5, [r4, 12])
    mov(r5, r8)
    ldr(r6, [r3, 52])
    add(r5, r5, r6)
    mov(r8, r5)
    b(POSITION)
    label(DONE)
    pop({r3, r4, r5, r6, r7})
    pop({r3})
    data(2, 0xE8BD, 0x0F00)  # pop {r8, r9, r10, r11}
