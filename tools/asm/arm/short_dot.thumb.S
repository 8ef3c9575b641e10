// Sums of short mantissas: see loops/short_dot. Inline assembler, ARMv6-M opcodes.
//
// Four channels at a time: 3.3 instructions a multiply-accumulate in the unrolled part, 4.9 of
// up to three last channels. There is at least one row and one channel.
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes. first_sum: what sums start with; row_bytes: of a row of weights.
words 0, row, rows_left, channels_left, p, end_of_row, w, unrolled_end, first_sum, out
words 36, row_bytes

// \to += one element times its weight.
.macro add_product to, item, weights, at
    ldrh r7, [\weights, #\at]; muls r7, \item; add \to, r7
.endm

// Sums of four channels += the next two elements times their weights.
.macro add_two at
    ldmia r0!, {r5-r6}
    add_product r8, r5, r1, \at; add_product r8, r6, r1, \at+2
    add_product r9, r5, r2, \at; add_product r9, r6, r2, \at+2
    add_product r10, r5, r3, \at; add_product r10, r6, r3, \at+2
    add_product r11, r5, r4, \at; add_product r11, r6, r4, \at+2
.endm

// The sum of one channel, without the 2**14 in its weights.
.macro add_single item, at
    ldrh r7, [r1, #\at]; subs r7, r3; muls r7, \item; adds r4, r7
.endm

function dots
    // r0 x, r1 to r4 w of four channels, r8 to r11 their sums, r5, r6 elements, r12 where x ends.
    push_high
    sub sp, #40
    str r3, [sp, #p]
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; str r0, [sp, #row]
    ldr r4, [r3, #p_w_start]; lsls r4, #1; adds r1, r4; str r1, [sp, #w]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4; str r2, [sp, #out]
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    ldr r4, [r3, #p_columns]; adds r4, #1; lsrs r4, #1; lsls r4, #2
    str r4, [sp, #row_bytes]
ROW:
    ldr r3, [sp, #p]; ldr r0, [sp, #row]; ldr r1, [sp, #w]
    ldr r4, [r3, #p_columns]; lsls r5, r4, #2; adds r2, r0, r5; str r2, [sp, #end_of_row]
    lsrs r4, #3; lsls r4, #5; adds r4, r0; str r4, [sp, #unrolled_end]
    ldr r7, [r3, #p_channels]; str r7, [sp, #channels_left]
    cmp r7, #4; bge SUM
    b SINGLES
SUM:
    movs r3, #0
    cmp r0, r4; beq COUNT
TOTAL:  // the sum of x
    ldmia r0!, {r5-r7}; adds r3, r5; adds r3, r6; adds r3, r7
    ldmia r0!, {r5-r7}; adds r3, r5; adds r3, r6; adds r3, r7
    ldmia r0!, {r5-r6}; adds r3, r5; adds r3, r6
    cmp r0, r4; bne TOTAL
COUNT:
    cmp r0, r2; beq TOTALLED
    ldmia r0!, {r5}; adds r3, r5
    b COUNT
TOTALLED:  // what sums start with
    movs r4, #1; lsls r4, #30
    lsls r3, #14; subs r4, r3; str r4, [sp, #first_sum]
CHANNELS:  // r1 weights
    ldr r4, [sp, #channels_left]; subs r4, #4; bge FOUR
    b SINGLES
FOUR:
    str r4, [sp, #channels_left]
    ldr r0, [sp, #row]; ldr r5, [sp, #row_bytes]; adds r2, r1, r5; adds r3, r2, r5
    adds r4, r3, r5
    ldr r5, [sp, #first_sum]; mov r8, r5; mov r9, r5; mov r10, r5
    mov r11, r5
    ldr r7, [sp, #unrolled_end]; mov r12, r7; cmp r0, r12; beq REST
EIGHT:
    add_two 0; add_two 4; add_two 8; add_two 12
    adds r1, #16; adds r2, #16; adds r3, #16; adds r4, #16
    cmp r0, r12; bne EIGHT
REST:
    ldr r7, [sp, #end_of_row]; mov r12, r7; cmp r0, r12; beq SUMMED
ITEM:
    ldmia r0!, {r5}
    add_product r8, r5, r1, 0
    adds r1, #2
    add_product r9, r5, r2, 0
    adds r2, #2
    add_product r10, r5, r3, 0
    adds r3, #2
    add_product r11, r5, r4, 0
    adds r4, #2
    cmp r0, r12; bne ITEM
SUMMED:
    adds r1, r4, #3; lsrs r1, #2; lsls r1, #2
    ldr r0, [sp, #out]
    mov r4, r8; mov r5, r9; mov r6, r10; mov r7, r11
    stmia r0!, {r4-r7}
    str r0, [sp, #out]
    b CHANNELS
SINGLES:  // one channel: 2**14 is taken from each weight
    ldr r4, [sp, #channels_left]; subs r4, #1; blt NEXT
    str r4, [sp, #channels_left]
    ldr r0, [sp, #row]; ldr r2, [sp, #unrolled_end]
    movs r4, #1; lsls r3, r4, #14
    lsls r4, #30
    cmp r0, r2; beq LAST_REST
LAST_FOUR:
    ldmia r0!, {r5-r6}
    add_single r5, 0; add_single r6, 2
    ldmia r0!, {r5-r6}
    add_single r5, 4; add_single r6, 6
    adds r1, #8
    cmp r0, r2; bne LAST_FOUR
LAST_REST:
    ldr r2, [sp, #end_of_row]; cmp r0, r2; beq LAST_SUMMED
LAST_ITEM:
    ldmia r0!, {r5}
    add_single r5, 0
    adds r1, #2
    cmp r0, r2; bne LAST_ITEM
LAST_SUMMED:
    adds r1, #3; lsrs r1, #2; lsls r1, #2
    ldr r0, [sp, #out]; stmia r0!, {r4}
    str r0, [sp, #out]
    b SINGLES
NEXT:
    ldr r0, [sp, #row]; ldr r3, [sp, #p]; ldr r4, [r3, #p_x_row_stride]; lsls r4, #2
    adds r0, r4; str r0, [sp, #row]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; beq END
    b ROW
END:
    add sp, #40
    pop_high
endfunction dots
