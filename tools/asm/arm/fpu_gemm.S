// Products of matrices of float32 in the FPU: see ops/_block_vfp_gemm. Inline assembler with VFP.
//
// Weights are the mantissas of loops/block, x and sums are floats. Four rows at a time: 1.9
// instructions a multiply-accumulate, 3.5 of the last rows.
//
//     x    rows of K floats;  w  N rows of mantissas
//     out  float32, a row's N one after another
//     p    (offsets and steps in bytes) first of x, rows, their step, K, N, first of w, consts (in
//          p, see loops/vfp/fpu_rows), first of out, its step from row to row, clip (0: no), bits
//          of low and high
//
// Forms: vfp

#include "core.h"

// Parameters.
words 0, p_x, p_rows, p_row_step, p_k, p_n, p_weights, p_consts, p_out, p_out_step, p_clips
words 40, p_low, p_high

// \sum += four elements of x times their weights.
.macro add_four sum
    vfma.f32 \sum, s20, s16; vfma.f32 \sum, s21, s17
    vfma.f32 \sum, s22, s18; vfma.f32 \sum, s23, s19
.endm

function products
    // r1 weights, r2 out, r3 consts, r8 p, r9 first row of x, r10 of out, r11 rows left, r12 first
    // of w, lr channels left
    push {r8-r11}
    vpush {s16-s31}
    mov r8, r3
    vmov.f32 s8, #2.0
    ldr r4, [r3, #p_x]; add r9, r0, r4
    ldr r4, [r3, #p_weights]; add r12, r1, r4
    ldr r4, [r3, #p_out]; add r10, r2, r4
    ldr r11, [r3, #p_rows]
ROWS:
    mov r1, r12; mov r2, r10
    ldr r4, [r8, #p_consts]; add r3, r8, r4
    ldr lr, [r8, #p_n]
    cmp r11, #4; bge CHANNEL_OF_FOUR
CHANNEL:
    mov r0, r9; movs r6, #0; vmov s0, s1, r6, r6
    vmov s2, s3, r6, r6
    ldr r5, [r8, #p_k]; subs r5, #8; blt LAST
EIGHT:
    vldmia r1!, {s16-s23}
    to_floats s8, s16, s17, s18, s19, s20, s21, s22, s23
    vldmia r0!, {s24-s31}
    vfma.f32 s0, s24, s16; vfma.f32 s1, s25, s17; vfma.f32 s2, s26, s18; vfma.f32 s3, s27, s19
    vfma.f32 s0, s28, s20; vfma.f32 s1, s29, s21; vfma.f32 s2, s30, s22; vfma.f32 s3, s31, s23
    subs r5, #8; bge EIGHT
LAST:
    adds r5, #8; beq SUMMED
SINGLE:
    vldmia r1!, {s16}; to_floats s8, s16
    vldmia r0!, {s24}; vfma.f32 s0, s24, s16
    subs r5, #1; bne SINGLE
SUMMED:
    vadd.f32 s0, s0, s1
    vadd.f32 s2, s2, s3; vadd.f32 s0, s0, s2
    vldmia r3!, {s4-s5}; vmul.f32 s0, s0, s4; vadd.f32 s0, s0, s5; vstr s0, [r2]
    movs r6, #1
    b PUT
CHANNEL_OF_FOUR:
    ldr r0, [r8, #p_row_step]
    mov r4, r9; adds r5, r4, r0; adds r6, r5, r0; adds r7, r6, r0
    movs r0, #0; vmov s0, s1, r0, r0
    vmov s2, s3, r0, r0
    ldr r0, [r8, #p_k]; subs r0, #4; blt LAST_OF_FOUR
FOUR:
    vldmia r1!, {s16-s19}
    to_floats s8, s16, s17, s18, s19
    vldmia r4!, {s20-s23}; add_four s0
    vldmia r5!, {s20-s23}; add_four s1
    vldmia r6!, {s20-s23}; add_four s2
    vldmia r7!, {s20-s23}; add_four s3
    subs r0, #4; bge FOUR
LAST_OF_FOUR:
    adds r0, #4; beq FOUR_SUMMED
SINGLE_OF_FOUR:
    vldmia r1!, {s16}; to_floats s8, s16
    vldmia r4!, {s20}; vfma.f32 s0, s20, s16
    vldmia r5!, {s20}; vfma.f32 s1, s20, s16
    vldmia r6!, {s20}; vfma.f32 s2, s20, s16
    vldmia r7!, {s20}; vfma.f32 s3, s20, s16
    subs r0, #1; bne SINGLE_OF_FOUR
FOUR_SUMMED:
    vldmia r3!, {s4-s5}; vmul.f32 s0, s0, s4; vadd.f32 s0, s0, s5
    vmul.f32 s1, s1, s4; vadd.f32 s1, s1, s5
    vmul.f32 s2, s2, s4; vadd.f32 s2, s2, s5
    vmul.f32 s3, s3, s4; vadd.f32 s3, s3, s5
    ldr r0, [r8, #p_out_step]
    vstr s0, [r2]
    adds r4, r2, r0; vstr s1, [r4]
    adds r4, r0; vstr s2, [r4]
    adds r4, r0; vstr s3, [r4]
    movs r6, #4
PUT:
    ldr r0, [r8, #p_clips]; cmp r0, #0; beq NEXT
    mov r4, r2
    ldr r0, [r8, #p_out_step]
    vldr s6, [r8, #p_low]
    vldr s7, [r8, #p_high]
CLIP:
    vldr s0, [r4]; vcmp.f32 s0, s6
    vmrs APSR_nzcv, fpscr
    it mi; vmovmi.f32 s0, s6; vcmp.f32 s0, s7
    vmrs APSR_nzcv, fpscr
    it gt; vmovgt.f32 s0, s7; vstr s0, [r4]
    adds r4, r0
    subs r6, #1; bne CLIP
NEXT:
    adds r2, #4; subs lr, #1; beq ROWS_END
    cmp r11, #4; bge CHANNEL_OF_FOUR
    b CHANNEL
ROWS_END:
    movs r6, #1
    cmp r11, #4; blt ADVANCE
    movs r6, #4
ADVANCE:
    ldr r4, [r8, #p_row_step]; muls r4, r6; add r9, r4
    ldr r4, [r8, #p_out_step]; muls r4, r6; add r10, r4
    subs r11, r6; bne ROWS
    vpop {s16-s31}
    pop {r8-r11}
    movs r0, #0
endfunction products
