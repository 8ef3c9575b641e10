"""Products of matrices of float32 in the FPU: see ops/_block_vfp_gemm. Inline assembler with VFP.

Weights are the mantissas of loops/block, x and sums are floats. Four rows at a time: 1.9
instructions a multiply-accumulate, 3.5 of the last rows.

    x    rows of K floats;  w  N rows of mantissas
    out  float32, a row's N one after another
    p    (places and steps in bytes) first of x, rows, their step, K, N, first of w, consts (in p,
         see loops/vfp/fpu), first of out, its step from row to row, clip (0: no), bits of low
         and high
"""

import micropython

from .fpu import consts  # noqa: F401


@micropython.asm_thumb
def products(r0, r1, r2, r3):
    # r1 weights, r2 out, r3 consts, r8 p, r9 first row of x, r10 of out, r11 rows left, r12 first
    # of w, lr channels left
    data(2, 0xE92D, 0x0F00)  # push {r8, r9, r10, r11}
    data(2, 0xED2D, 0x8A10)  # vpush {s16-s31}
    mov(r8, r3)
    data(2, 0xEEB0, 0x4A00)  # vmov s8, 2.0
    ldr(r4, [r3, 0])
    data(2, 0xEB00, 0x0904)  # add r9, r0, r4
    ldr(r4, [r3, 20])
    data(2, 0xEB01, 0x0C04)  # add r12, r1, r4
    ldr(r4, [r3, 28])
    data(2, 0xEB02, 0x0A04)  # add r10, r2, r4
    data(2, 0xF8D3, 0xB004)  # ldr r11, [r3, 4]
    label(ROWS)
    mov(r1, r12)
    mov(r2, r10)
    data(2, 0xF8D8, 0x4018)  # ldr r4, [r8, 24]
    data(2, 0xEB08, 0x0304)  # add r3, r8, r4
    data(2, 0xF8D8, 0xE010)  # ldr lr, [r8, 16]
    data(2, 0xF1BB, 0x0F04)  # cmp r11, 4
    bge(CHANNEL_OF_FOUR)
    label(CHANNEL)
    mov(r0, r9)
    mov(r6, 0)
    data(2, 0xEC46, 0x6A10, 0xEC46, 0x6A11)  # vmov s0, s1, r6, r6; vmov s2, s3, r6, r6
    data(2, 0xF8D8, 0x500C)  # ldr r5, [r8, 12]
    sub(r5, 8)
    blt(LAST)
    label(EIGHT)
    data(2, 0xECB1, 0x8A08)  # vldmia r1!, {s16-s23}
    # vcvt.f32.s32 s16 to s23, 22 fraction bits
    data(2, 0xEEBA, 0x8AC5, 0xEEFA, 0x8AC5, 0xEEBA, 0x9AC5, 0xEEFA, 0x9AC5)
    data(2, 0xEEBA, 0xAAC5, 0xEEFA, 0xAAC5, 0xEEBA, 0xBAC5, 0xEEFA, 0xBAC5)
    # vsub s16 to s23, s8
    data(2, 0xEE38, 0x8A44, 0xEE78, 0x8AC4, 0xEE39, 0x9A44, 0xEE79, 0x9AC4)
    data(2, 0xEE3A, 0xAA44, 0xEE7A, 0xAAC4, 0xEE3B, 0xBA44, 0xEE7B, 0xBAC4)
    data(2, 0xECB0, 0xCA08)  # vldmia r0!, {s24-s31}
    # vfma s0 to s3 += s24 to s31 * s16 to s23
    data(2, 0xEEAC, 0x0A08, 0xEEEC, 0x0AA8, 0xEEAD, 0x1A09, 0xEEED, 0x1AA9)
    data(2, 0xEEAE, 0x0A0A, 0xEEEE, 0x0AAA, 0xEEAF, 0x1A0B, 0xEEEF, 0x1AAB)
    sub(r5, 8)
    bge(EIGHT)
    label(LAST)
    add(r5, 8)
    beq(SUMMED)
    label(SINGLE)
    data(2, 0xECB1, 0x8A01)  # vldmia r1!, {s16}
    data(2, 0xEEBA, 0x8AC5)  # vcvt.s32 s16, s16, 22
    vsub(s16, s16, s8)
    data(2, 0xECB0, 0xCA01)  # vldmia r0!, {s24}
    data(2, 0xEEAC, 0x0A08)  # vfma s0, s24, s16
    sub(r5, 1)
    bne(SINGLE)
    label(SUMMED)
    vadd(s0, s0, s1)
    vadd(s2, s2, s3)
    vadd(s0, s0, s2)
    data(2, 0xECB3, 0x2A02)  # vldmia r3!, {s4, s5}
    vmul(s0, s0, s4)
    vadd(s0, s0, s5)
    vstr(s0, [r2, 0])
    mov(r6, 1)
    b(PUT)
    label(CHANNEL_OF_FOUR)
    data(2, 0xF8D8, 0x0008)  # ldr r0, [r8, 8]
    mov(r4, r9)
    add(r5, r4, r0)
    add(r6, r5, r0)
    add(r7, r6, r0)
    mov(r0, 0)
    data(2, 0xEC40, 0x0A10, 0xEC40, 0x0A11)  # vmov s0, s1, r0, r0; vmov s2, s3, r0, r0
    data(2, 0xF8D8, 0x000C)  # ldr r0, [r8, 12]
    sub(r0, 4)
    blt(LAST_OF_FOUR)
    label(FOUR)
    data(2, 0xECB1, 0x8A04)  # vldmia r1!, {s16-s19}
    # vcvt.f32.s32 s16 to s19, 22 fraction bits
    data(2, 0xEEBA, 0x8AC5, 0xEEFA, 0x8AC5, 0xEEBA, 0x9AC5, 0xEEFA, 0x9AC5)
    vsub(s16, s16, s8)
    vsub(s17, s17, s8)
    vsub(s18, s18, s8)
    vsub(s19, s19, s8)
    data(2, 0xECB4, 0xAA04)  # vldmia r4!, {s20-s23}
    # vfma s0 += s20 to s23 * s16 to s19
    data(2, 0xEEAA, 0x0A08, 0xEEAA, 0x0AA8, 0xEEAB, 0x0A09, 0xEEAB, 0x0AA9)
    data(2, 0xECB5, 0xAA04)  # vldmia r5!, {s20-s23}
    # vfma s1 += s20 to s23 * s16 to s19
    data(2, 0xEEEA, 0x0A08, 0xEEEA, 0x0AA8, 0xEEEB, 0x0A09, 0xEEEB, 0x0AA9)
    data(2, 0xECB6, 0xAA04)  # vldmia r6!, {s20-s23}
    # vfma s2 += s20 to s23 * s16 to s19
    data(2, 0xEEAA, 0x1A08, 0xEEAA, 0x1AA8, 0xEEAB, 0x1A09, 0xEEAB, 0x1AA9)
    data(2, 0xECB7, 0xAA04)  # vldmia r7!, {s20-s23}
    # vfma s3 += s20 to s23 * s16 to s19
    data(2, 0xEEEA, 0x1A08, 0xEEEA, 0x1AA8, 0xEEEB, 0x1A09, 0xEEEB, 0x1AA9)
    sub(r0, 4)
    bge(FOUR)
    label(LAST_OF_FOUR)
    add(r0, 4)
    beq(FOUR_SUMMED)
    label(SINGLE_OF_FOUR)
    data(2, 0xECB1, 0x8A01)  # vldmia r1!, {s16}
    data(2, 0xEEBA, 0x8AC5)  # vcvt.s32 s16, s16, 22
    vsub(s16, s16, s8)
    data(2, 0xECB4, 0xAA01, 0xEEAA, 0x0A08)  # vldmia r4!, {s20}; vfma s0, s20, s16
    data(2, 0xECB5, 0xAA01, 0xEEEA, 0x0A08)  # vldmia r5!, {s20}; vfma s1, s20, s16
    data(2, 0xECB6, 0xAA01, 0xEEAA, 0x1A08)  # vldmia r6!, {s20}; vfma s2, s20, s16
    data(2, 0xECB7, 0xAA01, 0xEEEA, 0x1A08)  # vldmia r7!, {s20}; vfma s3, s20, s16
    sub(r0, 1)
    bne(SINGLE_OF_FOUR)
    label(FOUR_SUMMED)
    data(2, 0xECB3, 0x2A02)  # vldmia r3!, {s4, s5}
    vmul(s0, s0, s4)
    vadd(s0, s0, s5)
    vmul(s1, s1, s4)
    vadd(s1, s1, s5)
    vmul(s2, s2, s4)
    vadd(s2, s2, s5)
    vmul(s3, s3, s4)
    vadd(s3, s3, s5)
    data(2, 0xF8D8, 0x0020)  # ldr r0, [r8, 32]
    vstr(s0, [r2, 0])
    add(r4, r2, r0)
    vstr(s1, [r4, 0])
    add(r4, r4, r0)
    vstr(s2, [r4, 0])
    add(r4, r4, r0)
    vstr(s3, [r4, 0])
    mov(r6, 4)
    label(PUT)
    data(2, 0xF8D8, 0x0024)  # ldr r0, [r8, 36]
    cmp(r0, 0)
    beq(NEXT)
    mov(r4, r2)
    data(2, 0xF8D8, 0x0020)  # ldr r0, [r8, 32]
    data(2, 0xED98, 0x3A0A)  # vldr s6, [r8, 40]
    data(2, 0xEDD8, 0x3A0B)  # vldr s7, [r8, 44]
    label(CLIP)
    vldr(s0, [r4, 0])
    data(2, 0xEEB4, 0x0A43)  # vcmp s0, s6
    data(2, 0xEEF1, 0xFA10)  # vmrs apsr_nzcv, fpscr
    data(2, 0xBF48)  # it mi
    data(2, 0xEEB0, 0x0A43)  # vmovmi s0, s6
    data(2, 0xEEB4, 0x0A63)  # vcmp s0, s7
    data(2, 0xEEF1, 0xFA10)  # vmrs apsr_nzcv, fpscr
    data(2, 0xBFC8)  # it gt
    data(2, 0xEEB0, 0x0A63)  # vmovgt s0, s7
    vstr(s0, [r4, 0])
    add(r4, r4, r0)
    sub(r6, 1)
    bne(CLIP)
    label(NEXT)
    add(r2, 4)
    data(2, 0xF1BE, 0x0E01)  # subs lr, lr, 1
    beq(ROWS_END)
    data(2, 0xF1BB, 0x0F04)  # cmp r11, 4
    bge_w(CHANNEL_OF_FOUR)
    b(CHANNEL)
    label(ROWS_END)
    mov(r6, 1)
    data(2, 0xF1BB, 0x0F04)  # cmp r11, 4
    blt(ADVANCE)
    mov(r6, 4)
    label(ADVANCE)
    data(2, 0xF8D8, 0x4008)  # ldr r4, [r8, 8]
    mul(r4, r6)
    data(2, 0x44A1)  # add r9, r4
    data(2, 0xF8D8, 0x4020)  # ldr r4, [r8, 32]
    mul(r4, r6)
    data(2, 0x44A2)  # add r10, r4
    data(2, 0xEBBB, 0x0B06)  # subs r11, r11, r6
    bne_w(ROWS)
    data(2, 0xECBD, 0x8A10)  # vpop {s16-s31}
    data(2, 0xE8BD, 0x0F00)  # pop {r8, r9, r10, r11}
    mov(r0, 0)  # what is returned, as a small integer
