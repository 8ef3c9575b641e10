// Sums of a convolution of float32 in the FPU, for loops/vfp/fpu. Inline assembler with VFP.
//
// Weights are mantissas, x and sums floats. 1.4 instructions a multiply-accumulate of 16
// positions, 1.6 of 8, 2.2 of 4.
//
//     x    rows: a tap of the kernel reads position i at i * 4 bytes behind its offset
//     w    mantissas (groups, M, taps, inner)
//     p    (offsets and steps in bytes) 0 first of x, groups, step of x, rows, step of x, 5
//          positions, positions that may be read (at least 4), M, taps, inner, 10 step of inner,
//          first of w, consts (in p), 13 first of out, its steps for a position, channel and row,
//          17 clip (0 no, 1 below 0, 2 both), bits of low and high, 20 width of windows whose
//          largest result is kept, 2 (no windows), 0 (their first row) or 1, 22 offset of each tap
//          in x
//
// Forms: vfp

#include "core.h"

// Parameters.
words 0, p_x, p_groups, p_group_step, p_rows, p_row_step, p_positions, p_readable
words 28, p_channels, p_taps, p_inner, p_inner_step, p_weights, p_consts, p_out
words 56, p_out_position, p_out_channel, p_out_row, p_clips, p_low, p_high, p_window
words 84, p_keeps, p_places

// Offsets on the stack, in bytes. start, valid, tile: first position, those that count, those
// computed.
words 0, groups_left, group_x, group_w, group_consts, group_out, rows_left, row_x, row_out
words 32, start, valid, tile, keeps, window_left
words 64, tile_sums
words 128, zeros

// Sums of 4, 8 or the latter 8 of 16 positions += x of as many times a weight.
.macro add_4 weight
    vfma.f32 s0, s16, \weight; vfma.f32 s1, s17, \weight
    vfma.f32 s2, s18, \weight; vfma.f32 s3, s19, \weight
.endm

.macro add_8 weight
    add_4 \weight
    vfma.f32 s4, s20, \weight; vfma.f32 s5, s21, \weight
    vfma.f32 s6, s22, \weight; vfma.f32 s7, s23, \weight
.endm

.macro add_latter_8 weight
    vfma.f32 s8, s16, \weight; vfma.f32 s9, s17, \weight
    vfma.f32 s10, s18, \weight; vfma.f32 s11, s19, \weight
    vfma.f32 s12, s20, \weight; vfma.f32 s13, s21, \weight
    vfma.f32 s14, s22, \weight; vfma.f32 s15, s23, \weight
.endm

.macro add_16 weight
    vldmia r0!, {s16-s23}; add_8 \weight
    vldmia r0, {s16-s23}; add_latter_8 \weight
    adds r0, r3
.endm

// Sums of positions: times the channel's scale, plus its bias.
.macro finish_4 a, b, c, d
    vmul.f32 \a, \a, s16; vmul.f32 \b, \b, s16; vmul.f32 \c, \c, s16; vmul.f32 \d, \d, s16
    vadd.f32 \a, \a, s17; vadd.f32 \b, \b, s17; vadd.f32 \c, \c, s17; vadd.f32 \d, \d, s17
.endm

.macro finish_latter_8
    vmul.f32 s8, s8, s16; vmul.f32 s9, s9, s16; vmul.f32 s10, s10, s16; vmul.f32 s11, s11, s16
    vmul.f32 s12, s12, s16; vmul.f32 s13, s13, s16; vmul.f32 s14, s14, s16; vmul.f32 s15, s15, s16
    vadd.f32 s8, s8, s17; vadd.f32 s9, s9, s17; vadd.f32 s10, s10, s17; vadd.f32 s11, s11, s17
    vadd.f32 s12, s12, s17; vadd.f32 s13, s13, s17; vadd.f32 s14, s14, s17; vadd.f32 s15, s15, s17
.endm

function sums
    push {r8-r11}
    vpush {s16-s31}
    sub sp, #192
    mov r8, r3
    add r6, sp, #zeros
    movs r4, #0; movs r5, #16
