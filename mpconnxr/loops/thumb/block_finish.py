"""Block floating point behind the sums: see loops/block_finish. Inline assembler, ARMv6-M opcodes.

What is rare is left to the viper form: results that are denormal, or beyond the largest float.
"""

import micropython

from .. import block_finish as plain


def finish(x, w, out, p):
    if _finish(x, w, out, p):
        plain.finish(x, w, out, p)


@micropython.asm_thumb
def _finish(r0, r1, r2, r3):
    # Gives 1 if it has met a rare result, and stopped there, else 0. r0 sums, r1 what align made;
    # of one sum r2, r3, r4 limbs, r5 shift, r7 twice the exponent, plus 1 if negative; r8, r9, r10
    # what x takes from the limbs; r11, r12 low, high; lr out. On the stack, in words: 0 p; 1
    # channels left; 2 positions left; 3 rows left; 4 out of the row; 5 w; 6 out of the position;
    # 7 step of a channel
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
    ldr(r4, [r3, 12])
    lsl(r4, r4, 2)
    add(r1, r1, r4)
    data(2, 0x9105)  # str r1, [sp, 20]
    ldr(r4, [r3, 16])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    data(2, 0x9204)  # str r2, [sp, 16]
    ldr(r4, [r3, 24])
    lsl(r4, r4, 2)
    data(2, 0x9407)  # str r4, [sp, 28]
    ldr(r4, [r3, 32])
    data(2, 0x9403)  # str r4, [sp, 12]
    ldr(r4, [r3, 44])
    ldr(r5, [r3, 40])
    neg(r5, r5)
    eor(r4, r5)
    sub(r4, r4, r5)
    mov(r11, r4)
    ldr(r4, [r3, 52])
    ldr(r5, [r3, 48])
    neg(r5, r5)
    eor(r4, r5)
    sub(r4, r4, r5)
    mov(r12, r4)
    b(ROW)
    label(FLAG)  # the bias alone
    sub(r1, 16)
    data(2, 0xC99C)  # ldmia r1!, {r2, r3, r4, r7}
    mov(r5, 1)
    lsl(r6, r5, 29)
    sub(r4, r4, r6)
    lsl(r6, r5, 10)
    sub(r7, r7, r6)
    b(CARRY)
    label(NEGATIVE)
    neg(r2, r2)
    asr(r5, r2, 24)
    sub(r3, r5, r3)
    asr(r5, r3, 24)
    sub(r4, r5, r4)
    lsl(r2, r2, 8)
    lsr(r2, r2, 8)
    lsl(r3, r3, 8)
    lsr(r3, r3, 8)
    add(r7, 1)
    b(POSITIVE)
    label(BIG)  # more than 24 bits in the highest limb
    lsl(r5, r3, 24)
    orr(r2, r5)
    lsr(r3, r3, 8)
    lsl(r5, r4, 24)
    lsr(r5, r5, 8)
    orr(r3, r5)
    lsr(r4, r4, 8)
    add(r7, 16)
    b(NORMALIZE)
    label(EMPTY)  # nothing in the highest limb
    mov(r4, r3)
    mov(r3, r2)
    mov(r2, 0)
    sub(r7, 48)
    cmp(r4, 0)
    bne(NORMALIZE)
    mov(r4, r3)
    mov(r3, 0)
    sub(r7, 48)
    cmp(r4, 0)
    bne(NORMALIZE)
    b(CLIP)
    label(ROW)
    data(2, 0x9B00)  # ldr r3, [sp, 0]
    ldr(r4, [r3, 4])
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9C04)  # ldr r4, [sp, 16]
    data(2, 0x9406)  # str r4, [sp, 24]
    label(POSITION)
    ldr(r4, [r3, 8])
    data(2, 0x9401)  # str r4, [sp, 4]
    data(2, 0xC81C)  # ldmia r0!, {r2, r3, r4}
    lsl(r5, r2, 31)
    lsr(r5, r5, 8)
    neg(r5, r5)
    mov(r8, r5)
    lsl(r5, r3, 31)
    lsr(r5, r5, 8)
    lsr(r2, r2, 1)
    add(r2, r2, r5)
    neg(r2, r2)
    mov(r9, r2)
    lsr(r3, r3, 1)
    mov(r5, 1)
    lsl(r5, r5, 29)
    add(r3, r3, r5)
    neg(r3, r3)
    mov(r10, r3)
    data(2, 0x9905)  # ldr r1, [sp, 20]
    data(2, 0x9C06)  # ldr r4, [sp, 24]
    mov(r14, r4)
    label(CHANNEL)
    data(2, 0xC81C)  # ldmia r0!, {r2, r3, r4}
    data(2, 0xC9E0)  # ldmia r1!, {r5, r6, r7}
    add(r2, r2, r5)
    add(r3, r3, r6)
    add(r4, r4, r7)
    data(2, 0xC980)  # ldmia r1!, {r7}
    lsr(r6, r7, 10)
    bne(FLAG)
    data(2, 0x4442)  # add r2, r8
    data(2, 0x444B)  # add r3, r9
    data(2, 0x4454)  # add r4, r10
    label(CARRY)
    sub(r7, 100)
    lsl(r7, r7, 1)
    asr(r5, r2, 24)
    add(r3, r3, r5)
    lsl(r2, r2, 8)
    lsr(r2, r2, 8)
    asr(r5, r3, 24)
    lsl(r3, r3, 8)
    lsr(r3, r3, 8)
    add(r4, r4, r5)
    cmp(r4, 0)
    blt(NEGATIVE)
    label(POSITIVE)
    lsr(r5, r4, 24)
    bne(BIG)
    cmp(r4, 0)
    beq(EMPTY)
    label(NORMALIZE)
    mov(r5, 0)
    lsr(r6, r4, 12)
    bne(LESS_THAN_12)
    lsl(r4, r4, 12)
    mov(r5, 12)
    label(LESS_THAN_12)
    lsr(r6, r4, 18)
    bne(LESS_THAN_6)
    lsl(r4, r4, 6)
    add(r5, 6)
    label(LESS_THAN_6)
    lsr(r6, r4, 21)
    bne(LESS_THAN_3)
    lsl(r4, r4, 3)
    add(r5, 3)
    label(LESS_THAN_3)
    lsr(r6, r4, 23)
    bne(NORMAL)
    lsl(r4, r4, 1)
    add(r5, 1)
    lsr(r6, r4, 23)
    bne(NORMAL)
    lsl(r4, r4, 1)
    add(r5, 1)
    label(NORMAL)
    lsl(r6, r5, 1)
    sub(r7, r7, r6)
    lsl(r3, r3, 8)
    mov(r6, r3)
    data(2, 0x40AB)  # lsl r3, r5
    neg(r5, r5)
    add(r5, 32)
    data(2, 0x40EE)  # lsr r6, r5
    orr(r4, r6)
    lsl(r5, r3, 1)  # the first bit behind the mantissa is the carry now
    bcc(ROUNDED)
    bne(UP)
    cmp(r2, 0)
    bne(UP)
    lsr(r5, r4, 1)
    bcc(ROUNDED)
    label(UP)
    add(r4, 1)
    label(ROUNDED)
    asr(r6, r7, 1)
    sub(r6, 1)
    cmp(r6, 253)
    bhi(RARE)
    lsl(r6, r6, 23)
    add(r4, r4, r6)
    lsl(r6, r7, 31)
    asr(r6, r6, 31)
    eor(r4, r6)
    sub(r4, r4, r6)
    label(CLIP)
    data(2, 0x455C)  # cmp r4, r11
    bge(NOT_LOW)
    mov(r4, r11)
    label(NOT_LOW)
    data(2, 0x4564)  # cmp r4, r12
    ble(NOT_HIGH)
    mov(r4, r12)
    label(NOT_HIGH)
    data(2, 0x9B00)  # ldr r3, [sp, 0]
    ldr(r5, [r3, 56])
    cmp(r5, 0)
    beq(SIGN)
    mov(r6, r14)
    ldr(r5, [r6, 0])
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
    mov(r6, r14)
    str(r4, [r6, 0])
    data(2, 0x9D07)  # ldr r5, [sp, 28]
    add(r6, r6, r5)
    mov(r14, r6)
    data(2, 0x9D01)  # ldr r5, [sp, 4]
    sub(r5, 1)
    data(2, 0x9501)  # str r5, [sp, 4]
    beq(CHANNELS)
    b(CHANNEL)
    label(RARE)
    mov(r0, 1)
    b(END)
    label(CHANNELS)
    data(2, 0x9B00)  # ldr r3, [sp, 0]
    ldr(r5, [r3, 20])
    lsl(r5, r5, 2)
    data(2, 0x9C06)  # ldr r4, [sp, 24]
    add(r4, r4, r5)
    data(2, 0x9406)  # str r4, [sp, 24]
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 1)
    data(2, 0x9402)  # str r4, [sp, 8]
    beq(POSITIONS)
    b(POSITION)
    label(POSITIONS)
    ldr(r4, [r3, 8])
    add(r4, 1)
    ldr(r5, [r3, 36])
    mul(r4, r5)
    mov(r5, 12)
    mul(r4, r5)
    add(r0, r0, r4)
    ldr(r5, [r3, 28])
    lsl(r5, r5, 2)
    data(2, 0x9C04)  # ldr r4, [sp, 16]
    add(r4, r4, r5)
    data(2, 0x9404)  # str r4, [sp, 16]
    data(2, 0x9C03)  # ldr r4, [sp, 12]
    sub(r4, 1)
    data(2, 0x9403)  # str r4, [sp, 12]
    beq(GOOD)
    b(ROW)
    label(GOOD)
    mov(r0, 0)
    label(END)
    data(2, 0xB008)  # add sp, 32
    pop({r4, r5, r6, r7})
    mov(r8, r4)
    mov(r9, r5)
    mov(r10, r6)
    mov(r11, r7)
