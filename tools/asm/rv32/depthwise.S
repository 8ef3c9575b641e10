// Depthwise convolution of bytes: see loops/depthwise. Assembler for RISC-V (RV32IM).
//
// 3 x 3 kernels: 29 instructions for the sum, their weights in registers, and 16 for the rest of
// an output. Others of up to 8 columns: 4 a product and 4 a row.
//
// Forms: rv32

#include "core.h"

//> from ..viper.depthwise import depthwise8  # other kernels

// On the stack, in bytes, behind what is saved. taps: 0 for 3 x 3, else s8; room: weights in x.
words 48, p, taps, planes_left, channels_left, lines_left, line, plane, table, weights, out
words 88, room, line_end

.macro add_tap i
    lbu t4, \i(s4); lw t5, 4*\i(s6); mul t4, t4, t5; add t3, t3, t4
.endm

function depthwise_dense
    // a0 window, a1 step of kernel rows, a2 out, a3 step of columns of out, a4 where a0 ends, a5
    // step of out, a6 c, a7 limit of what is shifted, s9 M, s10 out_zero_point << 15 and the
    // middle of a step, s11 low, t0 high, t1 shift to the left, t2 to the right, t3 sum. 3 x 3: s0
    // to s8 weights. Others: s0 weights as words, s1 bytes of a row, s2 end, s4 row of x, s6 of
    // weights, both less the s7 columns it lacks of 8, s8 where the code of a row begins
    addi sp, sp, -96
    save_all
    sw a3, p(sp)
    sw a0, room(sp)
    lw t0, p_x_start(a3); add t0, t0, a0; sw t0, plane(sp)
    mv t1, a1
    lw t0, p_is_table_in_x(a3)
    beq t0, zero, WITH_WEIGHTS
    mv t1, a0
WITH_WEIGHTS:
    lw t0, p_table_start(a3); add t0, t0, t1; sw t0, table(sp)
    lw t0, p_w_start(a3); add t0, t0, a1; sw t0, weights(sp)
    lw t0, p_out_start(a3); add t0, t0, a2; sw t0, out(sp)
    lw t0, p_planes(a3); sw t0, planes_left(sp)
    lw t1, p_kernel_columns(a3)
    li t2, 8
    la t0, TAPS
    sub t2, t2, t1; slli t2, t2, 4; add t0, t0, t2
    li t2, 3
    bne t1, t2, KIND
    lw t1, p_kernel_rows(a3)
    bne t1, t2, KIND
    li t0, 0
KIND:
    sw t0, taps(sp)
    li t1, 536870912
    lw s10, p_out_zero_point(a3); sub s10, s10, t1; slli s10, s10, 15
    li t2, 16384; add s10, s10, t2
    lw s11, p_low(a3); sub s11, s11, t1
    lw t0, p_high(a3); sub t0, t0, t1
    lw a1, p_kernel_row_step(a3)
    lw a5, p_out_position_stride(a3)
    lw a3, p_out_column_step(a3)
PLANE:
    lw t3, p(sp); lw t4, p_depth_multiplier(t3); sw t4, channels_left(sp)
CHANNEL:
    lw t3, p(sp)
    lw t4, table(sp); lw a6, 0(t4); lw s9, 4(t4)
    addi t4, t4, 8; sw t4, table(sp)
    andi t1, a6, 31
    srai a6, a6, 5
    addi t2, t1, -25
    bge zero, t2, LEFT
    li t1, 0
    sll a6, a6, t2
    j SHIFTS
LEFT:
    li t2, 0
SHIFTS:
    li a7, 33554432; srl a7, a7, t1
    lw a2, out(sp)
    lw t4, p_out_channel_stride(t3); add t4, t4, a2; sw t4, out(sp)
    lw t4, p_out_rows(t3); sw t4, lines_left(sp)
    lw t4, plane(sp); sw t4, line(sp)
    lw t4, weights(sp)
    lw t6, p_w_zero_point(t3)
    lw s0, room(sp)
    lw s1, p_kernel_columns(t3); slli s1, s1, 2
    lw s2, p_kernel_rows(t3); mul s2, s2, s1; add s2, s2, s0
    mv s6, s0
