// Largest value of a window: see loops/pool. Inline assembler, ARMv6-M opcodes.
//
// Bits v of floats compare as integers once those below 0 have their lower 31 bits flipped:
// v ^ (v >> 31 & 0x7fffffff). A NaN is beyond every number of its sign.
//
// Forms: thumb

#include "core.h"

//+ find_row8
//+ find_row32
//+ max_row8

// Offsets on the stack, in bytes. depth_left, rows_left: of the kernel; window: its place.
words 0, p, column, depth_left, rows_left, z, y, out, window

function max_row32
    // In the innermost loop r0 row of x, r2 place in it in bytes, r3 elements left, r7 most; r8
    // bytes of a row, r9 step in it, r10 most, r11 plane.
    push_high
    sub sp, #32
    str r3, [sp, #p]
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; mov r11, r0
    ldr r4, [r3, #p_columns]; lsls r4, #2; mov r8, r4
    ldr r4, [r3, #p_column_dilation]; lsls r4, #2; mov r9, r4
    ldr r4, [r3, #p_start]; str r4, [sp, #column]
    ldr r5, [r3, #p_out_start]; adds r5, r4; lsls r5, #2; adds r2, r5
    str r2, [sp, #out]
    ldr r5, [r3, #p_column_stride]; muls r4, r5
    movs r5, #1; lsls r5, #29; adds r4, r5
    ldr r5, [r3, #p_column_padding]; subs r4, r5; lsls r4, #2; str r4, [sp, #window]
COLUMN:
    ldr r3, [sp, #p]; ldr r4, [sp, #column]
    ldr r5, [r3, #p_end]; cmp r4, r5; blt WINDOW
    b END
WINDOW:
    ldr r4, [r3, #p_least]; asrs r5, r4, #31; lsrs r5, #1; eors r4, r5
    mov r10, r4
    ldr r4, [r3, #p_kernel_depth]; str r4, [sp, #depth_left]
    movs r5, #1; lsls r5, #29
    ldr r4, [r3, #p_corner_depth]; subs r4, r5; str r4, [sp, #z]
DEPTH:
    ldr r4, [r3, #p_kernel_rows]; str r4, [sp, #rows_left]
    movs r5, #1; lsls r5, #29
    ldr r4, [r3, #p_corner_row]; subs r4, r5; str r4, [sp, #y]
ROW:
    ldr r4, [sp, #y]
    ldr r5, [r3, #p_rows]; cmp r4, r5; bcs NEXT
    ldr r6, [sp, #z]
    ldr r7, [r3, #p_depth]; cmp r6, r7; bcs NEXT
    muls r6, r5; adds r6, r4
    mov r4, r8; muls r6, r4
    mov r0, r11; adds r0, r6
    ldr r2, [sp, #window]
    ldr r3, [r3, #p_kernel_columns]
    mov r7, r10
ITEM:
    cmp r2, r8; bcs LESS
    ldr r4, [r0, r2]; asrs r5, r4, #31; lsrs r5, #1; eors r4, r5
    cmp r4, r7; ble LESS
    mov r7, r4
LESS:
    add r2, r9
    subs r3, #1; bne ITEM
    mov r10, r7
    ldr r3, [sp, #p]
NEXT:
    ldr r5, [r3, #p_row_dilation]
    ldr r4, [sp, #y]; adds r4, r5; str r4, [sp, #y]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    ldr r5, [r3, #p_depth_dilation]
    ldr r4, [sp, #z]; adds r4, r5; str r4, [sp, #z]
    ldr r4, [sp, #depth_left]; subs r4, #1; str r4, [sp, #depth_left]; bne DEPTH
    mov r4, r10; asrs r5, r4, #31; lsrs r5, #1; eors r4, r5
    ldr r2, [sp, #out]; str r4, [r2]
    adds r2, #4; str r2, [sp, #out]
    ldr r5, [r3, #p_column_stride]; lsls r5, #2
    ldr r4, [sp, #window]; adds r4, r5; str r4, [sp, #window]
    ldr r4, [sp, #column]; adds r4, #1; str r4, [sp, #column]
    b COLUMN
END:
    add sp, #32
    pop_high
endfunction max_row32
