// Steps of recurrent layers in fixed point: see loops/gated. Assembler, ARMv6-M, of its sums.
//
// 12 instructions a product, as in block_dot; some 45 for what is around a row's products with x,
// or with h. Code for the items that are no eight begins in the middle of that for eight.
//
// Forms: thumb

#include "core.h"
#include "gated.h"

//+ lstm
//+ put
//+ relu
//+ renew
//+ reset
//+ reset_sums
//+ rnn
//+ row
//+ small_sums

// On the stack, in bytes. Of the row of x, and of that of h: where it is, bytes of the mantissas up
// to a whole number of 120, or 0, where in the code to begin, where it ends.
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
    ldr r4, [r3, #p_out]; lsls r4, #2; adds r2, r4; str r2, [sp, #out]
    ldr r4, [r3, #p_weights]; lsls r4, #2; adds r1, r4
    ldr r4, [r3, #p_x_row]; ldr r5, [r3, #p_x_items]
    add r6, sp, #x_row; bl PREPARE
    ldr r4, [r3, #p_h_row]; ldr r5, [r3, #p_h_items]
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
    ldr r2, [sp, #out]; ldr r3, [sp, #p]; ldr r3, [r3, #p_is_argument]; cmp r3, #0; beq PAIR
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