WEIGHT:
    lbu t5, 0(t4)
    addi t4, t4, 1
    sub t5, t5, t6; sw t5, 0(s6)
    addi s6, s6, 4
    bne s6, s2, WEIGHT
    sw t4, weights(sp)
    lw s8, taps(sp)
    beq s8, zero, NINE_WEIGHTS
    li s7, 32; sub s7, s7, s1; sub s0, s0, s7
    sub s2, s2, s7
    srli s7, s7, 2
    j LINE
NINE_WEIGHTS:
    lw s8, 32(s0); lw s7, 28(s0); lw s6, 24(s0)
    lw s5, 20(s0); lw s4, 16(s0); lw s3, 12(s0)
    lw s2, 8(s0); lw s1, 4(s0); lw s0, 0(s0)
LINE:
    lw t3, p(sp)
    lw a0, line(sp)
    lw t4, p_out_row_step(t3); add t4, t4, a0; sw t4, line(sp)
    lw a4, p_out_columns(t3); mul a4, a4, a3; add a4, a4, a0
    lw t4, taps(sp)
    beq t4, zero, NINE
    sw a4, line_end(sp)
OUTPUT:
    add a4, a0, a3
    mv s6, s0; mv t3, a6
    sub s4, a0, s7
DENSE:
    jalr zero, 0(s8)
TAPS:
    add_tap 0; add_tap 1; add_tap 2; add_tap 3
    add_tap 4; add_tap 5; add_tap 6; add_tap 7
    add s4, s4, a1; add s6, s6, s1
    bne s6, s2, DENSE
    j REQUANTIZE
NINE:
    lbu t5, 0(a0); lbu t6, 1(a0)
    mul t5, t5, s0; mul t6, t6, s1
    add t3, a6, t5
    lbu t5, 2(a0)
    add t3, t3, t6
    mul t5, t5, s2
    add t4, a0, a1; add t3, t3, t5
    lbu t5, 0(t4); lbu t6, 1(t4)
    mul t5, t5, s3; mul t6, t6, s4
    add t3, t3, t5
    lbu t5, 2(t4)
    add t3, t3, t6
    mul t5, t5, s5
    add t4, t4, a1; add t3, t3, t5
    lbu t5, 0(t4); lbu t6, 1(t4)
    mul t5, t5, s6; mul t6, t6, s7
    add t3, t3, t5
    lbu t5, 2(t4)
    add t3, t3, t6
    mul t5, t5, s8; add t3, t3, t5
REQUANTIZE:
    sra t3, t3, t2
    bge a7, t3, BELOW
    mv t3, a7
BELOW:
    sub t4, zero, a7
    bge t3, t4, ABOVE
    mv t3, t4
ABOVE:
    sll t3, t3, t1; mulh t5, t3, s9; mul t3, t3, s9; add t5, t5, s10
    beq t3, zero, EVEN
ROUNDED:
    srai t3, t5, 15
    bge t3, s11, LEAST
    mv t3, s11
LEAST:
    bge t0, t3, MOST
    mv t3, t0
MOST:
    sb t3, 0(a2)
    add a2, a2, a5; add a0, a0, a3
    bne a0, a4, NINE
    lw t4, taps(sp)
    beq t4, zero, NEXT
    lw t4, line_end(sp)
    bne a0, t4, OUTPUT
    j NEXT
EVEN:  // what lies in the middle between two integers, and was rounded up to an odd one
    slli t4, t5, 17
    bne t4, zero, ROUNDED
    xor t4, t5, s10; slli t4, t4, 16
    bge t4, zero, ROUNDED
    li t4, 32768; sub t5, t5, t4
    j ROUNDED
NEXT:
    lw t4, lines_left(sp); addi t4, t4, -1; sw t4, lines_left(sp)
    bne t4, zero, LINE
    lw t4, channels_left(sp); addi t4, t4, -1; sw t4, channels_left(sp)
    bne t4, zero, CHANNEL
    lw t3, p(sp)
    lw t4, plane(sp)
    lw t5, p_x_plane_stride(t3); add t4, t4, t5; sw t4, plane(sp)
    lw t4, planes_left(sp); addi t4, t4, -1; sw t4, planes_left(sp)
    bne t4, zero, PLANE
    restore_all
    addi sp, sp, 96
    li a0, 0
endfunction depthwise_dense

//> depthwise33 = depthwise_dense
