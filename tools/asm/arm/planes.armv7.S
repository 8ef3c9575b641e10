// Copies rows of planes with padding around them: see loops/planes. Assembler, ARMv7-M.
//
// 5 instructions for 4 bytes that lie side by side, 6 for any other one.
//
// Forms: armv7m

#include "core.h"

function planes
    // r0 x, r1 its step, r2 out, r5 flip and r6 padding (four times), r7 elements left; r8 plane,
    // r9 y, r10 rows left, r11 planes left, r12 end of the row
    push {r8-r11}
    ldr r4, [r3, #p_x_start]; adds r0, r4; mov r8, r0
    ldr r4, [r3, #p_out_start]; adds r2, r4
    ldr r11, [r3, #p_planes]; ldr r1, [r3, #p_x_column_stride]; ldr r5, [r3, #p_flip]
    orr r5, r5, r5, lsl #8; orr r5, r5, r5, lsl #16
    ldr r6, [r3, #p_padding]; orr r6, r6, r6, lsl #8; orr r6, r6, r6, lsl #16
PLANE:
    ldr r4, [r3, #p_first_row]; sub r9, r4, #536870912
    ldr r10, [r3, #p_out_rows]
ROW:
    ldr r7, [r3, #p_out_columns]; add r12, r2, r7
    ldr r4, [r3, #p_rows]; cmp r9, r4; bcs OUTSIDE
    ldr r4, [r3, #p_x_row_stride]; mla r0, r9, r4, r8
    ldr r7, [r3, #p_left_padding]; adds r7, r2
    b LEFT_END
LEFT:
    strb r6, [r2], #1
LEFT_END:
    cmp r2, r7; bne LEFT
    ldr r7, [r3, #p_columns]
    cmp r1, #1; bne ANY
    subs r7, #4; blt LAST
FOUR:
    ldr r4, [r0], #4; eors r4, r5; str r4, [r2], #4
    subs r7, #4; bge FOUR
LAST:
    adds r7, #4
ANY:
    cmp r7, #0; beq RIGHT_END
ITEM:
    ldrb r4, [r0]
    adds r0, r1
    eors r4, r5; strb r4, [r2], #1
    subs r7, #1; bne ITEM
    b RIGHT_END
RIGHT:
    strb r6, [r2], #1
RIGHT_END:
    cmp r2, r12; bne RIGHT
    b ROW_END
OUTSIDE:
    subs r7, #4; blt RIGHT_END
FILL:
    str r6, [r2], #4
    subs r7, #4; bge FILL
    b RIGHT_END
ROW_END:
    add r9, #1
    subs r10, #1; bne ROW
    ldr r4, [r3, #p_x_plane_stride]; add r8, r4
    subs r11, #1; bne PLANE
    pop {r8-r11}
    movs r0, #0
endfunction planes
