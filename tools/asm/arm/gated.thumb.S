// Steps of recurrent layers in fixed point: see loops/gated. Assembler, ARMv6-M, of its sums and of
// states of LSTM.
//
// 12 instructions a product, as in block_dot; about 45 around a row's products with x
// or with h. Code for the elements that are no eight begins in the middle of that for eight. 450 an
// element of the state.
//
// Forms: thumb

#include "core.h"

//+ put
//+ relu
//+ renew
//+ reset
//+ reset_sums
//+ rnn
//+ row
//+ small_sums

// Offsets on the stack, in bytes. Of the row of x, and of that of h: where it is, bytes of the
// mantissas up to a whole number of 120, or 0, where in the code to begin, where it ends.
words 0, p, out, rows_left, low, high, end_of_row
words 24, x_row, x_bytes, x_begin, x_end, h_row, h_bytes, h_begin, h_end

// Three sums += the products of the limbs of r2 and r5, and of what these add up to.
.macro add_product
    ldmia r0!, {r2}
    ldmia r1!, {r5}
    asrs r3, r2, #12; asrs r6, r5, #12; adds r4, r2, r3; adds r7, r5, r6
    muls r5, r2; muls r6, r3; muls r7, r4
    add r8, r5; add r9, r6; add r10, r7
.endm

