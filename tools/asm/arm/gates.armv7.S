// Sigmoid and tanh of float32 without a table: see loops/gates. Assembler, ARMv7-M.
//
// 170 instructions an element: a term of the series takes 7, four bits of the quotient take 4.
//
// Forms: armv7m

#include "core.h"

// Four bits more of a quotient.
.macro divide_4_bits
    mov r10, r10, lsl #4; udiv r8, r10, r7; mls r10, r8, r7, r10; add r6, r8, r6, lsl #4
.endm

function gate32
    // r1 elements left, r3 1 for tanh, r4 v, r5 exponent, r6 mantissa, r11 ln2, r12 one; in the
    // series r5 term, r7 powers of 2, r10 a; then r7 divisor
    push {r8-r11}
    ldr r4, [r3, #p_x_start]; add r0, r0, r4, lsl #2
    ldr r4, [r3, #p_out_start]; add r2, r2, r4, lsl #2
    ldr r1, [r3, #p_elements]; ldr r3, [r3, #p_is_tanh]
    movw r11, #47372; movt r11, #88
    mov r12, #134217728
    cmp r1, #0; beq DONE
ITEM:
    ldr r4, [r0], #4; ubfx r5, r4, #23, #8
    ubfx r6, r4, #0, #23
    cmp r5, #255; bne NUMBER
    cmp r6, #0; bne NAN
NUMBER:
    orr r6, r6, #8388608
    cmp r3, #0; beq USUAL
    cmp r5, #123; blt SMALL
USUAL:
    subs r5, #127; adds r5, r3
    movs r7, #0
    cmp r5, #4; bge NO_MORE
    movs r7, #3
    adds r5, #3
NO_MORE:
    cmp r5, #0; bge ABOVE
    negs r5, r5; cmp r5, #24; blt BELOW
    movs r6, #0
BELOW:
    lsrs r6, r5; adc r6, r6, #0
    b REDUCE
ABOVE:
    cmp r5, #7; blt MODERATE
    movs r6, #255; lsls r6, #1; adds r6, #1; lsls r6, #21
    b REDUCE
MODERATE:
    lsls r6, r5
REDUCE:
    lsl r9, r11, r7; udiv r8, r6, r9; add r8, #1; mul r9, r8, r9
    sub r6, r9, r6
    movs r5, #4; subs r5, r7; lsls r6, r5
    movs r5, #19; mul r9, r8, r5; sub r6, r6, r9, lsr #6; bic.w r6, r6, r6, asr #31
    mov r7, r8; mov r10, r12; movs r5, #10
TERM:
    umull r8, r9, r10, r6; mov r8, r8, lsr #27; orr r10, r8, r9, lsl #5
    udiv r10, r10, r5; add r10, r12
    subs r5, #1; bne TERM
    lsr r6, r10, r7
    cmp r7, #28
    it ge; movge r6, #0
    movs r5, #127
    cmp r3, #0; beq SIGMOID
    sub r10, r12, r6
    b QUOTIENT
SIGMOID:
    cmp r4, #0; bge POSITIVE
    subs r5, r7
    b QUOTIENT
POSITIVE:
    mov r10, r12
QUOTIENT:
    add r7, r12, r6
    movs r6, #0
    cmp r10, r7; bcc FRACTION
    sub r10, r10, r7
    movs r6, #1
FRACTION:
    divide_4_bits; divide_4_bits; divide_4_bits; divide_4_bits
    divide_4_bits; divide_4_bits; divide_4_bits
    // one more
    mov r10, r10, lsl #1; udiv r8, r10, r7; add r6, r8, r6, lsl #1; clz r7, r6
    subs r7, #2; bmi LONGER
    lsls r6, r7
    subs r5, r7
    b PACK
LONGER:
    lsrs r6, #1
    adds r5, #1
PACK:
    movs r7, #6
    cmp r5, #1; bge NORMAL
    movs r7, #7; subs r7, r5
    movs r5, #1
    cmp r7, #30; ble NORMAL
    movs r7, #6; movs r6, #0
NORMAL:
    lsrs r6, r7; adc r6, r6, #0
    subs r5, #1; lsls r5, #23; adds r6, r5
    cmp r3, #0; beq STORE
SIGN:
    cmp r4, #0; bge STORE
    orr r6, r6, #2147483648
STORE:
    stmia r2!, {r6}
    subs r1, #1; bne ITEM
    b DONE
NAN:
    movs r6, #255; lsls r6, #1; adds r6, #1; lsls r6, #22
    b STORE
SMALL:
    cmp r5, #115; bgt SHIFTED
    beq HALVED
    mov r6, r4
    b STORE
HALVED:
    lsrs r7, r6, #1
    b SQUARE
SHIFTED:
    mov r7, r5; subs r7, #116; lsl r7, r6, r7
SQUARE:
    lsrs r7, #15; muls r7, r7; lsrs r7, #8
    mov r8, #3; udiv r9, r7, r8
    lsrs r7, #8; muls r7, r7; lsrs r7, #14; lsls r7, #1
    mov r8, #15; udiv r7, r7, r8; sub r7, r9, r7; lsrs r7, #6
    lsls r6, #6; mov r8, r6, lsr #15; mul r8, r8, r7; sub r6, r6, r8, lsr #9
    lsrs r7, r6, #29; bne WHOLE
    lsls r6, #1
    subs r5, #1
WHOLE:
    lsrs r6, #6; adc r6, r6, #0
    subs r5, #1; lsls r5, #23; adds r6, r5
    b SIGN
DONE:
    pop {r8-r11}
    movs r0, #0
endfunction gate32
