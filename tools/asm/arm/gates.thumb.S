// Sigmoid and tanh of float32 without a table: see loops/gates. Assembler, ARMv6-M.
//
// 545 instructions an element: 27 a term of the series, 5 a bit of the quotient.
//
// Forms: thumb

#include "core.h"
#include "series.h"

// Offsets on the stack, in bytes.
words 0, powers_of_2

function gate32
    // r8 x, r9 out, r10 elements left, r11 1 for tanh, r12 v, lr ln2 << 7; r5 exponent, r6
    // mantissa. In the series as there; then r4 exponent, r5 what is left over, r6 the divisor, r7
    // the quotient
    push_high
    sub sp, #8
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; mov r8, r0
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4; mov r9, r2
    ldr r4, [r3, #p_is_tanh]; mov r11, r4
    movs r4, #88; lsls r4, #8; adds r4, #185; lsls r4, #8; adds r4, #12; lsls r4, #7
    mov lr, r4
    ldr r4, [r3, #p_elements]; mov r10, r4
    cmp r4, #0; bne ITEM
    b DONE
ITEM:
    mov r0, r8; ldmia r0!, {r4}
    mov r8, r0; mov r12, r4
    lsls r5, r4, #1; lsrs r5, #24
    lsls r6, r4, #9; lsrs r6, #9
    cmp r5, #255; bne NUMBER
    cmp r6, #0; beq NUMBER
    b NAN
NUMBER:
    movs r0, #1; lsls r0, #23; orrs r6, r0
    mov r0, r11; cmp r0, #0; beq USUAL
    cmp r5, #123; bge USUAL
    b SMALL
USUAL:
    subs r5, #127; adds r5, r0
    movs r7, #0
    cmp r5, #4; bge NO_MORE
    movs r7, #3
    adds r5, #3
NO_MORE:
    cmp r5, #0; bge ABOVE
    negs r5, r5; cmp r5, #24; blt BELOW
    movs r6, #0
BELOW:
    movs r0, #0; lsrs r6, r5; adcs r6, r0
    b REDUCE
ABOVE:
    cmp r5, #7; blt MODERATE
    movs r6, #255; lsls r6, #1; adds r6, #1; lsls r6, #21
    b REDUCE
MODERATE:
    lsls r6, r5
REDUCE:
    // r6 = multiple of ln2 above r6 less r6, r7 which one
    movs r1, #8; subs r1, r7
    movs r2, #4; subs r2, r7
    mov r0, lr; movs r7, #0
MULTIPLE:
    lsls r7, #1
    cmp r6, r0; bcc LESS
    subs r6, r0
    adds r7, #1
LESS:
    lsrs r0, #1
    subs r1, #1; bne MULTIPLE
    adds r7, #1; str r7, [sp, #powers_of_2]
    lsls r0, #1; subs r6, r0, r6; lsls r6, r2
    movs r3, #19; muls r3, r7; lsrs r3, #6; subs r6, r3
    asrs r3, r6, #31; bics r6, r3
    lsls r4, r6, #18; lsrs r4, #18
    lsrs r6, #14
    movs r7, #1; lsls r7, #27; mov r5, r7
    exp_series
    ldr r0, [sp, #powers_of_2]; mov r6, r5; lsrs r6, r0
    movs r4, #127
    mov r3, r11; cmp r3, #0; beq SIGMOID
    subs r5, r7, r6
    b QUOTIENT
SIGMOID:
    mov r3, r12; cmp r3, #0; bge POSITIVE
    subs r4, r0
    b QUOTIENT
POSITIVE:
    mov r5, r7
QUOTIENT:
    adds r6, r7
    movs r7, #0; movs r1, #10
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
    lsls r5, #1
    subs r1, #1; bne BITS
    movs r0, #1; lsls r0, #29
    b LENGTH
LONGER:
    lsls r7, #1
    subs r4, #1
LENGTH:
    cmp r7, r0; bcc LONGER
    lsls r0, #1; cmp r7, r0; bcc PACK
    lsrs r7, #1
    adds r4, #1
PACK:
    movs r0, #6
    cmp r4, #1; bge NORMAL
    movs r0, #7; subs r0, r4
    movs r4, #1
    cmp r0, #30; ble NORMAL
    movs r0, #6; movs r7, #0
NORMAL:
    movs r1, #0; lsrs r7, r0; adcs r7, r1
    subs r4, #1; lsls r4, #23; adds r7, r4
    mov r0, r11; cmp r0, #0; beq STORE
SIGN:
    mov r0, r12; cmp r0, #0; bge STORE
    movs r0, #1; lsls r0, #31; orrs r7, r0
STORE:
    mov r0, r9; stmia r0!, {r7}
    mov r9, r0; mov r0, r10; subs r0, #1; mov r10, r0
    beq DONE
    b ITEM
NAN:
    movs r7, #255; lsls r7, #1; adds r7, #1; lsls r7, #22
    b STORE
SMALL:
    cmp r5, #115; bgt SHIFTED
    beq HALVED
    mov r7, r12
    b STORE
HALVED:
    lsrs r1, r6, #1
    b SQUARE
SHIFTED:
    mov r0, r5; subs r0, #116; mov r1, r6; lsls r1, r0
SQUARE:
    lsrs r1, #15; muls r1, r1; lsrs r1, #8
    // r4 = twice its square, by 15
    lsrs r4, r1, #8; muls r4, r4; lsrs r4, #14; lsls r4, #1
    movs r0, #136; lsls r0, #8; adds r0, #137; muls r4, r0; lsrs r4, #19
    divide_by_3
    subs r1, r4; lsrs r1, #6
    lsls r6, #6; lsrs r0, r6, #15; muls r0, r1; lsrs r0, #9; subs r6, r0
    lsrs r0, r6, #29; bne WHOLE
    lsls r6, #1
    subs r5, #1
WHOLE:
    movs r0, #0; lsrs r6, #6; adcs r6, r0
    subs r5, #1; lsls r5, #23; adds r7, r6, r5
    b SIGN
DONE:
    add sp, #8
    pop_high
    movs r0, #0
endfunction gate32
