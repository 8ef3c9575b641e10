// Dot products of bytes with requantization: see loops/qdot. Assembler for RISC-V (RV32IM).
//
// Four channels at a time: 3.4 instructions a multiply-accumulate, and 31 for each requantization,
// for which mulh has the upper half of the product.
//
// Forms: rv32

#include "core.h"

// Sums of four channels += element \i of four times their weights.
.macro add_element i
    lbu a2, \i(a0)
    lbu t4, \i(a1); lbu t5, \i+4(a1); lbu t6, \i+8(a1)
    mul t4, t4, a2; mul t5, t5, a2; mul t6, t6, a2
    add t0, t0, t4; lbu t4, \i+12(a1); add t1, t1, t5; add t2, t2, t6
    mul t4, t4, a2; add t3, t3, t4
.endm

.macro add_two_items i, j
    lbu a2, \i(a0); lbu t1, \i(a1); lbu t2, \j(a0); lbu t3, \j(a1)
    mul a2, a2, t1; mul t2, t2, t3; add t0, t0, a2; add t0, t0, t2
.endm

function qdots8
    // s0 elements of the position, s1 rows, s2 the position's out, s3 positions left, s4 table, s5
    // low, s6 high, s7 out_zero_point << 15 and the middle of a step, s8 channels, s9 channel
    // stride, s10 columns, s11 -w_zero_point * S; a1 rows left, a3 p, a4 end of the elements, a5
    // out, a6 table left, a7 channels left
    addi sp, sp, -48
    save_all
    lw s2, p_out_start(a3); add s2, s2, a2
    lw s3, p_positions(a3)
    mv t0, a1
    lw t1, p_is_table_in_x(a3)
    beq t1, zero, WITH_WEIGHTS
    mv t0, a0
WITH_WEIGHTS:
    lw t1, p_table_start(a3); add s4, t0, t1
    lw t1, p_w_start(a3); add s1, a1, t1
    lw t1, p_x_start(a3); add s0, a0, t1
    lw s10, p_columns(a3)
    li t0, 536870912
    lw s5, p_low(a3); sub s5, s5, t0
    lw s6, p_high(a3); sub s6, s6, t0
    lw s7, p_out_zero_point(a3); sub s7, s7, t0; slli s7, s7, 15
    li t0, 16384; add s7, s7, t0
    lw s8, p_channels(a3)
    lw s9, p_out_channel_stride(a3)
POSITION:
    add a4, s0, s10
    lw t0, p_has_sums(a3)
    beq t0, zero, ALONE
    lw s11, -4(s0)
    j TOTALLED
ALONE:
    mv t0, s0; li s11, 0
ITEMS:
    lbu t1, 0(t0); lbu t2, 1(t0); lbu t3, 2(t0)
    lbu t4, 3(t0)
    add s11, s11, t1; add s11, s11, t2; add s11, s11, t3; add s11, s11, t4
    addi t0, t0, 4
    bne t0, a4, ITEMS
TOTALLED:
    lw t0, p_w_zero_point(a3); mul s11, s11, t0; sub s11, zero, s11
    mv a1, s1; mv a5, s2; mv a6, s4
    addi a7, s8, -4
    blt a7, zero, SINGLE
TILE:
    mv a0, s0; mv t0, s11; mv t1, s11; mv t2, s11
    mv t3, s11
FOUR:
    add_element 0; add_element 1; add_element 2; add_element 3
    addi a0, a0, 4; addi a1, a1, 16
    bne a0, a4, FOUR
    mv a2, t0
    jal t6, REQUANTIZE
    mv a2, t1
    jal t6, REQUANTIZE
    mv a2, t2
    jal t6, REQUANTIZE
    mv a2, t3
    jal t6, REQUANTIZE
    addi a7, a7, -4
    bge a7, zero, TILE
SINGLE:
    addi a7, a7, 4
LEFT:
    beq a7, zero, NEXT
    mv a0, s0; mv t0, s11
ONE:
    add_two_items 0, 1; add_two_items 2, 3
    addi a0, a0, 4; addi a1, a1, 4
    bne a0, a4, ONE
    mv a2, t0
    jal t6, REQUANTIZE
    addi a7, a7, -1
    j LEFT
REQUANTIZE:
    lw t4, 0(a6)
    andi t5, t4, 31
    srai t4, t4, 5
    addi a0, t5, -25
    bge zero, a0, SHIFTED
    sra a2, a2, a0
    li t5, 0
SHIFTED:
    add a2, a2, t4
    li a0, 33554432; srl a0, a0, t5
    bge a0, a2, BELOW
    mv a2, a0
BELOW:
    sub a0, zero, a0
    bge a2, a0, ABOVE
    mv a2, a0
ABOVE:
    lw t4, 4(a6)
    addi a6, a6, 8
    sll a2, a2, t5; mulh t5, a2, t4; mul a2, a2, t4; add t5, t5, s7
    beq a2, zero, EVEN
ROUNDED:
    srai a2, t5, 15
    bge a2, s5, LEAST
    mv a2, s5
LEAST:
    bge s6, a2, MOST
    mv a2, s6
MOST:
    sb a2, 0(a5)
    add a5, a5, s9
    jalr zero, 0(t6)
EVEN:  // what lies in the middle between two integers, and was rounded up to an odd one
    slli a0, t5, 17
    bne a0, zero, ROUNDED
    xor a0, t5, s7; slli a0, a0, 16
    bge a0, zero, ROUNDED
    li a0, 32768; sub t5, t5, a0
    j ROUNDED
NEXT:
    lw t0, p_out_position_stride(a3); add s2, s2, t0
    lw t0, p_x_position_stride(a3); add s0, s0, t0
    addi s3, s3, -1
    bne s3, zero, POSITION
    restore_all
    addi sp, sp, 48
    li a0, 0
endfunction qdots8

//> qdots8_many = qdots8
