// Short block floating point after the sums: see loops/short. Inline assembler, ARMv6-M opcodes.
//
// The viper form handles rare results: denormals, and those beyond the largest float.
//
// Forms: thumb

#include "core.h"

//+ align

//> def finish(x, w, out, p):
//>     if _finish(x, w, out, p):
//>         from .. import short
//>
//>         short.finish(x, w, out, p)

// Offsets on the stack, in bytes.
words 0, positions_left, rows_left, row_out, aligned, position_out

function _finish
    // Returns 1 if it stopped at a rare result, else 0. r0 sums, r1 what align made,
    // r2 out, r3 p; of a sum r4 its size, later bits of a float, r6 -1 if negative, r7 the
    // exponent; r8 -2**30, r9, r10 low, high, r11 step of a channel, r12 channels left.
    push_high
    sub sp, #24
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4
    ldr r4, [r3, #p_w_start]; lsls r4, #2; adds r1, r4; str r1, [sp, #aligned]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4; str r2, [sp, #row_out]
    ldr r4, [r3, #p_out_channel_stride]; lsls r4, #2; mov r11, r4
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    movs r4, #3; lsls r4, #30; mov r8, r4
    ldr r4, [r3, #p_low]; ldr r5, [r3, #p_is_low_negative]; negs r5, r5; eors r4, r5
    subs r4, r5; mov r9, r4
    ldr r4, [r3, #p_high]; ldr r5, [r3, #p_is_high_negative]; negs r5, r5; eors r4, r5
    subs r4, r5; mov r10, r4
ROW:
    ldr r4, [r3, #p_positions]; str r4, [sp, #positions_left]
    ldr r2, [sp, #row_out]
POSITION:
    str r2, [sp, #position_out]
    ldr r1, [sp, #aligned]
    ldr r4, [r3, #p_channels]; mov r12, r4
CHANNEL:
    ldmia r1!, {r5-r7}
    ldmia r0!, {r4}; add r4, r8; add r6, r8
    asrs r4, r5; adds r4, r6; asrs r6, r4, #31; eors r4, r6
    subs r4, r6; beq CLIP
    subs r7, #142
    lsrs r5, r4, #15; bne OVER_15
    lsls r4, #16
    subs r7, #16
OVER_15:
    lsrs r5, r4, #23; bne OVER_23
    lsls r4, #8
    subs r7, #8
OVER_23:
    lsrs r5, r4, #27; bne OVER_27
    lsls r4, #4
    subs r7, #4
OVER_27:
    lsrs r5, r4, #29; bne OVER_29
    lsls r4, #2
    subs r7, #2
OVER_29:
    lsrs r5, r4, #30; bne NORMAL
    lsls r4, #1
    subs r7, #1
NORMAL:
    cmp r7, #253; bhi RARE
    lsls r5, r4, #26  // the first bit behind the mantissa is the carry now
    bcc DOWN
    lsrs r4, #7
    cmp r5, #0; bne UP
    lsrs r5, r4, #1; bcc ROUNDED
UP:
    adds r4, #1
    b ROUNDED
RARE:
    movs r0, #1
    b END
DOWN:
    lsrs r4, #7
ROUNDED:
    lsls r7, #23; adds r4, r7; eors r4, r6; subs r4, r6
CLIP:
    cmp r4, r9; bge NOT_LOW
    mov r4, r9
NOT_LOW:
    cmp r4, r10; ble NOT_HIGH
    mov r4, r10
NOT_HIGH:
    ldr r5, [r3, #p_is_maximum]; cmp r5, #0; beq SIGN
    ldr r5, [r2]; cmp r5, #0; bge OLD
    movs r6, #1; lsls r6, #31; subs r5, r6, r5
OLD:
    cmp r4, r5; bge SIGN
    mov r4, r5
SIGN:
    cmp r4, #0; bge WRITE
    movs r6, #1; lsls r6, #31; subs r4, r6, r4
WRITE:
    str r4, [r2]
    add r2, r11
    mov r5, r12; subs r5, #1; mov r12, r5
    bne CHANNEL
    ldr r2, [sp, #position_out]
    ldr r5, [r3, #p_out_position_stride]; lsls r5, #2; adds r2, r5
    ldr r4, [sp, #positions_left]; subs r4, #1; str r4, [sp, #positions_left]
    bne POSITION
    ldr r4, [r3, #p_channels]; ldr r5, [r3, #p_skipped_positions]; muls r4, r5; lsls r4, #2
    adds r0, r4
    ldr r5, [r3, #p_out_row_stride]; lsls r5, #2
    ldr r4, [sp, #row_out]; adds r4, r5; str r4, [sp, #row_out]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    movs r0, #0
END:
    add sp, #24
    pop_high
endfunction _finish
