// Exact sums of mantissas: see loops/block_dot. Inline assembler with smlal, for ARMv7-M and up.
//
// 1.75 instructions a multiply-accumulate in the unrolled part. There is at least one row and one
// channel.
//
// Forms: armv7m

#include "core.h"

// Offsets on the stack, in bytes.
words 0, row, rows_left, channels_left, p, end_of_row, w, unrolled_end

function dots
    // r0 x, r1 w, r2 end of what is unrolled of the row, r3 out; r12, lr the sum.
    push_high
    sub sp, #28
    str r3, [sp, #p]
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; str r0, [sp, #row]
    ldr r4, [r3, #p_w_start]; lsls r4, #2; adds r1, r4; str r1, [sp, #w]
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r3, r2, r4
ROW:
    ldr r1, [sp, #p]; ldr r0, [sp, #row]
    ldr r4, [r1, #p_channels]; str r4, [sp, #channels_left]
    ldr r4, [r1, #p_columns]; lsls r5, r4, #2; adds r5, r0; str r5, [sp, #end_of_row]
    lsrs r4, #3; lsls r4, #5; adds r4, r0; str r4, [sp, #unrolled_end]
    ldr r1, [sp, #w]
    movs r4, #0; mov r12, r4; mov lr, #256; movs r5, #1
    mov r8, r5
    ldr r2, [sp, #unrolled_end]; cmp r0, r2; beq COUNT
FOUR:  // the sum of x
    ldmia r0!, {r4-r7}; smlal r12, lr, r4, r8; smlal r12, lr, r5, r8
    smlal r12, lr, r6, r8; smlal r12, lr, r7, r8
    cmp r0, r2; bne FOUR
COUNT:
    ldr r2, [sp, #end_of_row]
ONE:
    cmp r0, r2; beq STORE
    ldr r4, [r0]
    adds r0, #4
    smlal r12, lr, r4, r8
    b ONE
STORE:  // r12, lr as limbs
    mov r5, r12; mov r6, lr
    lsls r4, r5, #8; lsrs r4, #8
    lsrs r5, #24
    lsls r7, r6, #16; lsrs r7, #8; adds r5, r7
    lsrs r6, #16; stmia r3!, {r4-r6}
    ldr r4, [sp, #channels_left]; subs r4, #1; blt NEXT
    str r4, [sp, #channels_left]
    ldr r0, [sp, #row]; ldr r2, [sp, #unrolled_end]
    movs r4, #0; mov r12, r4; mov lr, #2147483648
    cmp r0, r2; beq REST
EIGHT:
    ldmia r0!, {r4-r7}
    ldmia r1!, {r8-r11}; smlal r12, lr, r4, r8; smlal r12, lr, r5, r9
    smlal r12, lr, r6, r10; smlal r12, lr, r7, r11
    ldmia r0!, {r4-r7}
    ldmia r1!, {r8-r11}; smlal r12, lr, r4, r8; smlal r12, lr, r5, r9
    smlal r12, lr, r6, r10; smlal r12, lr, r7, r11
    cmp r0, r2; bne EIGHT
REST:
    ldr r2, [sp, #end_of_row]
SINGLE:
    cmp r0, r2; beq STORE
    ldr r4, [r0]
    ldr r5, [r1]
    adds r0, #4; adds r1, #4
    smlal r12, lr, r4, r5
    b SINGLE
NEXT:
    ldr r0, [sp, #row]; ldr r1, [sp, #p]; ldr r4, [r1, #p_x_row_stride]; lsls r4, #2
    adds r0, r4; str r0, [sp, #row]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    add sp, #28
    pop_high
endfunction dots
