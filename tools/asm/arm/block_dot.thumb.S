// Exact sums of mantissas: see loops/viper/block_dot for how. Inline assembler, ARMv6-M opcodes.
//
// 12.5 instructions a multiply-accumulate in the unrolled part: two loads, two shifts, two
// additions, three products, three sums. There is at least one row and one channel. That B starts
// with 2**30 makes a part's sum 2**42 larger: a channel's sum starts with so much less for each
// part.
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes. first_high: the upper word that a sum starts with.
words 0, sum, sum_high, row, rows_left, channels_left, p, end_of_row, out, w, first_high

// Three sums += the products of the limbs of r2 and r5, and of what these add up to.
.macro add_product
    asrs r3, r2, #12; lsrs r6, r5, #12; adds r4, r2, r3; adds r7, r5, r6
    muls r5, r2; muls r6, r3; muls r7, r4
    add r8, r5; add r9, r6; add r10, r7
.endm

.macro add_products
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    ldr r2, [r0, #4*\i]; ldr r5, [r1, #4*\i]; add_product
    .endr
.endm

function dots
    // r0 x, r1 w; r8, r9, r10 the sums A, H, B; r11, r12 ends of a part of the row, and of what of
    // it is unrolled.
    push_high
    sub sp, #40
    str r3, [sp, #p]
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; str r0, [sp, #row]
    ldr r4, [r3, #p_w_start]; lsls r4, #2; adds r1, r4; str r1, [sp, #w]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4; str r2, [sp, #out]
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    movs r5, #1; lsls r4, r5, #30; mov lr, r4
    lsls r4, r5, #31
    lsls r5, #10
    ldr r6, [r3, #p_columns]
PARTS:
    subs r4, r5
    subs r6, #120; bgt PARTS
    str r4, [sp, #first_high]
ROW:
    ldr r0, [sp, #row]; ldr r3, [sp, #p]; ldr r4, [r3, #p_channels]
    str r4, [sp, #channels_left]
    ldr r4, [r3, #p_columns]; lsls r4, #2; adds r7, r4, r0; str r7, [sp, #end_of_row]
    mov r11, r7
    lsrs r4, #4; lsls r4, #4; adds r4, r0; mov r12, r4
    movs r5, #0; movs r6, #1; lsls r6, #8
    b LEFT
FOUR:  // the sum of x
    ldmia r0!, {r1, r3-r4, r7}; adds r1, r3; adds r4, r7; adds r1, r4
    asrs r3, r1, #31
    adds r5, r1
    adcs r6, r3
LEFT:
    cmp r0, r12; bne FOUR
COUNT:
    cmp r0, r11; beq COUNTED
    ldr r7, [r0]
    adds r0, #4
    asrs r3, r7, #31
    adds r5, r7
    adcs r6, r3
    b COUNT
COUNTED:
    ldr r1, [sp, #w]
STORE:  // r5, r6 as limbs
    ldr r2, [sp, #out]
    lsls r4, r5, #8; lsrs r4, #8; str r4, [r2]
    lsrs r5, #24
    lsls r4, r6, #16; lsrs r4, #8; adds r4, r5; str r4, [r2, #4]
    lsrs r6, #16; str r6, [r2, #8]
    adds r2, #12; str r2, [sp, #out]
    ldr r4, [sp, #channels_left]; subs r4, #1; str r4, [sp, #channels_left]; bge CHANNEL
    ldr r0, [sp, #row]; ldr r3, [sp, #p]; ldr r4, [r3, #p_x_row_stride]; lsls r4, #2
    adds r0, r4; str r0, [sp, #row]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    b END
CHANNEL:
    movs r4, #0; str r4, [sp, #sum]
    ldr r4, [sp, #first_high]; str r4, [sp, #sum_high]
    ldr r0, [sp, #row]
PART:  // up to 120 elements
    ldr r4, [sp, #end_of_row]; subs r5, r4, r0
    movs r6, #240; lsls r6, #1; cmp r5, r6; bls SHORT
    mov r5, r6
SHORT:
    adds r4, r0, r5; mov r11, r4
    lsrs r5, #5; lsls r5, #5; adds r4, r0, r5; mov r12, r4
    movs r4, #0; mov r8, r4; mov r9, r4; mov r10, lr
    cmp r0, r12; beq SINGLE
    b EIGHT
SINGLE:
    cmp r0, r11; beq DONE
    ldr r2, [r0]
    ldr r5, [r1]
    add_product
    adds r0, #4; adds r1, #4
    b SINGLE
DONE:
    mov r4, r8; mov r5, r9; mov r6, r10; subs r6, r4
    lsls r7, r5, #13; subs r6, r7; subs r6, r5  // M + 2**30
    lsls r7, r5, #24; subs r3, r4, r7
    lsls r7, r6, #12; subs r3, r7  // L
    lsrs r3, #12; adds r6, r3; lsrs r6, #12; adds r5, r6
    asrs r7, r5, #8  // the upper word of the part's sum; A is the lower one
    ldr r5, [sp, #sum]; ldr r6, [sp, #sum_high]
    adds r5, r4
    adcs r6, r7
    ldr r4, [sp, #end_of_row]; cmp r0, r4; beq WHOLE
    str r5, [sp, #sum]
    str r6, [sp, #sum_high]
    b PART
WHOLE:
    b STORE
EIGHT:
    add_products
    adds r0, #32; adds r1, #32
    cmp r0, r12; bne EIGHT
    b SINGLE
END:
    add sp, #40
    pop_high
endfunction dots
