// Copies rows of planes with padding: see loops/planes. Assembler, ARMv6-M instructions only.
//
// 7 instructions a byte, 4 of padding, 30 a row.
//
// Forms: thumb

#include "core.h"

function planes
    // r0 x, r1 its step, r2 out, r5 flip, r6 padding, r7 end; r8 plane, r9 y, r10 rows left, r11
    // planes left, r12 end of the row
    push_high
    ldr r4, [r3, #p_x_start]; adds r0, r4; mov r8, r0
    ldr r4, [r3, #p_out_start]; adds r2, r4
    ldr r4, [r3, #p_planes]; mov r11, r4
    ldr r1, [r3, #p_x_column_stride]; ldr r5, [r3, #p_flip]; ldr r6, [r3, #p_padding]
PLANE:
    ldr r4, [r3, #p_first_row]
    movs r7, #1; lsls r7, #29; subs r4, r7; mov r9, r4
    ldr r4, [r3, #p_out_rows]; mov r10, r4
ROW:
    ldr r7, [r3, #p_out_columns]; adds r7, r2; mov r12, r7; mov r4, r9
    ldr r7, [r3, #p_rows]; cmp r4, r7; bcs RIGHT_END
    ldr r7, [r3, #p_x_row_stride]; muls r4, r7
    mov r0, r8; adds r0, r4
    ldr r7, [r3, #p_left_padding]; adds r7, r2
    b LEFT_END
LEFT:
    strb r6, [r2]
    adds r2, #1
LEFT_END:
    cmp r2, r7; bne LEFT
    ldr r7, [r3, #p_columns]; adds r7, r2
    b ITEMS_END
ITEMS:
    ldrb r4, [r0]; eors r4, r5; strb r4, [r2]
    adds r0, r1; adds r2, #1
ITEMS_END:
    cmp r2, r7; bne ITEMS
RIGHT_END:
    mov r7, r12
    b ROW_END
RIGHT:
    strb r6, [r2]
    adds r2, #1
ROW_END:
    cmp r2, r7; bne RIGHT
    movs r4, #1; add r9, r4
    mov r4, r10; subs r4, #1; mov r10, r4
    bne ROW
    ldr r4, [r3, #p_x_plane_stride]; add r8, r4
    mov r4, r11; subs r4, #1; mov r11, r4
    bne PLANE
    pop_high
endfunction planes