function sums
    // r1 w; in a row's products r0 x, r8, r9, r10 the sums A, H and B of block_dot, r11 the end of
    // x, r12 what to shift by
    push_high
    sub sp, #56
    str r3, [sp, #p]
    ldr r4, [r3, #p_sums_out_start]; lsls r4, #2; adds r2, r4; str r2, [sp, #out]
    ldr r4, [r3, #p_w_start]; lsls r4, #2; adds r1, r4
    ldr r4, [r3, #p_x_row_start]; ldr r5, [r3, #p_x_elements]
    add r6, sp, #x_row; bl PREPARE
    ldr r4, [r3, #p_h_row_start]; ldr r5, [r3, #p_h_elements]
    add r6, sp, #h_row; bl PREPARE
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    cmp r4, #0; bne ROW
    b END
PREPARE:
    lsls r4, #2; adds r4, r0
    lsls r7, r5, #2; adds r7, r4; adds r7, #4; str r7, [r6, #12]
    mov r7, r5
FEWER:
    subs r7, #120; bgt FEWER
    adds r7, #120; lsls r7, #2
    cmp r5, #0; bne SOME
    movs r7, #0
SOME:
    subs r5, #1; lsls r5, #29; lsrs r5, #29; adds r5, #1
    movs r2, #24; muls r5, r2; adr r2, LAST
    subs r5, r2, r5; str r5, [r6, #8]; stmia r6!, {r4, r7}
    bx lr
PAIR:
    movs r6, #1; lsls r6, #30; adds r5, r6; stmia r2!, {r4-r5}
    b NEXT
LIMIT:
    movs r4, #0; mvns r4, r4; lsrs r4, #1
    cmp r5, #0; bgt STORE
    negs r4, r4
    b STORE
ROW:
    ldmia r1!, {r4-r5}
    lsls r5, #2; lsrs r5, #2; movs r6, #1; lsls r6, #29; subs r5, r6; str r5, [sp, #high]
    lsrs r7, r4, #24; lsls r4, #8; lsrs r4, #8; str r4, [sp, #low]
    add r6, sp, #x_row
    ldmia r6!, {r0, r2-r3, r5}
    cmp r2, #0; beq OF_H
    bl PRODUCTS
OF_H:
    add r6, sp, #h_row
    ldmia r6!, {r0, r2-r3, r5}
    cmp r2, #0; beq SUM
    ldmia r1!, {r7}
    lsls r7, #24; lsrs r7, #24; bl PRODUCTS
SUM:
    ldr r4, [sp, #low]; ldr r5, [sp, #high]
    lsrs r6, r4, #24; adds r5, r6; lsls r4, #8; lsrs r4, #8
    ldr r2, [sp, #out]; ldr r3, [sp, #p]; ldr r3, [r3, #p_has_arguments]; cmp r3, #0; beq PAIR
    movs r6, #255; lsls r6, #1; adds r6, #1; adds r7, r5, r6; lsls r6, #1
    cmp r7, r6; bcs LIMIT
    adds r4, #2; lsrs r4, #2; lsls r5, #22; adds r4, r5
STORE:
    stmia r2!, {r4}
NEXT:
    str r2, [sp, #out]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    b END
PRODUCTS:
    str r5, [sp, #end_of_row]; ldmia r0!, {r4}
    adds r4, r7
    movs r5, #135; lsls r5, #1; subs r5, r4; mov r12, r5
    adds r2, r0; mov r11, r2
    movs r4, #0; mov r8, r4; mov r9, r4; mov r10, r4
    mov pc, r3
MORE:
    movs r4, #240; lsls r4, #1; adds r4, r0; mov r11, r4
    movs r4, #0; mov r8, r4; mov r9, r4; mov r10, r4
    .balign 4
EIGHT:
    .rept 8
    add_product
    .endr
LAST:
    cmp r0, r11; bne EIGHT
    mov r4, r8; mov r5, r9; mov r6, r10
    subs r6, r4; lsls r7, r5, #13; subs r6, r7; subs r6, r5  // M
    lsls r7, r5, #24; subs r3, r4, r7; lsls r7, r6, #12; subs r3, r7  // L
    lsrs r3, #12; adds r6, r3; asrs r6, #12; adds r5, r6
    lsls r4, #8; lsrs r4, #8
    mov r6, r12; subs r6, #3
    cmp r6, #21; bcs UNUSUAL
    adds r6, #3
    movs r7, #24; subs r7, r6
    mov r3, r5; lsls r3, r7
    lsrs r4, r6; orrs r4, r3; lsls r4, #8; lsrs r4, #8
    asrs r5, r6
ADD:
    ldr r6, [sp, #low]; adds r4, r6; str r4, [sp, #low]
    ldr r6, [sp, #high]; adds r5, r6; str r5, [sp, #high]
    ldr r6, [sp, #end_of_row]; cmp r0, r6; beq ALL
    b MORE
ALL:
    bx lr
UNUSUAL:
    adds r6, #3
    cmp r6, #24; blt NEAR
    subs r6, #24
    cmp r6, #31; ble WHOLE
    movs r6, #31
WHOLE:
    asrs r5, r6; lsls r4, r5, #8; lsrs r4, #8; asrs r5, #24
    b ADD
NEAR:
    cmp r6, #0; ble AT_LEAST
    movs r7, #24; subs r7, r6
    mov r3, r5; lsls r3, r7
    lsrs r4, r6; orrs r4, r3; lsls r4, #8; lsrs r4, #8
    asrs r5, r6
    movs r6, #0
AT_LEAST:
    movs r7, #1; lsls r7, #26; negs r3, r7
LEFT:
    cmp r6, #0; bge LIMITS
    cmp r5, r7; bgt LIMITS
    cmp r5, r3; blt LIMITS
    adds r5, r5; lsrs r2, r4, #23; adds r5, r2
    lsls r4, #9; lsrs r4, #8
    adds r6, #1
    b LEFT
LIMITS:
    cmp r5, r7; ble NOT_ABOVE
    mov r5, r7; movs r4, #0
NOT_ABOVE:
    cmp r5, r3; bge ADD
    mov r5, r3; movs r4, #0
    b ADD
END:
    add sp, #56
    pop_high
endfunction sums

// On the stack of lstm, in bytes; elements: bytes of n elements.
words 0, lstm_end, lstm_h, items, c, word, sign

// r4 = r4 * r5 / 2**26, of numbers that are not negative. Changes r5 to r7.
.macro scaled_product
    lsrs r6, r4, #13; lsls r4, #19; lsrs r4, #19
    lsrs r7, r5, #13; lsls r5, #19; lsrs r5, #19
    push {r7}
    muls r7, r4; muls r4, r5; muls r5, r6
    lsrs r4, #13; adds r4, r7; adds r4, r5; lsrs r4, #13
    pop {r7}
    muls r6, r7; adds r4, r6
.endm

// Likewise of r4 from 2**27 to 2**30. The sum in the middle stays below 2**32.
.macro scaled_state
    lsrs r6, r4, #15; lsls r4, #17; lsrs r4, #17
    lsrs r7, r5, #13; lsls r5, #19; lsrs r5, #19
    push {r7}
    muls r7, r4; muls r4, r5; muls r5, r6
    lsrs r4, #13; adds r4, r7; lsrs r4, #2; adds r4, r5; lsrs r4, #11
    pop {r7}
    muls r6, r7; lsls r6, #2; adds r4, r6
.endm

function lstm
    // r0 arguments or gates, r1 table
    sub sp, #24
    ldr r4, [r3, #p_arguments_start]; lsls r4, #2; adds r0, r2, r4
    ldr r4, [r3, #p_h_start]; lsls r4, #2; adds r4, r2; str r4, [sp, #lstm_h]
    ldr r4, [r3, #p_c_start]; lsls r4, #2; adds r4, r2; str r4, [sp, #c]
    ldr r4, [r3, #p_elements]; lsls r4, #2; str r4, [sp, #items]
    lsls r2, r4, #1; adds r2, r4; adds r2, r0; str r2, [sp, #lstm_end]
    cmp r4, #0; bne GATE
    b LSTM_END
GATE:
    ldr r4, [r0]; asrs r3, r4, #31; eors r4, r3; subs r4, r3
    mov r12, r3; bl SIGMOID
    mov r3, r12
    adds r4, #4; lsrs r4, #3; eors r4, r3; subs r4, r3
    movs r5, #1; lsls r5, #26; ands r3, r5; adds r4, r3; stmia r0!, {r4}
    ldr r2, [sp, #lstm_end]; cmp r0, r2; bne GATE
    ldr r4, [sp, #items]; adds r2, r4; str r2, [sp, #lstm_end]
STATE:
    ldr r4, [r0]; asrs r3, r4, #31; eors r4, r3; subs r4, r3
    mov r12, r3; bl TANH
    cmp r4, #0; beq POSITIVE
    mov r3, r12
    b SIGNED
POSITIVE:
    movs r3, #0
SIGNED:
    ldr r5, [sp, #c]; ldr r2, [r5]; str r2, [sp, #word]; eors r3, r2; str r3, [sp, #sign]
    ldr r6, [sp, #items]; subs r7, r0, r6; ldr r3, [r7]
    subs r7, r6; subs r7, r6; ldr r5, [r7]
    scaled_product
    lsls r5, r2, #1; lsrs r5, #24; beq NOTHING
    lsls r2, #9; lsrs r2, #9; movs r6, #1; lsls r6, #23; orrs r2, r6
    subs r5, #126; bmi TINY
    cmp r5, #6; bgt HUGE
    lsls r2, r5
USUAL:
    adds r4, #2; lsrs r4, #2; movs r5, #125
ADDED:
    mov r12, r5; movs r5, r3; movs r3, r4; movs r4, r2
    scaled_state
    ldr r2, [sp, #word]; ldr r5, [sp, #sign]; cmp r5, #0; bmi DIFFER
    adds r4, r3
    b TOTAL
TINY:
    negs r5, r5; cmp r5, #24; bhi NOTHING
    subs r6, r5, #1; movs r7, #1; lsls r7, r6; adds r2, r7; lsrs r2, r5
    b USUAL
NOTHING:
    movs r2, #0
    b USUAL
HUGE:
    lsls r2, #6; subs r5, #6
    movs r6, #2; lsls r6, r5; adds r4, r6; adds r6, r5, #2; lsrs r4, r6
    cmp r5, #26; blt NEAR_ENOUGH
    movs r4, #0
NEAR_ENOUGH:
    adds r5, #125
    b ADDED
DIFFER:
    subs r4, r3; bpl TOTAL
    negs r4, r4; mvns r2, r2
TOTAL:
    mov r3, r12; bl FLOAT
    ldr r5, [sp, #c]; stmia r5!, {r4}; str r5, [sp, #c]
    adds r0, #4
    ldr r2, [sp, #lstm_end]; cmp r0, r2; bne STATE
    ldr r6, [sp, #items]; subs r0, r6; subs r0, r6; subs r0, r6
    adds r2, r0, r6; str r2, [sp, #lstm_end]
    ldr r5, [sp, #c]; subs r5, r6; str r5, [sp, #c]
RESULT:
    ldr r5, [sp, #c]; ldmia r5!, {r2}; str r5, [sp, #c]
    lsls r4, r2, #9; lsrs r4, #9; movs r6, #1; lsls r6, #23; orrs r4, r6
    lsls r5, r2, #1; lsrs r5, #24; subs r5, #124; bmi SMALL
    cmp r5, #8; bge LIMITED
    lsls r4, r5
    b SQUASH
LIMITED:
    movs r4, #1; lsls r4, #30
    b SQUASH
SMALL:
    negs r5, r5; subs r6, r5, #1; movs r7, #1; lsls r7, r6; adds r4, r7; lsrs r4, r5
    cmp r5, #25; blo SQUASH
    movs r4, #0
SQUASH:
    mov r12, r2; bl TANH
    ldmia r0!, {r5}
    scaled_product
    movs r3, #123
    movs r5, #1; lsls r5, #24
CEILING:
    cmp r4, r5; blo ROUNDED
    adds r4, #1; lsrs r4, #1; adds r3, #1
    b CEILING
ROUNDED:
    mov r2, r12; bl FLOAT
    ldr r5, [sp, #lstm_h]; stmia r5!, {r4}; str r5, [sp, #lstm_h]
    ldr r2, [sp, #lstm_end]; cmp r0, r2; bne RESULT
    b LSTM_END
// r4 = the float r4 * 2**(r3 - 149) with the sign of r2. Changes r3, r5, r6.
FLOAT:
    lsrs r5, r4, #24; bne WIDE
    cmp r4, #0; beq JOINED
    lsrs r5, r4, #23; bne EXACT
UP:
    subs r3, #1; lsls r4, #1; lsrs r5, r4, #23; beq UP
EXACT:
    lsls r3, #23; adds r4, r3
JOINED:
    lsrs r2, #31; lsls r2, #31; adds r4, r2
    bx lr
WIDE:
    movs r6, #0
HALVE:
    adds r6, #1; lsrs r5, #1; bne HALVE
    adds r3, r6; subs r5, r6, #1; lsrs r4, r5; adds r4, #1; lsrs r4, #1
    b EXACT
// r4 = tanh of r4, which is not negative; both have 26 fractional bits. Changes what SIGMOID
// does.
TANH:
    push {lr}
    lsls r4, #1; bpl WITHIN
    movs r4, #1; lsls r4, #31; subs r4, #1
WITHIN:
    bl SIGMOID
    movs r5, #1; lsls r5, #28; subs r4, r5; adds r4, #2; asrs r4, #2; lsls r4, #5; lsrs r4, #5
    pop {pc}
// r4 = sigmoid of r4: see the plain form. Changes r2, r3 and r5 to r7.
SIGMOID:
    lsrs r5, r4, #28; bne FAR
    lsls r4, #1; lsrs r5, r4, #23
FOUND:
    movs r6, #12; muls r5, r6; adds r5, r1; ldmia r5!, {r2, r3, r6}
    lsls r5, r4, #9; lsrs r5, #17; uxth r7, r6; lsrs r6, #16; lsls r6, #3
    muls r7, r5; lsls r5, #15; subs r7, r5; asrs r7, #15; subs r6, r7
    lsls r5, r4, #9; lsrs r5, #20; lsls r4, #21; lsrs r4, #21
    movs r7, r6; muls r7, r4; asrs r7, #11; muls r6, r5; adds r6, r7; asrs r6, #12; subs r3, r6
    asrs r6, r3, #12; lsls r3, #20; lsrs r3, #20
    muls r4, r6; asrs r4, #11; adds r2, r4; muls r6, r5; adds r2, r6
    muls r3, r5; lsrs r3, #12; adds r4, r2, r3
    lsls r4, #3; lsrs r4, #3
    bx lr
FAR:
    cmp r5, #2; bhs FARTHER
    lsrs r5, r4, #23; adds r5, #32
    b FOUND
FARTHER:
    movs r5, #1; lsls r5, #29; subs r4, r5; lsrs r4, #2; lsrs r5, r4, #23; adds r5, #96
    cmp r5, #116; bls FOUND
    movs r5, #116
    b FOUND
LSTM_END:
    add sp, #24
endfunction lstm
