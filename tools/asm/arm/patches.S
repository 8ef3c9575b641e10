// im2col of bytes: see loops/patches.
//
// thumb: ARMv6-M instructions only. 5.8 instructions a byte, 8 of the last up to three of a row,
// and 28 a row of a patch that lies within its image; 16 a row of three bytes that lie side by
// side; 12 a byte on the border.
//
// armv7m: of a patch that lies within its image 4 bytes take 19 instructions, 11 if they lie side
// by side, and what is left of a row 7 each and 32 in all; a row of three bytes side by side takes
// 13. 12 a byte on the border. 4 channels of 4 positions whose patches are nothing but channels
// take 46.
//
// armv7em: the same with DSP, for the sums: 4 bytes take 14 instructions, 6 side by side, and a row
// of three 9.
//
// Forms: thumb armv7m armv7em

#include "core.h"

// Offsets on the stack, in bytes.
words 0, positions_left, row, column, record, is_within, patch_row, channels_left, rows_left
words 32, y, channel, corner_x, corner_y
words 48, x, p, flip, items_end, plane, padding

#if THUMB
.macro put_byte i
    ldrb r4, [r0]; eors r4, r5; strb r4, [r2, #\i]
    adds r6, r4; adds r0, r1
.endm
#else
// r6 += the four bytes in r3.
.macro add_bytes
#if ARMV7EM
    usada8 r6, r3, r8, r6
#else
    and r4, r3, r8; and r3, r8, r3, lsr #8; add r3, r4
    add r6, r6, r3, lsr #16; uxth r3, r3; adds r6, r3
#endif
.endm

// Elements of two channels, \a and \b: the even ones in \even, the others in \a. Changes \b, r12.
.macro pairs_of a, b, even
    and \even, \a, lr; add r9, \even
    and r12, \b, lr; add r9, r12; orr \even, \even, r12, lsl #8
    and \a, lr, \a, lsr #8; add r10, \a
    and \b, lr, \b, lsr #8; add r10, \b; orr \a, \a, \b, lsl #8
.endm
#endif

function patches
    // r2 out, r6 sum, r8 width that is covered, r9 dilation, r10 x, r11 p, r12 padding, lr flip
    // (four times, but on ARMv6-M)
    push_high
    ldr r4, [r3, #p_padding]
    ldr r5, [r3, #p_zero_start]; cmp r5, #0; beq KNOWN
    ldrb r4, [r2, r5]
KNOWN:
#if THUMB
    mov r12, r4
    mov r11, r3; mov r10, r0
    sub sp, #48
    mov r7, sp
    ldr r4, [r3, #p_positions]; str r4, [r7, #positions_left]
    ldr r4, [r3, #p_row]; str r4, [r7, #row]
    ldr r4, [r3, #p_column]; str r4, [r7, #column]
#else
    sub sp, #72
    str r0, [sp, #x]; str r3, [sp, #p]; str r4, [sp, #padding]
    ldr r4, [r3, #p_positions]; ldrd r5, r6, [r3, #p_row]
    add r7, sp, #positions_left; stmia r7!, {r4-r6}
    // Channels alone, a multiple of 4 of them, at positions that lie side by side?
    ldr r8, [r3, #p_column_dilation]; cmp r8, #0; bne ANY
    cmp r4, #4; blt ANY
    ldrd r7, r8, [r3, #p_channels]; ldr r9, [r3, #p_record_padding]
    eor r7, r7, r8; orr r9, r9, r7; eor r8, r8, #1; orr r9, r9, r8
    ldrd r7, r8, [r3, #p_row_stride]; eor r7, r7, #1; eor r8, r8, #1
    orr r9, r9, r7; orr r9, r9, r8
    ldr r8, [r3, #p_x_column_stride]; eor r8, r8, #1; orr r9, r9, r8
    ldr r7, [r3, #p_out_columns]; ldr r8, [r3, #p_x_row_stride]; eor r8, r8, r7; orr r9, r9, r8
    ldrd r10, r11, [r3, #p_rows]; eor r8, r11, r7; orr r9, r9, r8
    ldrd r8, r12, [r3, #p_corner_row]; eor r8, r8, #0x20000000; eor r12, r12, #0x20000000
    orr r9, r9, r8; orr r9, r9, r12
    ldr r8, [r3, #p_kernel_columns]; and r12, r8, #3; orrs r9, r9, r12; bne ANY
    sub r12, r8, #1; cmp r12, #256; bcs ANY  // sums of halfwords
    mla r5, r5, r7, r6; mul r10, r10, r7; add r6, r5, r4; cmp r6, r10; bhi ANY
    str r6, [sp, #items_end]  // a position; of these r5 is the first
    ldr r6, [r3, #p_x_start]; adds r0, r6; adds r0, r5; str r0, [sp, #plane]
    ldr r1, [r3, #p_kernel_column_step]
    ldr r6, [r3, #p_flip]; orr r6, r6, r6, lsl #8; orr r6, r6, r6, lsl #16; str r6, [sp, #flip]
    mov lr, #0x00FF00FF; mov r11, r8; add r8, r8, #4
FOUR_POSITIONS:  // r9, r10: sums of the even and the odd ones of four; r8: bytes a patch
    ldr r0, [sp, #plane]
    movs r3, #0; mov r9, r3; mov r10, r3
    adds r2, #4; add r3, r2, r11; str r3, [sp, #items_end]
FOUR_CHANNELS:
    ldr r4, [r0]; ldr r5, [r0, r1]
    add r0, r0, r1, lsl #1
    ldr r6, [r0]; ldr r7, [r0, r1]
    add r0, r0, r1, lsl #1
    ldr r12, [sp, #flip]
    eor r4, r4, r12; eor r5, r5, r12; eor r6, r6, r12; eor r7, r7, r12
    pairs_of r4, r5, r3
    pairs_of r6, r7, r5
    lsrs r7, r3, #16; bfi r3, r5, #16, #16; bfi r5, r7, #0, #16
    lsrs r7, r4, #16; bfi r4, r6, #16, #16; bfi r6, r7, #0, #16
    add r7, r2, r8, lsl #1
    str r4, [r2, r8]; str r3, [r2], #4
    str r6, [r7, r8]; str r5, [r7]
    ldr r7, [sp, #items_end]; cmp r2, r7; bne FOUR_CHANNELS
    sub r2, r2, r8
    uxth r4, r9; str r4, [r2]
    uxth r4, r10; str r4, [r2, r8]
    add r2, r2, r8, lsl #1
    lsr r4, r9, #16; str r4, [r2]
    lsr r4, r10, #16; str r4, [r2, r8]
    add r2, r2, r8, lsl #1
    ldr r4, [sp, #plane]; adds r4, #4; str r4, [sp, #plane]
    ldr r4, [sp, #positions_left]; subs r4, #4; str r4, [sp, #positions_left]; cmp r4, #4
    bge FOUR_POSITIONS
    cmp r4, #0; beq.w DONE
    ldr r3, [sp, #p]; ldrd r5, r6, [r3, #p_row]; ldr r7, [r3, #p_positions]; subs r7, r4
    add r6, r7; ldr r7, [r3, #p_out_columns]; udiv r8, r6, r7; mls r6, r8, r7, r6; add r5, r8
    strd r5, r6, [sp, #row]
ANY:
    ldr r0, [sp, #x]; ldr r3, [sp, #p]
    mov r11, r3; mov r10, r0
    mov r7, sp
#endif
    ldr r4, [r7, #column]; ldr r5, [r3, #p_out_columns]; ldr r6, [r7, #row]
WRAP:
    cmp r4, r5; bcc WRAPPED
    subs r4, r5; adds r6, #1
    b WRAP
WRAPPED:
    str r4, [r7, #column]; str r6, [r7, #row]
#if !THUMB
    ldr r12, [sp, #padding]
#endif
    ldr r4, [r3, #p_column_dilation]; mov r9, r4
#if !THUMB
    ldr r4, [r3, #p_flip]; orr r4, r4, r4, lsl #8; orr lr, r4, r4, lsl #16
#endif
POSITION:
    ldr r4, [r7, #row]
    ldr r5, [r3, #p_row_stride]; muls r4, r5
    ldr r5, [r3, #p_corner_row]; adds r4, r5
    movs r5, #1; lsls r5, #29; subs r4, r5; str r4, [r7, #corner_y]
    ldr r6, [r7, #column]
    ldr r1, [r3, #p_column_stride]; muls r6, r1
    ldr r1, [r3, #p_corner_column]; adds r6, r1; subs r6, r5; str r6, [r7, #corner_x]
    mov r0, r10
    ldr r1, [r3, #p_x_start]; adds r0, r1
    ldr r1, [r3, #p_x_row_stride]; muls r1, r4; adds r0, r1
    ldr r1, [r3, #p_x_column_stride]; muls r1, r6; adds r0, r1; str r0, [r7, #channel]
    ldr r1, [r3, #p_rows]; cmp r4, r1; bcs BORDER
    ldr r0, [r3, #p_kernel_rows]; subs r0, #1
    ldr r5, [r3, #p_row_dilation]; muls r0, r5; adds r0, r4; cmp r0, r1
    bcs BORDER
    ldr r1, [r3, #p_columns]; cmp r6, r1; bcs BORDER
    ldr r0, [r3, #p_kernel_columns]; subs r0, #1
    ldr r5, [r3, #p_column_dilation]; muls r0, r5; adds r0, r6; cmp r0, r1
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
    // Rows of three bytes that lie side by side, in the image?
    cmp r5, #0; beq CHANNEL
    ldr r0, [r3, #p_kernel_column_step]; cmp r0, #1; bne CHANNEL
    ldr r0, [r3, #p_kernel_columns]; cmp r0, #3; bne CHANNEL
#if THUMB
    ldr r5, [r3, #p_flip]
THREES:
    ldr r0, [r7, #channel]
    ldr r4, [r3, #p_x_channel_stride]; adds r4, r0; str r4, [r7, #channel]
    ldr r1, [r3, #p_kernel_row_step]; ldr r7, [r3, #p_kernel_rows]
THREE:
    ldrb r4, [r0]; eors r4, r5; strb r4, [r2]; adds r6, r4
    ldrb r4, [r0, #1]; eors r4, r5; strb r4, [r2, #1]; adds r6, r4
    ldrb r4, [r0, #2]; eors r4, r5; strb r4, [r2, #2]; adds r6, r4
    adds r0, r1; adds r2, #3; subs r7, #1; bne THREE
    mov r7, sp
    ldr r4, [r7, #channels_left]; subs r4, #1; str r4, [r7, #channels_left]; bne THREES
#else
    // A store of four bytes must not reach beyond the last patch.
    ldr r0, [r7, #positions_left]; ldr r1, [r3, #p_record_padding]; cmp r1, #0; it eq; cmpeq r0, #1
    beq CHANNEL
#if ARMV7EM
    mov r8, #0
#endif
    ldr r1, [r3, #p_kernel_row_step]; ldr r12, [r3, #p_channels]; ldr r7, [r7, #channel]
THREES:
    mov r0, r7
    ldr r4, [r11, #p_x_channel_stride]; add r7, r4
    ldr r5, [r11, #p_kernel_rows]
THREE:
    ldrh r3, [r0]; ldrb r4, [r0, #2]
    add r0, r1
    orr r3, r3, r4, lsl #16; eor r3, r3, lr, lsr #8; str r3, [r2], #3
#if ARMV7EM
    usada8 r6, r3, r8, r6
#else
    uxtb r4, r3
    add r6, r4
    ubfx r4, r3, #8, #8
    add r6, r4
    add r6, r6, r3, lsr #16
#endif
    subs r5, #1; bne THREE
    subs r12, #1; bne THREES
    mov r7, sp; mov r3, r11
    ldr r12, [r7, #padding]
#endif
    b PATCH_END
CHANNEL:
    ldr r0, [r7, #channel]; str r0, [r7, #patch_row]
    ldr r4, [r7, #corner_y]; str r4, [r7, #y]
    ldr r4, [r3, #p_kernel_rows]; str r4, [r7, #rows_left]
ROW:
    ldr r0, [r7, #patch_row]
    ldr r1, [r3, #p_kernel_column_step]; ldr r5, [r3, #p_flip]
    ldr r4, [r7, #is_within]; cmp r4, #0; beq CLIPPED
    ldr r7, [r3, #p_kernel_columns]
#if !THUMB
#if ARMV7EM
    mov r8, #0
#else
    mov r8, #0x00FF00FF
#endif
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
    add_bytes
    subs r7, #4; bge FOUR
    b LAST
SIDE_BY_SIDE:
    ldr r3, [r0], #4; eor r3, r3, lr; str r3, [r2], #4
    add_bytes
    subs r7, #4; bge SIDE_BY_SIDE
LAST:
    adds r7, #4; beq ROW_END
#else
    subs r7, #4; blt REST
FOUR:
    put_byte 0; put_byte 1; put_byte 2; put_byte 3
    adds r2, #4; subs r7, #4; bge FOUR
REST:
    adds r7, #4; beq ROW_END
    adds r7, r2
#endif
INSIDE:
    ldrb r4, [r0]; eors r4, r5
#if !THUMB
    strb r4, [r2], #1
#else
    strb r4, [r2]
#endif
    adds r6, r4; adds r0, r1
#if !THUMB
    subs r7, #1
#else
    adds r2, #1; cmp r2, r7
#endif
    bne INSIDE
    b ROW_END
CLIPPED:
    ldr r1, [r7, #y]
    ldr r4, [r3, #p_rows]; cmp r1, r4; bcc COVERED
    movs r4, #0
    b WIDTH
COVERED:
    ldr r4, [r3, #p_columns]
WIDTH:
    mov r8, r4
    ldr r1, [r3, #p_kernel_column_step]; ldr r4, [r3, #p_kernel_columns]
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
    ldr r5, [r3, #p_kernel_row_step]; adds r4, r5; str r4, [r7, #patch_row]
    ldr r4, [r7, #y]
    ldr r5, [r3, #p_row_dilation]; adds r4, r5; str r4, [r7, #y]
    ldr r4, [r7, #rows_left]; subs r4, #1; str r4, [r7, #rows_left]; bne ROW
    ldr r4, [r7, #channel]
    ldr r5, [r3, #p_x_channel_stride]; adds r4, r5; str r4, [r7, #channel]
    ldr r4, [r7, #channels_left]; subs r4, #1; str r4, [r7, #channels_left]; bne CHANNEL
PATCH_END:
    ldr r4, [r7, #record]; str r6, [r4]
    ldr r4, [r3, #p_record_padding]
    movs r5, #0
ZEROS:
    cmp r4, #0; beq NEXT
    strb r5, [r2]
    adds r2, #1; subs r4, #1
    b ZEROS
NEXT:
    ldr r4, [r7, #column]; adds r4, #1
    ldr r5, [r3, #p_out_columns]; cmp r4, r5; bne COLUMN
    ldr r4, [r7, #row]; adds r4, #1; str r4, [r7, #row]
    movs r4, #0
COLUMN:
    str r4, [r7, #column]
    ldr r4, [r7, #positions_left]; subs r4, #1; str r4, [r7, #positions_left]; beq DONE
    b POSITION
DONE:
#if THUMB
    add sp, #48
#else
    add sp, #72
#endif
    pop_high
#if !THUMB
    movs r0, #0
#endif
endfunction patches
