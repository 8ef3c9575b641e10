// Sums of float32 by their bits: see loops/add. Assembler, ARMv6-M instructions only.
//
// As in loops/viper/add 6 bits behind the last one of the result say how to round. 65 instructions
// a sum, and 6 for each bit that a difference loses in front.
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes.
words 0, x_bytes, w_bytes, p, end

function add32
    // r2 out, r3 exponent, r4 the larger number, r5 the other, r6 and r7 their magnitudes << 1,
    // then mantissas of 30 bits, r8 x, r9 w, r10 sign to flip, r11 end of the row, r12 1 << 29
    push_high
    sub sp, #16
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; mov r8, r0
    ldr r4, [r3, #p_w_start]; lsls r4, #2; adds r1, r4; mov r9, r1
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4
    ldr r4, [r3, #p_is_difference]; lsls r4, #31; mov r10, r4; movs r4, #1
    lsls r4, #29; mov r12, r4
    ldr r4, [r3, #p_x_stride]; lsls r4, #2
    ldr r5, [r3, #p_w_stride]; lsls r5, #2
    mov r6, r3
    ldr r7, [r3, #p_columns]; lsls r7, #2; mov r0, r7; adds r0, r2
    mov r11, r0
    ldr r0, [r3, #p_rows]; muls r7, r0; adds r7, r2
    mov r0, sp; stmia r0!, {r4-r7}
    cmp r2, r7; bcc ITEM
    b DONE
ITEM:
    mov r0, r8; ldr r4, [r0]
    mov r0, r9; ldr r5, [r0]
    mov r7, r10; eors r5, r7
    lsls r6, r4, #1
    lsls r7, r5, #1; cmp r6, r7; bcs ORDERED
    mov r0, r4; mov r4, r5; mov r5, r0; mov r0, r6
    mov r6, r7; mov r7, r0
ORDERED:
    lsrs r3, r6, #24; cmp r3, #255; beq SPECIAL
    lsrs r1, r7, #24
    lsls r6, #8; lsrs r6, #3
    lsls r7, #8; lsrs r7, #3
    cmp r3, #0; bne NORMAL
    movs r3, #1
    b OTHER
NORMAL:
    add r6, r12
OTHER:
    cmp r1, #0; bne OTHER_NORMAL
    movs r1, #1
    b DISTANCE
OTHER_NORMAL:
    add r7, r12
DISTANCE:
    subs r1, r3, r1; beq ALIGNED
    cmp r1, #30; ble NEAR
    movs r1, #30
NEAR:
    mov r0, r7
    lsrs r7, r1
    negs r1, r1; adds r1, #32; lsls r0, r1; beq ALIGNED
    movs r0, #1; orrs r7, r0
ALIGNED:
    eors r5, r4; bmi DIFFERENCE
    adds r6, r7; lsrs r0, r6, #30; beq ROUND
    movs r0, #1; ands r0, r6
    lsrs r6, #1; orrs r6, r0
    adds r3, #1
    b ROUND
DIFFERENCE:
    subs r6, r7; bne LEADING
    movs r4, #0; movs r3, #1
LEADING:
    cmp r6, r12; bcs ROUND
    cmp r3, #1; ble ROUND
    lsls r6, #1
    subs r3, #1
    b LEADING
ROUND:
    lsls r0, r6, #26
    lsrs r6, #6
    lsls r0, #1; bcc ROUNDED
    bne UP
    lsls r0, r6, #31; beq ROUNDED
UP:
    adds r6, #1
ROUNDED:
    subs r3, #1; lsls r3, #23; adds r6, r3; lsrs r0, r6, #23
    cmp r0, #255; blt FINITE
    movs r6, #255; lsls r6, #23
FINITE:
    lsrs r4, #31; lsls r4, #31; orrs r4, r6
STORE:
    str r4, [r2]
    ldr r0, [sp, #x_bytes]; add r8, r0
    ldr r0, [sp, #w_bytes]; add r9, r0
    adds r2, #4; cmp r2, r11; bne ITEM
    ldr r3, [sp, #p]; ldr r4, [r3, #p_columns]; lsls r4, #2; add r11, r4
    ldr r5, [r3, #p_x_stride]; muls r5, r4
    ldr r6, [r3, #p_x_row_stride]; lsls r6, #2; subs r6, r5; add r8, r6
    ldr r5, [r3, #p_w_stride]; muls r5, r4
    ldr r6, [r3, #p_w_row_stride]; lsls r6, #2; subs r6, r5; add r9, r6
    ldr r0, [sp, #end]; cmp r2, r0; beq DONE
    b ITEM
SPECIAL:
    lsls r0, r6, #8; bne NAN
    cmp r6, r7; bne STORE
    eors r5, r4; bpl STORE
NAN:
    movs r4, #255; lsls r4, #1; adds r4, #1; lsls r4, #22
    b STORE
DONE:
    add sp, #16
    pop_high
    movs r0, #0
endfunction add32
