"""Block floating point before the sums: see loops/block. Inline assembler, ARMv6-M opcodes.

What is rare is left to the viper form: blocks of denormals, and of the largest floats.
"""

import micropython

from .. import block as plain
from ..block import fill  # noqa: F401  (not worth assembler)
from .align import align  # noqa: F401

_LEAST = 25  # exponent of a block in which denormals are 0
_MOST = 246  # and one from which on a shift by what 0 is below it would not be one by a byte


def mantissas(x, w, out, p):
    if not _LEAST <= p[20] <= _MOST:
        plain.mantissas(x, w, out, p)
    else:
        _mantissas(x, w, out, p)


@micropython.asm_thumb
def peak(r0, r1, r2, r3):
    # r0 x, r1 its end, r2 out, r5 most, each shifted left by 1
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    ldr(r4, [r3, 4])
    lsl(r4, r4, 2)
    add(r1, r0, r4)
    ldr(r4, [r3, 8])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    mov(r5, 0)
    label(FOUR)
    sub(r4, r1, r0)
    cmp(r4, 16)
    blt(REST)
    data(2, 0xC8D8)  # ldmia r0!, {r3, r4, r6, r7}
    lsl(r3, r3, 1)
    lsl(r4, r4, 1)
    lsl(r6, r6, 1)
    lsl(r7, r7, 1)
    cmp(r3, r5)
    bls(A)
    mov(r5, r3)
    label(A)
    cmp(r4, r5)
    bls(B)
    mov(r5, r4)
    label(B)
    cmp(r6, r5)
    bls(C)
    mov(r5, r6)
    label(C)
    cmp(r7, r5)
    bls(FOUR)
    mov(r5, r7)
    b(FOUR)
    label(REST)
    cmp(r0, r1)
    beq(DONE)
    ldr(r4, [r0, 0])
    add(r0, 4)
    lsl(r4, r4, 1)
    cmp(r4, r5)
    bls(REST)
    mov(r5, r4)
    b(REST)
    label(DONE)
    lsr(r5, r5, 24)
    str(r5, [r2, 0])


