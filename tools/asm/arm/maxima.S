// Largest byte of each window: see loops/maxima. Assembler, ARMv6-M instructions only.
//
// 8 instructions an element, 5 a row of a window, 35 a window.
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes.
words 0, planes_left, lines_left, line_top, first_row, rows

function maxima8
    // r8 p, r9 plane, r10 out, r11 width, r12 left end of the window, lr windows left
    push_high
    sub sp, #20
    mov r8, r3
    ldr r4, [r3, #p_x_start]; adds r0, r4; mov r9, r0
    ldr r4, [r3, #p_out_start]; adds r2, r4; mov r10, r2
    ldr r4, [r3, #p_columns]; mov r11, r4; mov r7, sp
    ldr r4, [r3, #p_planes]; str r4, [r7, #planes_left]
PLANE:
    movs r4, #1; lsls r4, #29
    ldr r5, [r3, #p_row_padding]; subs r4, r5; str r4, [r7, #line_top]
    ldr r4, [r3, #p_out_rows]; str r4, [r7, #lines_left]
LINE:
    ldr r4, [r7, #line_top]
    ldr r5, [r3, #p_kernel_rows]; adds r5, r4
    cmp r4, #0; bge TOP
    movs r4, #0
TOP:
    ldr r6, [r3, #p_rows]; cmp r5, r6; ble BOTTOM
    mov r5, r6
BOTTOM:
    subs r5, r4; str r5, [r7, #rows]
    mov r5, r11; muls r4, r5; add r4, r9; str r4, [r7, #first_row]
    movs r4, #1; lsls r4, #29
    ldr r5, [r3, #p_column_padding]; subs r4, r5; mov r12, r4
    ldr r4, [r3, #p_out_columns]; mov lr, r4
WINDOW:
    mov r3, r8; mov r7, sp; mov r0, r12
    ldr r2, [r3, #p_kernel_columns]; adds r2, r0
    cmp r0, #0; bge LEFT
    movs r0, #0
LEFT:
    cmp r2, r11; ble RIGHT
    mov r2, r11
RIGHT:
    subs r2, r0
    movs r4, #0
    ldr r5, [r3, #p_flip]
    ldr r6, [r7, #rows]
    cmp r2, #0; ble STORE
    cmp r6, #0; ble STORE
    ldr r1, [r7, #first_row]; adds r0, r1
ROW:
    adds r7, r0, r2
ITEM:
    ldrb r1, [r0]; eors r1, r5; cmp r1, r4; ble LESS
    mov r4, r1
LESS:
    adds r0, #1; cmp r0, r7; bne ITEM
    subs r0, r2; add r0, r11
    subs r6, #1; bne ROW
STORE:
    eors r4, r5
    mov r1, r10; strb r4, [r1]
    adds r1, #1; mov r10, r1
    ldr r1, [r3, #p_column_stride]; add r12, r1
    mov r1, lr; subs r1, #1; mov lr, r1
    bne WINDOW
    mov r7, sp; ldr r4, [r7, #line_top]
    ldr r5, [r3, #p_row_stride]; adds r4, r5; str r4, [r7, #line_top]
    ldr r4, [r7, #lines_left]; subs r4, #1; str r4, [r7, #lines_left]; bne LINE
    ldr r4, [r3, #p_rows]
    mov r5, r11; muls r4, r5; add r9, r4
    ldr r4, [r7, #planes_left]; subs r4, #1; str r4, [r7, #planes_left]; beq DONE
    b PLANE
DONE:
    add sp, #20
    pop_high
endfunction maxima8
