// The cell of an LSTM in integers: see loops/cell. Assembler, ARMv6-M, of its costliest loop.
//
// 540 instructions an element: 27 a term of the series, 5 a bit of the quotient.
//
// Forms: thumb

#include "core.h"
#include "series.h"

//+ product
//+ state

// Offsets on the stack, in bytes.
words 0, powers_of_2

function squash
    // r8 x, r9 out, r10 elements left, r11 elements until those of tanh, r12 v, lr ln2 << 5. In the
    // series r5 a, r4 and r6 the lower 14 bits and the others of m, r7 one; then r5 what is left
    // over, r6 the divisor, r7 the quotient
    push_high
    sub sp, #8
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; mov r8, r0
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4; mov r9, r2
    ldr r4, [r3, #p_tanh_start]; mov r11, r4; movs r4, #22; lsls r4, #8
    adds r4, #46; lsls r4, #8; adds r4, #67; lsls r4, #9
    mov lr, r4
    ldr r4, [r3, #p_elements]; mov r10, r4
    cmp r4, #0; bne ITEM
    b DONE
ITEM:
    mov r0, r8; ldr r4, [r0]
    adds r0, #4; mov r8, r0; mov r12, r4
    lsls r5, r4, #1; lsrs r5, #24; subs r5, #125
    mov r0, r11; cmp r0, #0; bgt GATE
    adds r5, #1
GATE:
    lsls r6, r4, #9; lsrs r6, #9
    movs r0, #1; lsls r0, #23; orrs r6, r0
    cmp r5, #0; bge ABOVE
    negs r5, r5
    movs r0, #0
    lsrs r6, r5; adcs r6, r0
    b SERIES
ABOVE:
    cmp r5, #7; blt MODERATE
    movs r5, #0
    b POWER
MODERATE:
    lsls r6, r5
SERIES:
    mov r0, lr; movs r7, #0; movs r1, #6
MULTIPLE:
    lsls r7, #1
    cmp r6, r0; bcc LESS
    subs r6, r0
    adds r7, #1
LESS:
    lsrs r0, #1
    subs r1, #1; bne MULTIPLE
    adds r7, #1; cmp r7, #28; ble COUNTS
    movs r7, #28
COUNTS:
    str r7, [sp, #powers_of_2]
    mov r0, lr; lsrs r0, #5; subs r6, r0, r6; lsls r6, #2
    lsls r4, r6, #18; lsrs r4, #18
    lsrs r6, #14
    movs r7, #1; lsls r7, #27; mov r5, r7
    exp_series
    ldr r0, [sp, #powers_of_2]; lsrs r5, r0
POWER:
    movs r7, #1; lsls r7, #27; adds r6, r7, r5
    mov r0, r11; cmp r0, #0; bgt SIGMOID
    subs r5, r7, r5
    b QUOTIENT
SIGMOID:
    mov r0, r12; cmp r0, #0; blt QUOTIENT
    mov r5, r7
QUOTIENT:
    movs r7, #0; movs r1, #7
BITS:
    subs r0, r5, r6; bcc A
    mov r5, r0
A:
    adcs r7, r7
    lsls r5, #1; subs r0, r5, r6; bcc B
    mov r5, r0
B:
    adcs r7, r7
    lsls r5, #1; subs r0, r5, r6; bcc C
    mov r5, r0
C:
    adcs r7, r7
    lsls r5, #1; subs r0, r5, r6; bcc D
    mov r5, r0
D:
    adcs r7, r7
    lsls r5, #1
    subs r1, #1; bne BITS
    adds r7, #1; lsrs r7, #1
    mov r0, r11; cmp r0, #0; bgt STORE
    mov r0, r12; cmp r0, #0; bge STORE
    negs r7, r7
STORE:
    mov r0, r9; str r7, [r0]
    adds r0, #4; mov r9, r0; mov r0, r11; subs r0, #1
    mov r11, r0; mov r0, r10; subs r0, #1; mov r10, r0
    beq DONE
    b ITEM
DONE:
    add sp, #8
    pop_high
    movs r0, #0
endfunction squash
