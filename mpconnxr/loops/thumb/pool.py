"""Largest value of a window: see loops/pool. Inline assembler, ARMv6-M opcodes.

Bits v of floats compare as integers once those below 0 have their lower 31 bits flipped:
v ^ (v >> 31 & 0x7fffffff). A NaN is beyond every number of its sign.
"""

import micropython

from ..pool import find_row8, find_row32, max_row8  # noqa: F401


@micropython.asm_thumb
def max_row32(r0, r1, r2, r3):
    # In the innermost loop r0 row of x, r2 place in it in bytes, r3 items left, r7 most; r8 bytes
    # of a row, r9 step in it, r10 most, r11 plane. On the stack, in words: 0 p; 1 column; 2, 3 kd,
    # kh left; 4, 5 z, y; 6 out; 7 place of the window
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    mov(r7, r11)
    push({r4, r5, r6, r7})
    data(2, 0xB088)  # sub sp, 32
    data(2, 0x9300)  # str r3, [sp, 0]
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    mov(r11, r0)
    ldr(r4, [r3, 12])
    lsl(r4, r4, 2)
    mov(r8, r4)
    ldr(r4, [r3, 36])
    lsl(r4, r4, 2)
    mov(r9, r4)
    ldr(r4, [r3, 60])
    data(2, 0x9401)  # str r4, [sp, 4]
    ldr(r5, [r3, 68])
    add(r5, r5, r4)
    lsl(r5, r5, 2)
    add(r2, r2, r5)
    data(2, 0x9206)  # str r2, [sp, 24]
    ldr(r5, [r3, 52])
    mul(r4, r5)
    mov(r5, 1)
    lsl(r5, r5, 29)
    add(r4, r4, r5)
    ldr(r5, [r3, 48])
    sub(r4, r4, r5)
    lsl(r4, r4, 2)
    data(2, 0x9407)  # str r4, [sp, 28]
    label(COLUMN)
    data(2, 0x9B00)  # ldr r3, [sp, 0]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    ldr(r5, [r3, 64])
    cmp(r4, r5)
    blt(WINDOW)
    b(END)
    label(WINDOW)
    ldr(r4, [r3, 56])
    asr(r5, r4, 31)
    lsr(r5, r5, 1)
    eor(r4, r5)
    mov(r10, r4)
    ldr(r4, [r3, 16])
    data(2, 0x9402)  # str r4, [sp, 8]
    mov(r5, 1)
    lsl(r5, r5, 29)
    ldr(r4, [r3, 40])
    sub(r4, r4, r5)
    data(2, 0x9404)  # str r4, [sp, 16]
    label(DEPTH)
    ldr(r4, [r3, 20])
    data(2, 0x9403)  # str r4, [sp, 12]
    mov(r5, 1)
    lsl(r5, r5, 29)
    ldr(r4, [r3, 44])
    sub(r4, r4, r5)
    data(2, 0x9405)  # str r4, [sp, 20]
    label(ROW)
    data(2, 0x9C05)  # ldr r4, [sp, 20]
    ldr(r5, [r3, 8])
    cmp(r4, r5)
    bcs(NEXT)
    data(2, 0x9E04)  # ldr r6, [sp, 16]
    ldr(r7, [r3, 4])
    cmp(r6, r7)
    bcs(NEXT)
    mul(r6, r5)
    add(r6, r6, r4)
    mov(r4, r8)
    mul(r6, r4)
    mov(r0, r11)
    add(r0, r0, r6)
    data(2, 0x9A07)  # ldr r2, [sp, 28]
    ldr(r3, [r3, 24])
    mov(r7, r10)
    label(ITEM)
    data(2, 0x4542)  # cmp r2, r8
    bcs(LESS)
    data(2, 0x5884)  # ldr r4, [r0, r2]
    asr(r5, r4, 31)
    lsr(r5, r5, 1)
    eor(r4, r5)
    cmp(r4, r7)
    ble(LESS)
    mov(r7, r4)
    label(LESS)
    data(2, 0x444A)  # add r2, r9
    sub(r3, 1)
    bne(ITEM)
    mov(r10, r7)
    data(2, 0x9B00)  # ldr r3, [sp, 0]
    label(NEXT)
    ldr(r5, [r3, 32])
    data(2, 0x9C05)  # ldr r4, [sp, 20]
    add(r4, r4, r5)
    data(2, 0x9405)  # str r4, [sp, 20]
    data(2, 0x9C03)  # ldr r4, [sp, 12]
    sub(r4, 1)
    data(2, 0x9403)  # str r4, [sp, 12]
    bne(ROW)
    ldr(r5, [r3, 28])
    data(2, 0x9C04)  # ldr r4, [sp, 16]
    add(r4, r4, r5)
    data(2, 0x9404)  # str r4, [sp, 16]
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 1)
    data(2, 0x9402)  # str r4, [sp, 8]
    bne(DEPTH)
    mov(r4, r10)
    asr(r5, r4, 31)
    lsr(r5, r5, 1)
    eor(r4, r5)
    data(2, 0x9A06)  # ldr r2, [sp, 24]
    str(r4, [r2, 0])
    add(r2, 4)
    data(2, 0x9206)  # str r2, [sp, 24]
    ldr(r5, [r3, 52])
    lsl(r5, r5, 2)
    data(2, 0x9C07)  # ldr r4, [sp, 28]
    add(r4, r4, r5)
    data(2, 0x9407)  # str r4, [sp, 28]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    add(r4, 1)
    data(2, 0x9401)  # str r4, [sp, 4]
    b(COLUMN)
    label(END)
    data(2, 0xB008)  # add sp, 32
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