ZERO:
    str r4, [r6], #4
    subs r5, #1; bne ZERO
    vmov.f32 s31, #2.0
    ldr r4, [r3, #p_x]; adds r4, r0; str r4, [sp, #group_x]
    ldr r4, [r3, #p_weights]; adds r4, r1; str r4, [sp, #group_w]
    ldr r4, [r3, #p_consts]; adds r4, r3; str r4, [sp, #group_consts]
    ldr r4, [r3, #p_out]; adds r4, r2; str r4, [sp, #group_out]
    ldr r4, [r3, #p_groups]; str r4, [sp, #groups_left]
GROUP:
    ldr r4, [r8, #p_rows]; str r4, [sp, #rows_left]
    ldr r4, [sp, #group_x]; str r4, [sp, #row_x]
    ldr r4, [sp, #group_out]; str r4, [sp, #row_out]
    ldr r4, [r8, #p_keeps]; str r4, [sp, #keeps]
ROW:
    movs r4, #0
TILE:
    ldr r5, [r8, #p_positions]; subs r6, r5, r4
    movs r7, #16
    cmp r6, #8; bgt FIT
    movs r7, #8
    cmp r6, #4; bgt FIT
    movs r7, #4
FIT:
    ldr r3, [r8, #p_readable]
    adds r2, r4, r7; cmp r2, r3; ble FITS
    subs r2, r3, r7; bmi HALF
    mov r4, r2; mov r6, r7
    b FITS
HALF:
    lsrs r7, #1
    b FIT
FITS:
    cmp r6, r7; ble VALID
    mov r6, r7
VALID:
    add r3, sp, #start; stmia r3!, {r4, r6-r7}
    ldr r3, [sp, #row_x]; add r11, r3, r4, lsl #2
    ldr r5, [r8, #p_window]; udiv r6, r4, r5; mls r4, r6, r5, r4; subs r5, r4
    str r5, [sp, #window_left]
    ldr r5, [r8, #p_out_position]; muls r6, r5
    ldr r5, [sp, #row_out]; adds r6, r5; mov lr, r6
    ldr r10, [sp, #group_w]; ldr r9, [sp, #group_consts]
    ldr r12, [r8, #p_channels]
CHANNEL:
    add r0, sp, #zeros; vldmia r0, {s0-s15}
    mov r1, r10
    add r4, r8, #p_places
    ldr r5, [r8, #p_taps]; ldr r3, [r8, #p_inner_step]; ldr r6, [r8, #p_inner]
    ldr r7, [sp, #tile]; cmp r7, #16; bne TAP
    subs r3, #32
TAP:
    ldr r0, [r4], #4; add r0, r11
    subs r2, r6, #4
    cmp r7, #8; beq.w TAP8
    blt TAP4
    adds r2, #2
    tst r6, #1; beq TWO16
    adds r2, #1
    vldmia r1!, {s25}; to_floats s31, s25
    b ODD16
TWO16:
    vldmia r1!, {s24-s25}; to_floats s31, s24, s25
    add_16 s24
ODD16:
    add_16 s25
    subs r2, #2; bge TWO16
    b TAPPED
TAP8:
    cmp r2, #0; blt SINGLE8
FOUR8:
    vldmia r1!, {s24-s27}; to_floats s31, s24, s25, s26, s27
    vldmia r0, {s16-s23}
    add_8 s24
    adds r0, r3; vldmia r0, {s16-s23}
    add_8 s25
    adds r0, r3; vldmia r0, {s16-s23}
    add_8 s26
    adds r0, r3; vldmia r0, {s16-s23}
    add_8 s27
    adds r0, r3
    subs r2, #4; bge FOUR8
SINGLE8:
    adds r2, #4; beq TAPPED
ONE8:
    vldmia r1!, {s24}; to_floats s31, s24
    vldmia r0, {s16-s23}
    add_8 s24
    adds r0, r3
    subs r2, #1; bne ONE8
    b TAPPED
TAP4:
    cmp r2, #0; blt SINGLE4
FOUR4:
    vldmia r1!, {s24-s27}; to_floats s31, s24, s25, s26, s27
    vldmia r0, {s16-s19}
    add_4 s24
    adds r0, r3; vldmia r0, {s16-s19}
    add_4 s25
    adds r0, r3; vldmia r0, {s16-s19}
    add_4 s26
    adds r0, r3; vldmia r0, {s16-s19}
    add_4 s27
    adds r0, r3
    subs r2, #4; bge FOUR4
SINGLE4:
    adds r2, #4; beq TAPPED
ONE4:
    vldmia r1!, {s24}; to_floats s31, s24
    vldmia r0, {s16-s19}
    add_4 s24
    adds r0, r3
    subs r2, #1; bne ONE4
TAPPED:
    subs r5, #1; bne TAP
    mov r10, r1
    vldmia r9!, {s16-s17}
    cmp r7, #8; beq EIGHT
    blt FOUR
    finish_latter_8
EIGHT:
    finish_4 s4, s5, s6, s7
FOUR:
    finish_4 s0, s1, s2, s3
    add r0, sp, #tile_sums; vstmia r0, {s0-s15}
    ldr r4, [r8, #p_clips]; cmp r4, #1; blt STORE
    beq RELU
    ldr r5, [sp, #valid]
    vldr s18, [r8, #p_low]
    vldr s19, [r8, #p_high]
CLIP:
    vldr s0, [r0]; vcmp.f32 s0, s18
    vmrs APSR_nzcv, fpscr
    it mi; vmovmi.f32 s0, s18; vcmp.f32 s0, s19
    vmrs APSR_nzcv, fpscr
    it gt; vmovgt.f32 s0, s19; vstmia r0!, {s0}
    subs r5, #1; bne CLIP
    b STORE
RELU:
    lsrs r5, r7, #2
SIGNS:
    ldmia r0, {r1-r4}; bic.w r1, r1, r1, asr #31
    bic.w r2, r2, r2, asr #31
    bic.w r3, r3, r3, asr #31
    bic.w r4, r4, r4, asr #31
    stmia r0!, {r1-r4}
    subs r5, #1; bne SIGNS
STORE:
    add r0, sp, #tile_sums
    ldr r1, [sp, #valid]
    mov r2, lr
    ldr r3, [r8, #p_out_position]
    ldr r7, [sp, #keeps]; cmp r7, #2; blt POOL
    cmp r3, #4; bne EACH
    subs r1, #4; blt REST
QUAD:
    ldmia r0!, {r3-r6}; stmia r2!, {r3-r6}
    subs r1, #4; bge QUAD
REST:
    movs r3, #4
    adds r1, #4; beq STORED
EACH:
    ldr r4, [r0], #4; str r4, [r2]
    adds r2, r3
    subs r1, #1; bne EACH
    b STORED
POOL:
    ldr r5, [r8, #p_window]
    ldr r6, [sp, #window_left]
    cmp r7, #0; bne LARGER
    cmp r6, r5; beq FIRST
LARGER:
    vldmia r0!, {s0}
    vldr s1, [r2]; vcmp.f32 s0, s1
    vmrs APSR_nzcv, fpscr
    it mi; vmovmi.f32 s0, s1; vstr s0, [r2]
    subs r1, #1; beq STORED
    subs r6, #1; bne LARGER
    mov r6, r5
    adds r2, r3
    cmp r7, #0; bne LARGER
FIRST:
    ldr r4, [r0], #4; str r4, [r2]
    subs r1, #1; beq STORED
    subs r6, #1; bne LARGER
    mov r6, r5
    adds r2, r3
    b FIRST
STORED:
    ldr r4, [r8, #p_out_channel]; add lr, r4
    subs r12, #1; bne CHANNEL
    ldr r4, [sp, #start]; ldr r5, [sp, #valid]; adds r4, r5
    ldr r5, [r8, #p_positions]; cmp r4, r5; blt TILE
    ldr r4, [sp, #row_x]
    ldr r5, [r8, #p_row_step]; adds r4, r5; str r4, [sp, #row_x]
    ldr r4, [sp, #row_out]
    ldr r5, [r8, #p_out_row]; adds r4, r5; str r4, [sp, #row_out]
    ldr r4, [sp, #keeps]; orr r4, r4, #1; str r4, [sp, #keeps]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    ldr r4, [sp, #group_x]
    ldr r5, [r8, #p_group_step]; adds r4, r5; str r4, [sp, #group_x]
    strd r10, r9, [sp, #group_w]
    ldr r4, [r8, #p_channels]; ldr r5, [r8, #p_out_channel]; muls r4, r5
    ldr r5, [sp, #group_out]; adds r4, r5; str r4, [sp, #group_out]
    ldr r4, [sp, #groups_left]; subs r4, #1; str r4, [sp, #groups_left]; bne GROUP
    add sp, #192
    vpop {s16-s31}
    pop {r8-r11}
    movs r0, #0
endfunction sums
