// The cell of an LSTM in integers: see loops/cell. Assembler, ARMv7-M, of its costliest loop.
//
// 160 instructions an element: a term of the series takes 7, four bits of the quotient take 4.
//
// Forms: armv7m

#include "core.h"

//+ product
//+ state

// Four bits more of a quotient.
.macro divide_4_bits
    lsls r5, #4; udiv r8, r5, r6; mls r5, r8, r6, r5; add r7, r8, r7, lsl #4
.endm

function squash
    // r1 elements left, r3 elements until those of tanh, r4 v, r11 ln2, r12 one; r5 a, r6 what the
    // series is of, then the divisor, r7 powers of 2, then the quotient, r10 term
    push {r8-r11}
    ldr r4, [r3, #p_x_start]; add r0, r0, r4, lsl #2
    ldr r4, [r3, #p_out_start]; add r2, r2, r4, lsl #2
    ldr r1, [r3, #p_elements]; ldr r3, [r3, #p_tanh_start]
    movw r11, #58416; movt r11, #354
    mov r12, #134217728
    cmp r1, #0; beq.w DONE
ITEM:
    ldr r4, [r0], #4; ubfx r5, r4, #23, #8; subs r5, #125
    cmp r3, #0
    it le; addle r5, #1
    ubfx r6, r4, #0, #23; orr r6, r6, #8388608
    cmp r5, #0; bge ABOVE
    negs r5, r5; lsrs r6, r5; adc r6, r6, #0
    b SERIES
ABOVE:
    cmp r5, #7; blt MODERATE
    movs r5, #0
    b POWER
MODERATE:
    lsls r6, r5
SERIES:
    udiv r7, r6, r11; mls r6, r7, r11, r6; sub r6, r11, r6; lsls r6, #2
    adds r7, #1; cmp r7, #28
    it gt; movgt r7, #28
    mov r5, r12; mov r10, #10
TERM:
    umull r8, r9, r5, r6; mov r8, r8, lsr #27; orr r5, r8, r9, lsl #5; udiv r5, r5, r10
    add r5, r12
    subs r10, #1; bne TERM
    lsrs r5, r7
POWER:
    add r6, r12, r5
    cmp r3, #0; bgt SIGMOID
    sub r5, r12, r5
    b QUOTIENT
SIGMOID:
    cmp r4, #0
    it ge; movge r5, r12
QUOTIENT:
    movs r7, #0
    cmp r5, r6; bcc FRACTION
    subs r5, r6
    movs r7, #1
FRACTION:
    divide_4_bits; divide_4_bits; divide_4_bits; divide_4_bits
    divide_4_bits; divide_4_bits
    lsls r5, #3; udiv r8, r5, r6; add r7, r8, r7, lsl #3; adds r7, #1
    lsrs r7, #1
    cmp r3, #0; bgt STORE
    cmp r4, #0
    it lt; neglt r7, r7
STORE:
    stmia r2!, {r7}
    subs r3, #1; subs r1, #1; bne.w ITEM
DONE:
    pop {r8-r11}
    movs r0, #0
endfunction squash
