// Block floating point before the sums: see loops/block. Inline assembler, ARMv6-M opcodes.
//
// The viper form handles rare blocks: those of denormals and of the largest floats.
//
// Forms: thumb

#include "core.h"

//+ fill
//+ mantissas as _any
//> from .align import align
//>
//> _LEAST = 25  # exponent of a block in which denormals are 0
//> _MOST = 246  # and one from which on a shift by what 0 is below it would not be one by a byte
//>
//>
//> def mantissas(x, w, out, p):
//>     if not _LEAST <= p[_EXPONENT] <= _MOST:
//>         _any(x, w, out, p)
//>     else:
//>         _mantissas(x, w, out, p)

// Offsets on the stack, in bytes. c_left, kd_left, kh_left: channels, depth and rows of the kernel;
// z, y: of the element; ahead: elements by which a column is ahead of that of the row before, all
// of them if none is the same.
words 0, p, rows_left, c_left, kd_left, kh_left, out, plane, y_of_row, z, y, positions_left, place
words 48, first_plane, ahead

function peak
    // r0 x, r1 its end, r2 out, r5 most, each shifted left by 1
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4
    ldr r4, [r3, #p_peak_elements]; lsls r4, #2; adds r1, r0, r4
    ldr r4, [r3, #p_peak_out_start]; lsls r4, #2; adds r2, r4
    movs r5, #0
FOUR:
    subs r4, r1, r0; cmp r4, #16; blt REST
    ldmia r0!, {r3-r4, r6-r7}; lsls r3, #1
    lsls r4, #1
    lsls r6, #1
    lsls r7, #1
    cmp r3, r5; bls A
    mov r5, r3
A:
    cmp r4, r5; bls B
    mov r5, r4
B:
    cmp r6, r5; bls C
    mov r5, r6
C:
    cmp r7, r5; bls FOUR
    mov r5, r7
    b FOUR
REST:
    cmp r0, r1; beq DONE
    ldr r4, [r0]
    adds r0, #4
    lsls r4, #1; cmp r4, r5; bls REST
    mov r5, r4
    b REST
DONE:
    lsrs r5, #24; str r5, [r2]
endfunction peak

function _mantissas
    // In the innermost loop r0 row of the image, r1 out, r2 place in the row, r3 elements left; r7
    // 2**31; r8 bytes of the row, 0 outside of the image; r9 bytes of a column, r10 step in the
    // row, r11 E + 9.
    push_high
    sub sp, #56
    str r3, [sp, #p]
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; str r0, [sp, #first_plane]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4; str r2, [sp, #out]
    ldr r4, [r3, #p_exponent]; adds r4, #9; mov r11, r4
    ldr r4, [r3, #p_column_dilation]; lsls r4, #2; mov r10, r4; movs r5, #1
    lsls r5, #29
    ldr r4, [r3, #p_corner_row]; subs r4, r5; str r4, [sp, #y_of_row]
    ldr r4, [r3, #p_out_rows]; str r4, [sp, #rows_left]
    ldr r4, [r3, #p_channels]; ldr r5, [r3, #p_kernel_depth]; muls r4, r5
    ldr r5, [r3, #p_kernel_rows]; muls r4, r5; lsls r4, #2; mov r9, r4
    cmp r4, #0; bne STEPS
    b END
STEPS:
    ldr r4, [r3, #p_row_stride]; ldr r5, [r3, #p_row_dilation]; ldr r6, [r3, #p_kernel_rows]
    movs r7, #0; movs r1, #0
STEP:
    adds r7, #1; adds r1, r5
    cmp r7, r6; bge STEPPED
    cmp r1, r4; blt STEP
STEPPED:
    cmp r1, r4; beq OVERLAP
    mov r7, r6
OVERLAP:
    str r7, [sp, #ahead]
ROWS:
    ldr r3, [sp, #p]; ldr r4, [r3, #p_channels]; str r4, [sp, #c_left]
    ldr r4, [sp, #first_plane]; str r4, [sp, #plane]
CHANNELS:
    ldr r4, [r3, #p_kernel_depth]; str r4, [sp, #kd_left]
    movs r5, #1; lsls r5, #29
    ldr r4, [r3, #p_corner_depth]; subs r4, r5; str r4, [sp, #z]
DEPTHS:
    ldr r4, [r3, #p_kernel_rows]; str r4, [sp, #kh_left]
    ldr r4, [sp, #y_of_row]; str r4, [sp, #y]
ITEMS:
    ldr r4, [sp, #kh_left]; ldr r5, [sp, #ahead]; cmp r4, r5; ble FRESH
    ldr r4, [sp, #rows_left]
    ldr r6, [r3, #p_out_rows]; cmp r4, r6; beq FRESH
    ldr r1, [sp, #out]
    lsls r5, #2; adds r0, r1, r5
    ldr r5, [r3, #p_out_row_stride]
    mov r6, r9; muls r5, r6; subs r0, r5
    ldr r4, [r3, #p_positions]; ldr r5, [r3, #p_kernel_columns]; muls r4, r5
COPY:
    ldr r5, [r0]; str r5, [r1]
    add r0, r9; add r1, r9
    subs r4, #1; bne COPY
    b ITEM_DONE
FRESH:
    movs r6, #0
    ldr r4, [sp, #y]
    ldr r5, [r3, #p_rows]; cmp r4, r5; bcs OUTSIDE
    ldr r7, [sp, #z]
    ldr r0, [r3, #p_depth]; cmp r7, r0; bcs OUTSIDE
    muls r7, r5; adds r7, r4
    ldr r6, [r3, #p_columns]; lsls r6, #2; muls r7, r6
    ldr r0, [sp, #plane]; adds r0, r7
OUTSIDE:
    mov r8, r6
    ldr r4, [r3, #p_positions]; str r4, [sp, #positions_left]
    movs r5, #1; lsls r5, #29
    ldr r2, [r3, #p_corner_column]; subs r2, r5; lsls r2, #2; str r2, [sp, #place]
    ldr r1, [sp, #out]
PIECES:
    ldr r3, [r3, #p_kernel_columns]
    movs r7, #1; lsls r7, #31
    b INNER
ZERO:
    movs r5, #0
    b STORE
INNER:
    cmp r2, r8; bcs ZERO
    ldr r4, [r0, r2]; lsls r5, r4, #1; beq STORE  // many are 0 behind a Relu
    lsrs r5, #24
    mov r6, r11; subs r6, r5
    lsls r5, r4, #8; orrs r5, r7; lsrs r5, r6
    movs r6, #0; adcs r5, r6; lsrs r6, r5, #23  // 1 if it was rounded up to HALF
    subs r5, r6
    asrs r6, r4, #31; eors r5, r6; subs r5, r6
STORE:
    str r5, [r1]
    add r1, r9; add r2, r10
    subs r3, #1; bne INNER
    ldr r3, [sp, #p]; ldr r4, [r3, #p_column_stride]; lsls r4, #2
    ldr r2, [sp, #place]; adds r2, r4; str r2, [sp, #place]
    ldr r4, [sp, #positions_left]; subs r4, #1; str r4, [sp, #positions_left]; bne PIECES
ITEM_DONE:
    ldr r4, [sp, #out]; adds r4, #4; str r4, [sp, #out]
    ldr r5, [r3, #p_row_dilation]
    ldr r4, [sp, #y]; adds r4, r5; str r4, [sp, #y]
    ldr r4, [sp, #kh_left]; subs r4, #1; str r4, [sp, #kh_left]; bne ITEMS
    ldr r5, [r3, #p_depth_dilation]
    ldr r4, [sp, #z]; adds r4, r5; str r4, [sp, #z]
    ldr r4, [sp, #kd_left]; subs r4, #1; str r4, [sp, #kd_left]; bne DEPTHS
    ldr r4, [r3, #p_depth]; ldr r5, [r3, #p_rows]; muls r4, r5
    ldr r5, [r3, #p_columns]; muls r4, r5; lsls r4, #2
    ldr r5, [sp, #plane]; adds r4, r5; str r4, [sp, #plane]
    ldr r4, [sp, #c_left]; subs r4, #1; str r4, [sp, #c_left]; beq ROW
    b CHANNELS
ROW:
    ldr r4, [r3, #p_out_row_stride]; subs r4, #1
    mov r5, r9; muls r4, r5
    ldr r5, [sp, #out]; adds r4, r5; str r4, [sp, #out]
    ldr r5, [r3, #p_row_stride]
    ldr r4, [sp, #y_of_row]; adds r4, r5; str r4, [sp, #y_of_row]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; beq END
    b ROWS
END:
    add sp, #56
    pop_high
endfunction _mantissas
