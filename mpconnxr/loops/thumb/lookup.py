"""Bytes as indices into a table: see loops/lookup. Assembler, ARMv6-M instructions only.

4 instructions a byte, 5 where items are words.
"""

import micropython


@micropython.asm_thumb
def lookup8(r0, r1, r2, r3):
    ldr(r4, [r3, 4])
    ldr(r3, [r3, 0])
    add(r0, r0, r3)
    add(r2, r2, r3)
    sub(r4, r4, r3)
    sub(r4, 4)
    blt(REST)
    label(FOUR)
    ldrb(r5, [r0, 0])
    data(2, 0x5D4D)  # ldrb r5, [r1, r5]
    strb(r5, [r2, 0])
    ldrb(r5, [r0, 1])
    data(2, 0x5D4D)  # ldrb r5, [r1, r5]
    strb(r5, [r2, 1])
    ldrb(r5, [r0, 2])
    data(2, 0x5D4D)  # ldrb r5, [r1, r5]
    strb(r5, [r2, 2])
    ldrb(r5, [r0, 3])
    data(2, 0x5D4D)  # ldrb r5, [r1, r5]
    strb(r5, [r2, 3])
    add(r0, 4)
    add(r2, 4)
    sub(r4, 4)
    bge(FOUR)
    label(REST)
    add(r4, 4)
    beq(DONE)
    label(ONE)
    ldrb(r5, [r0, 0])
    data(2, 0x5D4D)  # ldrb r5, [r1, r5]
    strb(r5, [r2, 0])
    add(r0, 1)
    add(r2, 1)
    sub(r4, 1)
    bne(ONE)
    label(DONE)


@micropython.asm_thumb
def lookup32(r0, r1, r2, r3):
    ldr(r4, [r3, 4])
    ldr(r3, [r3, 0])
    add(r0, r0, r3)
    sub(r4, r4, r3)
    lsl(r3, r3, 2)
    add(r2, r2, r3)
    sub(r4, 4)
    blt(REST)
    label(FOUR)
    ldrb(r5, [r0, 0])
    lsl(r5, r5, 2)
    data(2, 0x594D)  # ldr r5, [r1, r5]
    str(r5, [r2, 0])
    ldrb(r5, [r0, 1])
    lsl(r5, r5, 2)
    data(2, 0x594D)  # ldr r5, [r1, r5]
    str(r5, [r2, 4])
    ldrb(r5, [r0, 2])
    lsl(r5, r5, 2)
    data(2, 0x594D)  # ldr r5, [r1, r5]
    str(r5, [r2, 8])
    ldrb(r5, [r0, 3])
    lsl(r5, r5, 2)
    data(2, 0x594D)  # ldr r5, [r1, r5]
    str(r5, [r2, 12])
    add(r0, 4)
    add(r2, 16)
    sub(r4, 4)
    bge(FOUR)
    label(REST)
    add(r4, 4)
    beq(DONE)
    label(ONE)
    ldrb(r5, [r0, 0])
    lsl(r5, r5, 2)
    data(2, 0x594D)  # ldr r5, [r1, r5]
    str(r5, [r2, 0])
    add(r0, 1)
    add(r2, 4)
    sub(r4, 1)
    bne(ONE)
    label(DONE)
