"""Depthwise convolution of bytes: see loops_depthwise. Assembler, ARMv7-M.

3 x 3 kernels: 25 instructions for the sum and 37 for the rest of an output.
"""

import micropython

from .loops_depthwise_thumb import depthwise8  # noqa: F401  (other kernels)


@micropython.asm_thumb
def depthwise33(r0, r1, r2, r3):
    # r0 window, r1 weights as words, r4 sum, r8 p, r9 step of ky, r10 out, r11 outputs left, r12
    # from a window's last row to the next window, lr step of out; on the stack c (0), shift to
    # the right (4), to the left (8), limit (12), M (16), 32767 (20), zy (24), lo (28), hi (32),
    # planes left (36), channels left (40), lines left (44), line (48), plane (52), table (56),
    # weights (60), channel's out (64)
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    mov(r7, r11)
    push({r4, r5, r6, r7})
    data(2, 0xB091)  # sub sp, 68
    mov(r8, r3)
    ldr(r4, [r3, 0])
    add(r4, r4, r0)
    data(2, 0x940D)  # str r4, [sp, 52]
    mov(r5, r1)
    ldr(r4, [r3, 84])
    cmp(r4, 0)
    beq(WITH_WEIGHTS)
    mov(r5, r0)
    label(WITH_WEIGHTS)
    ldr(r4, [r3, 48])
    add(r4, r4, r5)
    data(2, 0x940E)  # str r4, [sp, 56]
    ldr(r4, [r3, 52])
    add(r4, r4, r1)
    data(2, 0x940F)  # str r4, [sp, 60]
    ldr(r4, [r3, 56])
    add(r4, r4, r2)
    data(2, 0x9410)  # str r4, [sp, 64]
    ldr(r4, [r3, 8])
    data(2, 0x9409)  # str r4, [sp, 36]
    mov(r4, 1)
    lsl(r4, r4, 15)
    sub(r4, 1)
    data(2, 0x9405)  # str r4, [sp, 20]
    ldr(r4, [r3, 72])
    data(2, 0x9406)  # str r4, [sp, 24]
    ldr(r4, [r3, 76])
    data(2, 0x9407)  # str r4, [sp, 28]
    ldr(r4, [r3, 80])
    data(2, 0x9408)  # str r4, [sp, 32]
    mov(r1, r0)
    ldr(r4, [r3, 24])
    mov(r9, r4)
    lsl(r4, r4, 1)
    ldr(r5, [r3, 44])
    sub(r5, r5, r4)
    mov(r12, r5)
    ldr(r4, [r3, 64])
    mov(lr, r4)
    label(PLANE)
    ldr(r4, [r3, 12])
    data(2, 0x940A)  # str r4, [sp, 40]
    label(CHANNEL)
    data(2, 0x980F)  # ldr r0, [sp, 60]
    mov(r2, r1)
    mov(r4, 9)
    ldr(r5, [r3, 68])
    label(WEIGHT)
    data(2, 0xF810, 0x6B01)  # ldrb r6, [r0], 1
    sub(r6, r6, r5)
    str(r6, [r2, 0])
    add(r2, 4)
    sub(r4, 1)
    bne(WEIGHT)
    data(2, 0x900F)  # str r0, [sp, 60]
    data(2, 0x980E)  # ldr r0, [sp, 56]
    ldr(r4, [r0, 0])
    data(2, 0x9400)  # str r4, [sp, 0]
    ldr(r4, [r0, 4])
    add(r0, 8)
    data(2, 0x900E)  # str r0, [sp, 56]
    lsr(r5, r4, 8)
    data(2, 0x9504)  # str r5, [sp, 16]
    lsl(r5, r4, 26)
    lsr(r5, r5, 26)
    mov(r6, 0)
    cmp(r5, 32)
    blt(LEFT)
    sub(r5, 32)
    mov(r6, r5)
    mov(r5, 0)
    label(LEFT)
    data(2, 0x9601)  # str r6, [sp, 4]
    data(2, 0x9502)  # str r5, [sp, 8]
    mov(r6, 1)
    lsl(r6, r6, 25)
    lsr(r6, r5)
    data(2, 0x9603)  # str r6, [sp, 12]
    data(2, 0x9C10)  # ldr r4, [sp, 64]
    mov(r10, r4)
    ldr(r5, [r3, 60])
    add(r4, r4, r5)
    data(2, 0x9410)  # str r4, [sp, 64]
    data(2, 0x9C0D)  # ldr r4, [sp, 52]
    data(2, 0x940C)  # str r4, [sp, 48]
    ldr(r4, [r3, 32])
    data(2, 0x940B)  # str r4, [sp, 44]
    label(LINE)
    data(2, 0x980C)  # ldr r0, [sp, 48]
    mov(r3, r8)
    ldr(r4, [r3, 36])
    mov(r11, r4)
    ldr(r4, [r3, 40])
    add(r4, r4, r0)
    data(2, 0x940C)  # str r4, [sp, 48]
    label(OUTPUT)
    data(2, 0x9C00)  # ldr r4, [sp, 0]
    data(2, 0xE9D1, 0x2300)  # ldrd r2, r3, [r1, 0]
    ldrb(r5, [r0, 0])
    ldrb(r6, [r0, 1])
    data(2, 0xFB02, 0x4405)  # mla r4, r2, r5, r4
    data(2, 0xFB03, 0x4406)  # mla r4, r3, r6, r4
    data(2, 0xE9D1, 0x2302)  # ldrd r2, r3, [r1, 8]
    ldrb(r5, [r0, 2])
    data(2, 0x4448)  # add r0, r9
    ldrb(r6, [r0, 0])
    data(2, 0xFB02, 0x4405)  # mla r4, r2, r5, r4
    data(2, 0xFB03, 0x4406)  # mla r4, r3, r6, r4
    data(2, 0xE9D1, 0x2304)  # ldrd r2, r3, [r1, 16]
    ldrb(r5, [r0, 1])
    ldrb(r6, [r0, 2])
    data(2, 0xFB02, 0x4405)  # mla r4, r2, r5, r4
    data(2, 0xFB03, 0x4406)  # mla r4, r3, r6, r4
    data(2, 0xE9D1, 0x2306)  # ldrd r2, r3, [r1, 24]
    data(2, 0x4448)  # add r0, r9
    ldrb(r5, [r0, 0])
    ldrb(r6, [r0, 1])
    data(2, 0xFB02, 0x4405)  # mla r4, r2, r5, r4
    data(2, 0xFB03, 0x4406)  # mla r4, r3, r6, r4
    ldr(r2, [r1, 32])
    ldrb(r5, [r0, 2])
    data(2, 0xFB02, 0x4405)  # mla r4, r2, r5, r4
    data(2, 0x9A01)  # ldr r2, [sp, 4]
    asr(r4, r2)
    data(2, 0x9A03)  # ldr r2, [sp, 12]
    cmp(r4, r2)
    data(2, 0xBFC8)  # it gt
    mov(r4, r2)
    neg(r2, r2)
    cmp(r4, r2)
    data(2, 0xBFB8)  # it lt
    mov(r4, r2)
    data(2, 0x9A02)  # ldr r2, [sp, 8]
    lsl(r4, r2)
    data(2, 0x9E04)  # ldr r6, [sp, 16]
    data(2, 0xFB84, 0x2306)  # smull r2, r3, r4, r6
    lsr(r2, r2, 24)
    data(2, 0xEB42, 0x2403)  # adc r4, r2, r3, lsl 8
    data(2, 0xF3C4, 0x4200)  # ubfx r2, r4, 16, 1
    add(r4, r4, r2)
    data(2, 0x9B05)  # ldr r3, [sp, 20]
    add(r4, r4, r3)
    asr(r4, r4, 16)
    data(2, 0x9A06)  # ldr r2, [sp, 24]
    add(r4, r4, r2)
    data(2, 0x9A07)  # ldr r2, [sp, 28]
    cmp(r4, r2)
    data(2, 0xBFB8)  # it lt
    mov(r4, r2)
    data(2, 0x9A08)  # ldr r2, [sp, 32]
    cmp(r4, r2)
    data(2, 0xBFC8)  # it gt
    mov(r4, r2)
    data(2, 0xF88A, 0x4000)  # strb r4, [r10, 0]
    data(2, 0x44F2)  # add r10, lr
    data(2, 0x4460)  # add r0, r12
    data(2, 0xF1BB, 0x0B01)  # subs r11, 1
    bne(OUTPUT)
    data(2, 0x9C0B)  # ldr r4, [sp, 44]
    sub(r4, 1)
    data(2, 0x940B)  # str r4, [sp, 44]
    beq(CHANNEL_END)
    b(LINE)
    label(CHANNEL_END)
    mov(r3, r8)
    data(2, 0x9C0A)  # ldr r4, [sp, 40]
    sub(r4, 1)
    data(2, 0x940A)  # str r4, [sp, 40]
    beq(PLANE_END)
    b(CHANNEL)
    label(PLANE_END)
    data(2, 0x9C0D)  # ldr r4, [sp, 52]
    ldr(r5, [r3, 4])
    add(r4, r4, r5)
    data(2, 0x940D)  # str r4, [sp, 52]
    data(2, 0x9C09)  # ldr r4, [sp, 36]
    sub(r4, 1)
    data(2, 0x9409)  # str r4, [sp, 36]
    beq(DONE)
    b(PLANE)
    label(DONE)
    data(2, 0xB011)  # add sp, 68
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
