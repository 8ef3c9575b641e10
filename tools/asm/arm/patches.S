// im2col of bytes: see loops/patches.
//
// thumb: ARMv6-M instructions only. 8 instructions a byte and 25 a row of a patch that lies within
// its image; 12 a byte on the border.
//
// armv7em: with DSP, for the sums. Of a patch that lies within its image 4 bytes take 14
// instructions, 6 if they lie side by side, and what is left of a row 7 each and 32 in all; 12 a
// byte on the border.
//
// Forms: thumb armv7em

#include "core.h"
#include "patches.h"

// On the stack, in bytes.
words 0, positions_left, row, column, record, is_within, patch_row, channels_left, rows_left
words 32, y, channel, corner_x, corner_y

function patches
    // r2 out, r6 sum, r8 width that is covered, r9 dilation, r10 x, r11 p, r12 padding, lr flip
    // (four times, with DSP)
    push_high
    mov r11, r3; mov r10, r0
    sub sp, #48
    mov r7, sp
    ldr r4, [r3, #p_positions]; str r4, [r7, #positions_left]
    ldr r4, [r3, #p_row]; str r4, [r7, #row]
    ldr r4, [r3, #p_column]; str r4, [r7, #column]
    ldr r4, [r3, #p_padding]; mov r12, r4
    ldr r4, [r3, #p_dilation_w]; mov r9, r4
#if ARMV7EM
    ldr r4, [r3, #p_flip]; orr r4, r4, r4, lsl #8; orr lr, r4, r4, lsl #16
#endif
POSITION:
    ldr r4, [r7, #row]
    ldr r5, [r3, #p_stride_h]; muls r4, r5
    ldr r5, [r3, #p_corner_y]; adds r4, r5
    movs r5, #1; lsls r5, #29; subs r4, r5; str r4, [r7, #corner_y]
    ldr r6, [r7, #column]
    ldr r1, [r3, #p_stride_w]; muls r6, r1
    ldr r1, [r3, #p_corner_x]; adds r6, r1; subs r6, r5; str r6, [r7, #corner_x]
    mov r0, r10
    ldr r1, [r3, #p_x]; adds r0, r1
    ldr r1, [r3, #p_y_step]; muls r1, r4; adds r0, r1
    ldr r1, [r3, #p_x_step]; muls r1, r6; adds r0, r1; str r0, [r7, #channel]
    ldr r1, [r3, #p_h]; cmp r4, r1; bcs BORDER
    ldr r0, [r3, #p_kh]; subs r0, #1
    ldr r5, [r3, #p_dilation_h]; muls r0, r5; adds r0, r4; cmp r0, r1
    bcs BORDER
    ldr r1, [r3, #p_w]; cmp r6, r1; bcs BORDER
    ldr r0, [r3, #p_kw]; subs r0, #1
    ldr r5, [r3, #p_dilation_w]; muls r0, r5; adds r0, r6; cmp r0, r1
    bcs BORDER
    movs r5, #1
    b GATHER
BORDER:
    movs r5, #0
GATHER:
    str r5, [r7, #is_within]
    str r2, [r7, #record]
    adds r2, #4
    movs r6, #0
    ldr r4, [r3, #p_channels]; str r4, [r7, #channels_left]
CHANNEL:
    ldr r0, [r7, #channel]; str r0, [r7, #patch_row]
    ldr r4, [r7, #corner_y]; str r4, [r7, #y]
    ldr r4, [r3, #p_kh]; str r4, [r7, #rows_left]
ROW:
    ldr r0, [r7, #patch_row]
    ldr r1, [r3, #p_kx_step]; ldr r5, [r3, #p_flip]
    ldr r4, [r7, #is_within]; cmp r4, #0; beq CLIPPED
    ldr r7, [r3, #p_kw]
#if ARMV7EM
    mov r8, #0
    subs r7, #4; blt LAST
    cmp r1, #1; beq SIDE_BY_SIDE
FOUR:
    ldrb r3, [r0]; ldrb r4, [r0, r1]
    add r0, r0, r1, lsl #1
    orr r3, r3, r4, lsl #8
    ldrb r4, [r0]; orr r3, r3, r4, lsl #16
    ldrb r4, [r0, r1]
    add r0, r0, r1, lsl #1
    orr r3, r3, r4, lsl #24; eor r3, r3, lr; str r3, [r2], #4
    usada8 r6, r3, r8, r6
    subs r7, #4; bge FOUR
    b LAST
SIDE_BY_SIDE:
    ldr r3, [r0], #4; eor r3, r3, lr; str r3, [r2], #4
    usada8 r6, r3, r8, r6
    subs r7, #4; bge SIDE_BY_SIDE
LAST:
    adds r7, #4; beq ROW_END
#else
    adds r7, r2
#endif
INSIDE:
    ldrb r4, [r0]; eors r4, r5
#if ARMV7EM
    strb r4, [r2], #1
#else
    strb r4, [r2]
#endif
    adds r6, r4; adds r0, r1
#if ARMV7EM
    subs r7, #1
#else
    adds r2, #1; cmp r2, r7
#endif
    bne INSIDE
    b ROW_END
CLIPPED:
    ldr r1, [r7, #y]
    ldr r4, [r3, #p_h]; cmp r1, r4; bcc COVERED
    movs r4, #0
    b WIDTH
COVERED:
    ldr r4, [r3, #p_w]
WIDTH:
    mov r8, r4
    ldr r1, [r3, #p_kx_step]; ldr r4, [r3, #p_kw]
    ldr r3, [r7, #corner_x]
    adds r7, r4, r2
EACH:
    cmp r3, r8; bcs PADDING
    ldrb r4, [r0]; eors r4, r5
    b PUT
PADDING:
    mov r4, r12
PUT:
    strb r4, [r2]
    adds r6, r4; adds r0, r1
    add r3, r9
    adds r2, #1; cmp r2, r7; bne EACH
ROW_END:
    mov r7, sp; mov r3, r11
    ldr r4, [r7, #patch_row]
    ldr r5, [r3, #p_ky_step]; adds r4, r5; str r4, [r7, #patch_row]
    ldr r4, [r7, #y]
    ldr r5, [r3, #p_dilation_h]; adds r4, r5; str r4, [r7, #y]
    ldr r4, [r7, #rows_left]; subs r4, #1; str r4, [r7, #rows_left]; bne ROW
    ldr r4, [r7, #channel]
    ldr r5, [r3, #p_c_step]; adds r4, r5; str r4, [r7, #channel]
    ldr r4, [r7, #channels_left]; subs r4, #1; str r4, [r7, #channels_left]; bne CHANNEL
    ldr r4, [r7, #record]; str r6, [r4]
    ldr r4, [r3, #p_tail]
    movs r5, #0
ZEROS:
    cmp r4, #0; beq NEXT
    strb r5, [r2]
    adds r2, #1; subs r4, #1
    b ZEROS
NEXT:
    ldr r4, [r7, #column]; adds r4, #1
    ldr r5, [r3, #p_width]; cmp r4, r5; bne COLUMN
    ldr r4, [r7, #row]; adds r4, #1; str r4, [r7, #row]
    movs r4, #0
COLUMN:
    str r4, [r7, #column]
    ldr r4, [r7, #positions_left]; subs r4, #1; str r4, [r7, #positions_left]; beq DONE
    b POSITION
DONE:
    add sp, #48
    pop_high
#if ARMV7EM
    movs r0, #0
#endif
endfunction patches
