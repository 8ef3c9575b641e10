// Block floating point after the sums: see loops/block_finish. Inline assembler, ARMv6-M opcodes.
//
// The viper form handles rare results: denormals, those beyond the largest float, and sums of which
// only the upper bits count beside a large bias.
//
// Forms: thumb

#include "core.h"


//> def finish(x, w, out, p):
//>     if _finish(x, w, out, p):
//>         from .. import block_finish
//>
//>         block_finish.finish(x, w, out, p)

// Offsets on the stack, in bytes.
words 0, p, channels_left, positions_left, rows_left, row_out, aligned, position_out
words 28, channel_bytes

function _finish
    // Returns 1 if it stopped at a rare result, else 0. r0 sums, r1 what align made;
    // of one sum r2, r3, r4 limbs, r5 shift, r7 twice the exponent, plus 1 if negative; r8, r9,
    // r10 what x takes from the limbs; r11, r12 low, high; lr out.
    push_high
    sub sp, #32
    str r3, [sp, #p]
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4
    ldr r4, [r3, #p_w_start]; lsls r4, #2; adds r1, r4; str r1, [sp, #aligned]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4; str r2, [sp, #row_out]
    ldr r4, [r3, #p_out_channel_stride]; lsls r4, #2; str r4, [sp, #channel_bytes]
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    ldr r4, [r3, #p_low]; ldr r5, [r3, #p_is_low_negative]; negs r5, r5; eors r4, r5
    subs r4, r5; mov r11, r4
    ldr r4, [r3, #p_high]; ldr r5, [r3, #p_is_high_negative]; negs r5, r5; eors r4, r5
    subs r4, r5; mov r12, r4
    b ROW
LARGE:  // the bias, in a unit of its own; r6 says how many bits it is above that of the sum
    cmp r6, #12; bge ALONE
    b RARE
ALONE:
    subs r1, #16; ldmia r1!, {r2-r4, r7}
    movs r5, #1; lsls r5, #29; subs r4, r5
    lsls r6, #10; subs r7, r6
    b CARRY
NEGATIVE:
    negs r2, r2; asrs r5, r2, #24; subs r3, r5, r3; asrs r5, r3, #24
    subs r4, r5, r4
    lsls r2, #8; lsrs r2, #8
    lsls r3, #8; lsrs r3, #8
    adds r7, #1
    b POSITIVE
BIG:  // more than 24 bits in the highest limb
    lsls r5, r3, #24; orrs r2, r5
    lsrs r3, #8
    lsls r5, r4, #24; lsrs r5, #8; orrs r3, r5
    lsrs r4, #8
    adds r7, #16
    b NORMALIZE
EMPTY:  // nothing in the highest limb
    mov r4, r3; mov r3, r2; movs r2, #0
    subs r7, #48
    cmp r4, #0; bne NORMALIZE
    mov r4, r3; movs r3, #0
    subs r7, #48
    cmp r4, #0; bne NORMALIZE
    b CLIP
ROW:
    ldr r3, [sp, #p]; ldr r4, [r3, #p_positions]; str r4, [sp, #positions_left]
    ldr r4, [sp, #row_out]; str r4, [sp, #position_out]
POSITION:
    ldr r4, [r3, #p_channels]; str r4, [sp, #channels_left]
    ldmia r0!, {r2-r4}; lsls r5, r2, #31; lsrs r5, #8; negs r5, r5
    mov r8, r5
    lsls r5, r3, #31; lsrs r5, #8
    lsrs r2, #1; adds r2, r5; negs r2, r2; mov r9, r2
    lsrs r3, #1
    movs r5, #1; lsls r5, #29; adds r3, r5; negs r3, r3
    mov r10, r3
    ldr r1, [sp, #aligned]; ldr r4, [sp, #position_out]; mov lr, r4
CHANNEL:
    ldmia r0!, {r2-r4}
    ldmia r1!, {r5-r7}; adds r2, r5; adds r3, r6
    adds r4, r7
    ldmia r1!, {r7}; lsrs r6, r7, #10; bne LARGE
    add r2, r8; add r3, r9; add r4, r10
CARRY:
    subs r7, #100; lsls r7, #1
    asrs r5, r2, #24; adds r3, r5
    lsls r2, #8; lsrs r2, #8
    asrs r5, r3, #24
    lsls r3, #8; lsrs r3, #8
    adds r4, r5; cmp r4, #0; blt NEGATIVE
POSITIVE:
    lsrs r5, r4, #24; bne BIG
    cmp r4, #0; beq EMPTY
NORMALIZE:
    movs r5, #0
    lsrs r6, r4, #12; bne LESS_THAN_12
    lsls r4, #12
    movs r5, #12
LESS_THAN_12:
    lsrs r6, r4, #18; bne LESS_THAN_6
    lsls r4, #6
    adds r5, #6
LESS_THAN_6:
    lsrs r6, r4, #21; bne LESS_THAN_3
    lsls r4, #3
    adds r5, #3
LESS_THAN_3:
    lsrs r6, r4, #23; bne NORMAL
    lsls r4, #1
    adds r5, #1
    lsrs r6, r4, #23; bne NORMAL
    lsls r4, #1
    adds r5, #1
NORMAL:
    lsls r6, r5, #1; subs r7, r6
    lsls r3, #8; mov r6, r3
    lsls r3, r5
    negs r5, r5; adds r5, #32; lsrs r6, r5; orrs r4, r6
    lsls r5, r3, #1  // the first bit behind the mantissa is the carry now
    bcc ROUNDED
    bne UP
    cmp r2, #0; bne UP
    lsrs r5, r4, #1; bcc ROUNDED
UP:
    adds r4, #1
ROUNDED:
    asrs r6, r7, #1; subs r6, #1; cmp r6, #253; bhi RARE
    lsls r6, #23; adds r4, r6
    lsls r6, r7, #31; asrs r6, #31; eors r4, r6; subs r4, r6
CLIP:
    cmp r4, r11; bge NOT_LOW
    mov r4, r11
NOT_LOW:
    cmp r4, r12; ble NOT_HIGH
    mov r4, r12
NOT_HIGH:
    ldr r3, [sp, #p]; ldr r5, [r3, #p_is_maximum]; cmp r5, #0; beq SIGN
    mov r6, lr; ldr r5, [r6]; cmp r5, #0; bge OLD
    movs r6, #1; lsls r6, #31; subs r5, r6, r5
OLD:
    cmp r4, r5; bge SIGN
    mov r4, r5
SIGN:
    cmp r4, #0; bge WRITE
    movs r6, #1; lsls r6, #31; subs r4, r6, r4
WRITE:
    mov r6, lr; str r4, [r6]
    ldr r5, [sp, #channel_bytes]; adds r6, r5; mov lr, r6
    ldr r5, [sp, #channels_left]; subs r5, #1; str r5, [sp, #channels_left]
    beq CHANNELS
    b CHANNEL
RARE:
    movs r0, #1
    b END
CHANNELS:
    ldr r3, [sp, #p]; ldr r5, [r3, #p_out_position_stride]; lsls r5, #2
    ldr r4, [sp, #position_out]; adds r4, r5; str r4, [sp, #position_out]
    ldr r4, [sp, #positions_left]; subs r4, #1; str r4, [sp, #positions_left]
    beq POSITIONS
    b POSITION
POSITIONS:
    ldr r4, [r3, #p_channels]; adds r4, #1
    ldr r5, [r3, #p_skipped_positions]; muls r4, r5
    movs r5, #12; muls r4, r5; adds r0, r4
    ldr r5, [r3, #p_out_row_stride]; lsls r5, #2
    ldr r4, [sp, #row_out]; adds r4, r5; str r4, [sp, #row_out]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; beq GOOD
    b ROW
GOOD:
    movs r0, #0
END:
    add sp, #32
    pop_high
endfunction _finish