@micropython.asm_thumb
def _mantissas(r0, r1, r2, r3):
    # In the innermost loop r0 row of the image, r1 out, r2 place in the row, r3 items left; r7
    # 2**31; r8 bytes of the row, 0 outside of the image; r9 bytes of a column, r10 step in the
    # row, r11 E + 9. On the stack, in words: 0 p; 1 rows left; 2, 3, 4 C, kd, kh left; 5 out; 6
    # plane; 7 y of the row; 8, 9 z, y of the item; 10 n0 left; 11 place; 12 first plane; 13 items
    # by which a column is ahead of that of the row before, kh if none is the same
    data(2, 0x4644, 0x464D, 0x4656, 0x465F)  # mov r4, r8; mov r5, r9; mov r6, r10; mov r7, r11
    push({r4, r5, r6, r7})
    data(2, 0xB08E)  # sub sp, 56
    data(2, 0x9300)  # str r3, [sp, 0]
    ldr(r4, [r3, 0])
    lsl(r4, r4, 2)
    add(r0, r0, r4)
    data(2, 0x900C)  # str r0, [sp, 48]
    ldr(r4, [r3, 76])
    lsl(r4, r4, 2)
    add(r2, r2, r4)
    data(2, 0x9205)  # str r2, [sp, 20]
    ldr(r4, [r3, 80])
    add(r4, 9)
    mov(r11, r4)
    ldr(r4, [r3, 68])
    lsl(r4, r4, 2)
    mov(r10, r4)
    mov(r5, 1)
    lsl(r5, r5, 29)
    ldr(r4, [r3, 40])
    sub(r4, r4, r5)
    data(2, 0x9407)  # str r4, [sp, 28]
    ldr(r4, [r3, 48])
    data(2, 0x9401)  # str r4, [sp, 4]
    ldr(r4, [r3, 4])
    ldr(r5, [r3, 20])
    mul(r4, r5)
    ldr(r5, [r3, 24])
    mul(r4, r5)
    lsl(r4, r4, 2)
    mov(r9, r4)
    cmp(r4, 0)
    bne(STEPS)
    b(END)
    label(STEPS)
    data(2, 0x6B5C, 0x6A1D, 0x699E)  # ldr r4, [r3, 52]; ldr r5, [r3, 32]; ldr r6, [r3, 24]
    data(2, 0x2700, 0x2100)  # mov r7, 0; mov r1, 0
    label(STEP)
    add(r7, 1)
    add(r1, r1, r5)
    cmp(r7, r6)
    bge(STEPPED)
    cmp(r1, r4)
    blt(STEP)
    label(STEPPED)
    cmp(r1, r4)
    beq(OVERLAP)
    mov(r7, r6)
    label(OVERLAP)
    data(2, 0x970D)  # str r7, [sp, 52]
    label(ROWS)
    data(2, 0x9B00)  # ldr r3, [sp, 0]
    ldr(r4, [r3, 4])
    data(2, 0x9402)  # str r4, [sp, 8]
    data(2, 0x9C0C)  # ldr r4, [sp, 48]
    data(2, 0x9406)  # str r4, [sp, 24]
    label(CHANNELS)
    ldr(r4, [r3, 20])
    data(2, 0x9403)  # str r4, [sp, 12]
    mov(r5, 1)
    lsl(r5, r5, 29)
    ldr(r4, [r3, 36])
    sub(r4, r4, r5)
    data(2, 0x9408)  # str r4, [sp, 32]
    label(DEPTHS)
    ldr(r4, [r3, 24])
    data(2, 0x9404)  # str r4, [sp, 16]
    data(2, 0x9C07)  # ldr r4, [sp, 28]
    data(2, 0x9409)  # str r4, [sp, 36]
    label(ITEMS)
    data(2, 0x9C04)  # ldr r4, [sp, 16]
    data(2, 0x9D0D)  # ldr r5, [sp, 52]
    cmp(r4, r5)
    ble(FRESH)
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    ldr(r6, [r3, 48])
    cmp(r4, r6)
    beq(FRESH)
    data(2, 0x9905)  # ldr r1, [sp, 20]
    data(2, 0x00AD, 0x1948)  # lsl r5, r5, 2; add r0, r1, r5
    ldr(r5, [r3, 72])
    mov(r6, r9)
    data(2, 0x4375, 0x1B40)  # mul r5, r6; sub r0, r0, r5
    data(2, 0x6B9C, 0x6C1D, 0x436C)  # ldr r4, [r3, 56]; ldr r5, [r3, 64]; mul r4, r5
    label(COPY)
    data(2, 0x6805, 0x600D)  # ldr r5, [r0]; str r5, [r1]
    data(2, 0x4448, 0x4449)  # add r0, r9; add r1, r9
    sub(r4, 1)
    bne(COPY)
    b(ITEM_DONE)
    label(FRESH)
    mov(r6, 0)
    data(2, 0x9C09)  # ldr r4, [sp, 36]
    ldr(r5, [r3, 12])
    cmp(r4, r5)
    bcs(OUTSIDE)
    data(2, 0x9F08)  # ldr r7, [sp, 32]
    ldr(r0, [r3, 8])
    cmp(r7, r0)
    bcs(OUTSIDE)
    mul(r7, r5)
    add(r7, r7, r4)
    ldr(r6, [r3, 16])
    lsl(r6, r6, 2)
    mul(r7, r6)
    data(2, 0x9806)  # ldr r0, [sp, 24]
    add(r0, r0, r7)
    label(OUTSIDE)
    mov(r8, r6)
    ldr(r4, [r3, 56])
    data(2, 0x940A)  # str r4, [sp, 40]
    mov(r5, 1)
    lsl(r5, r5, 29)
    ldr(r2, [r3, 44])
    sub(r2, r2, r5)
    lsl(r2, r2, 2)
    data(2, 0x920B)  # str r2, [sp, 44]
    data(2, 0x9905)  # ldr r1, [sp, 20]
    label(PIECES)
    ldr(r3, [r3, 64])
    mov(r7, 1)
    lsl(r7, r7, 31)
    b(INNER)
    label(ZERO)
    mov(r5, 0)
    b(STORE)
    label(INNER)
    data(2, 0x4542)  # cmp r2, r8
    bcs(ZERO)
    data(2, 0x5884)  # ldr r4, [r0, r2]
    lsl(r5, r4, 1)
    beq(STORE)  # many are 0 behind a Relu
    lsr(r5, r5, 24)
    mov(r6, r11)
    sub(r6, r6, r5)
    lsl(r5, r4, 8)
    orr(r5, r7)
    data(2, 0x40F5)  # lsr r5, r6: the first bit that it loses is the carry
    mov(r6, 0)
    data(2, 0x4175)  # adc r5, r6
    lsr(r6, r5, 23)  # 1 if it was rounded up to HALF
    sub(r5, r5, r6)
    asr(r6, r4, 31)
    eor(r5, r6)
    sub(r5, r5, r6)
    label(STORE)
    str(r5, [r1, 0])
    data(2, 0x4449)  # add r1, r9
    data(2, 0x4452)  # add r2, r10
    sub(r3, 1)
    bne(INNER)
    data(2, 0x9B00)  # ldr r3, [sp, 0]
    ldr(r4, [r3, 60])
    lsl(r4, r4, 2)
    data(2, 0x9A0B)  # ldr r2, [sp, 44]
    add(r2, r2, r4)
    data(2, 0x920B)  # str r2, [sp, 44]
    data(2, 0x9C0A)  # ldr r4, [sp, 40]
    sub(r4, 1)
    data(2, 0x940A)  # str r4, [sp, 40]
    bne(PIECES)
    label(ITEM_DONE)
    data(2, 0x9C05)  # ldr r4, [sp, 20]
    add(r4, 4)
    data(2, 0x9405)  # str r4, [sp, 20]
    ldr(r5, [r3, 32])
    data(2, 0x9C09)  # ldr r4, [sp, 36]
    add(r4, r4, r5)
    data(2, 0x9409)  # str r4, [sp, 36]
    data(2, 0x9C04)  # ldr r4, [sp, 16]
    sub(r4, 1)
    data(2, 0x9404)  # str r4, [sp, 16]
    bne(ITEMS)
    ldr(r5, [r3, 28])
    data(2, 0x9C08)  # ldr r4, [sp, 32]
    add(r4, r4, r5)
    data(2, 0x9408)  # str r4, [sp, 32]
    data(2, 0x9C03)  # ldr r4, [sp, 12]
    sub(r4, 1)
    data(2, 0x9403)  # str r4, [sp, 12]
    bne(DEPTHS)
    ldr(r4, [r3, 8])
    ldr(r5, [r3, 12])
    mul(r4, r5)
    ldr(r5, [r3, 16])
    mul(r4, r5)
    lsl(r4, r4, 2)
    data(2, 0x9D06)  # ldr r5, [sp, 24]
    add(r4, r4, r5)
    data(2, 0x9406)  # str r4, [sp, 24]
    data(2, 0x9C02)  # ldr r4, [sp, 8]
    sub(r4, 1)
    data(2, 0x9402)  # str r4, [sp, 8]
    beq(ROW)
    b(CHANNELS)
    label(ROW)
    ldr(r4, [r3, 72])
    sub(r4, 1)
    mov(r5, r9)
    mul(r4, r5)
    data(2, 0x9D05)  # ldr r5, [sp, 20]
    add(r4, r4, r5)
    data(2, 0x9405)  # str r4, [sp, 20]
    ldr(r5, [r3, 52])
    data(2, 0x9C07)  # ldr r4, [sp, 28]
    add(r4, r4, r5)
    data(2, 0x9407)  # str r4, [sp, 28]
    data(2, 0x9C01)  # ldr r4, [sp, 4]
    sub(r4, 1)
    data(2, 0x9401)  # str r4, [sp, 4]
    beq(END)
    b(ROWS)
    label(END)
    data(2, 0xB00E)  # add sp, 56
    pop({r4, r5, r6, r7})
    data(2, 0x46A0, 0x46A9, 0x46B2, 0x46BB)  # mov r8, r4; mov r9, r5; mov r10, r6; mov r11, r7
