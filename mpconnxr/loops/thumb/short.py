"""Short block floating point behind the sums: see loops/short. Inline assembler, ARMv6-M opcodes.

What is rare is left to the viper form: results that are denormal, or beyond the largest float.
"""

import micropython

from .. import short as plain
from ..short import align  # noqa: F401  (not worth assembler)


def finish(x, w, out, p):
    if _finish(x, w, out, p):
        plain.finish(x, w, out, p)


@micropython.asm_thumb
def _finish(r0, r1, r2, r3):
    # Gives 1 if it has met a rare result, and stopped there, else 0. r0 sums, r1 what align made,
    # r2 out, r3 p; of a sum r4 its size, later bits of a float, r6 -1 if negative, r7 the
    # exponent; r8 -2**30, r9, r10 low, high, r11 step of a channel, r12 channels left. On the
    # stack: positions left (0), rows left (4), out of the row (8), w (12), out of the position
    # (16)
    mov(r4, r8)
    mov(r5, r9)
    mov(r6, r10)
    mov(r7, r11)
    push({r4, r5, r6, r7})
    data(2, 0xB086)  # sub sp, 24
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    ldr(r4, [r3, 12])
    lsl(r4, r4, 2)
    add(r1, r1, r4)
    data(2, 0x9103)  # str r1, [sp, 12]
    ldr(r4, [r3, 16])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    data(2, 0x9202)  # str r2, [sp, 8]
    ldr(r4, [r3, 24])
    lsl(r4, r4, 2)
    mov(r11, r4)
    ldr(r4, [r3, 32])
    data(2, 0x9401)  # str r4, [sp, 4]
    mov(r4, 3)
    lsl(r4, r4, 30)
    mov(r8, r4)
    ldr(r4, [r3, 44])
    ldr(r5, [r3, 40])
    neg(r5, r5)
    eor(r4, r5)
    sub(r4, r4, r5)
    mov(r9, r4)
    ldr(r4, [r3, 52])
    ldr(r5, [r3, 48])
    neg(r5, r5)
    eor(r4, r5)
    sub(r4, r4, r5)
    mov(r10, r4)
    label(ROW)
    ldr(r4, [r3, 4])
    data(2, 0x9400)  # str r4, [sp, 0]
    data(2, 0x9A02)  # ldr r2, [sp, 8]
    label(POSITION)
    data(2, 0x9204)  # str r2, [sp, 16]
    data(2, 0x9903)  # ldr r1, [sp, 12]
    ldr(r4, [r3, 8])
    mov(r12, r4)
    label(CHANNEL)
    data(2, 0xC9E0)  # ldmia r1!, {r5, r6, r7}
    data(2, 0xC810)  # ldmia r0!, {r4}
    data(2, 0x4444)  # add r4, r8
    data(2, 0x4446)  # add r6, r8
    data(2, 0x412C)  # asr r4, r5
    add(r4, r4, r6)
    asr(r6, r4, 31)
    eor(r4, r6)
    sub(r4, r4, r6)
    beq(CLIP)
    sub(r7, 142)
    lsr(r5, r4, 15)
    bne(OVER_15)
    lsl(r4, r4, 16)
    sub(r7, 16)
    label(OVER_15)
    lsr(r5, r4, 23)
    bne(OVER_23)
    lsl(r4, r4, 8)
    sub(r7, 8)
    label(OVER_23)
    lsr(r5, r4, 27)
    bne(OVER_27)
    lsl(r4, r4, 4)
    sub(r7, 4)
    label(OVER_27)
    lsr(r5, r4, 29)
    bne(OVER_29)
    lsl(r4, r4, 2)
    sub(r7, 2)
    label(OVER_29)
    lsr(r5, r4, 30)
    bne(NORMAL)
    lsl(r4, r4, 1)
    sub(r7, 1)
    label(NORMAL)
    cmp(r7, 253)
    bhi(RARE)
    lsl(r5, r4, 26)  # the first bit behind the mantissa is the carry now
    bcc(DOWN)
    lsr(r4, r4, 7)
    cmp(r5, 0)
    bne(UP)
    lsr(r5, r4, 1)
    bcc(ROUNDED)
    label(UP)
    add(r4, 1)
    b(ROUNDED)
    label(RARE)
    mov(r0, 1)
    b(END)
    label(DOWN)
    lsr(r4, r4, 7)
    label(ROUNDED)
    lsl(r7, r7, 23)
    add(r4, r4, r7)
    eor(r4, r6)
    sub(r4, r4, r6)
    label(CLIP)
    data(2, 0x454C)  # cmp r4, r9
    bge(NOT_LOW)
    mov(r4, r9)
    label(NOT_LOW)
    data(2, 0x4554)  # cmp r4, r10
    ble(NOT_HIGH)
    mov(r4, r10)
    label(NOT_HIGH)
    ldr(r5, [r3, 56])
    cmp(r5, 0)
    beq(SIGN)
    ldr(r5, [r2, 0])
    cmp(r5, 0)
    bge(OLD)
    mov(r6, 1)
    lsl(r6, r6, 31)
    sub(r5, r6, r5)
    label(OLD)
    cmp(r4, r5)
    bge(SIGN)
    mov(r4, r5)
    label(SIGN)
    cmp(r4, 0)
    bge(WRITE)
    mov(r6, 1)
    lsl(r6, r6, 31)
    sub(r4, r6, r4)
    label(WRITE)
    str(r4, [r2, 0])
    data(2, 0x445A)  # add r2, r11
    mov(r5, r12)
    sub(r5, 1)
    mov(r12, r5)
    bne(CHANNEL)
    data(2, 0x9A04)  # ldr r2, [sp, 16]
    ldr(r5, [r3, 20])
    lsl(r5, r5, 2)
    add(r2, r2, r5)
    data(2, 0x9C00)  # ldr r4, [sp, 0]
    sub(r4, 1)
    data(2, 0x9400)  # str r4, [sp, 0]
    bne(POSITION)
    ldr(r4, [r3, 8])
    ldr(r5, [r3, 36])
    mul(r4, r5)
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    ldr(r5, [r3, 28])
    lsl(r5, r5, 2)
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    add(r4, r4, r5)
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    sub(r4, 1)
    data(2, 0x9401)  # str r4, [sp, 4]
    bne(ROW)
    mov(r0, 0)
    label(END)
    data(2, 0xB006)  # add sp, 24
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
