// Prepares a convolution of float32 in the FPU: see loops/vfp/fpu.
//
// consts is scale (2**(exponent - 127)) and bias of each channel:
//     x    biases;  w  exponents, a byte each
//     p    first channel, channels, first element of out, 1 if there are biases, else 0
//
// strips copies rows of planes, with zeros around them, runs of phase_columns for each phase:
//     p    first element of x, planes, elements from plane to plane, H, W, rows, image rows from
//          one to the next, row and column of the first (BIAS + each), phases (column 0, phases,
//          ...; column 1, ...), phase_columns, first element of out
//
// Forms: vfp

#include "core.h"

// Parameters.
words 0, p_first, p_channels, p_consts_out, p_has_biases
words 0, p_x, p_planes, p_plane_step, p_h, p_w, p_rows, p_row_step, p_row, p_column
words 36, p_phases, p_phase_columns, p_out

function consts
    ldr r4, [r3, #p_first]; add r0, r0, r4, lsl #2
    adds r1, r4
    ldr r4, [r3, #p_consts_out]; add r2, r2, r4, lsl #2
    ldr r4, [r3, #p_channels]; ldr r3, [r3, #p_has_biases]
    movs r6, #0
CHANNEL:
    ldrb r5, [r1], #1; lsls r5, #23
    cmp r3, #0
    it ne; ldrne r6, [r0], #4; strd r5, r6, [r2], #8
    subs r4, #1; bne CHANNEL
    movs r0, #0
endfunction consts

function strips
    push {r8-r11}
    mov r8, r3
    ldr r4, [r3, #p_x]; add r9, r0, r4, lsl #2
    ldr r4, [r3, #p_out]; add r2, r2, r4, lsl #2
    ldr r11, [r3, #p_planes]
PLANE:
    ldr r10, [r8, #p_rows]; ldr r4, [r8, #p_row]; sub r12, r4, #536870912
ROW:
    ldr r6, [r8, #p_w]; mul r5, r12, r6
    ldr r4, [r8, #p_h]; cmp r12, r4; bcc COVERED
    movs r6, #0
COVERED:
    ldr r4, [r8, #p_column]; sub r0, r4, #536870912; adds r5, r0; add r5, r9, r5, lsl #2
    mov lr, #0
PHASE:
    ldr r4, [r8, #p_column]; sub r0, r4, #536870912; add r0, lr
    add r1, r5, lr, lsl #2
    ldr r3, [r8, #p_phase_columns]; ldr r4, [r8, #p_phases]
ITEM:
    cmp r4, #1; bne ONE
    cmp r3, #4; blt ONE
    cmp r0, r6; bcs ONE
    adds r7, r0, #3; cmp r7, r6; bcs ONE
FOUR:
    vldmia r1!, {s0-s3}; vstmia r2!, {s0-s3}
    adds r0, #4; subs r3, #4; bne ITEM
    b PHASED
ONE:
    cmp r0, r6
    ite cc; ldrcc r7, [r1]; movcs r7, #0; str r7, [r2], #4
    adds r0, r4
    add r1, r1, r4, lsl #2
    subs r3, #1; bne ITEM
PHASED:
    add lr, #1; cmp lr, r4; bne PHASE
    ldr r4, [r8, #p_row_step]; add r12, r4
    subs r10, #1; bne ROW
    ldr r4, [r8, #p_plane_step]; add r9, r9, r4, lsl #2
    subs r11, #1; bne PLANE
    pop {r8-r11}
    movs r0, #0
endfunction strips
