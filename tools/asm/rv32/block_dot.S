// Exact sums of mantissas: see loops/block_dot. Assembler for RISC-V (RV32IM).
//
// Two channels at a time: 6.5 instructions a multiply-accumulate. Of a product x * w there is added
// what mul gives, to L, and mulh(x * 2**7, w), which is floor(x * w / 2**25), to H. The exact sum
// is H * 2**25 and what these floors left, from 0 to 2**32 - 1 for up to 128 products; as its last
// 32 bits are L, that is L - H * 2**25 modulo 2**32. There is at least one row and one channel.
//
// Forms: rv32

#include "core.h"

// Sums of two channels += the elements at a0 + i times their weights: below, and what >> 25 leaves.
.macro add_element i
    lw a3, \i(a0); slli t6, a3, 7
    lw t4, \i(a1); mul t5, a3, t4; mulh t4, t6, t4; add a6, a6, t5; add a7, a7, t4
    lw t4, \i(a5); mul t5, a3, t4; mulh t4, t6, t4; add s10, s10, t5; add s11, s11, t4
.endm

// A sum of 64 bits in low and high += one of a part.
.macro carry low, high, part, part_high
    slli t4, \part_high, 25; sltu t4, \part, t4
    srai \part_high, \part_high, 7; add \part_high, \part_high, t4
    add \low, \low, \part; sltu t4, \low, \part
    add \high, \high, \part_high; add \high, \high, t4
.endm

function dots
    // s0 row, s1 w, s2 out, s3 rows left, s4 bytes of a row, s5 of a step, s6 channels, s7 end of
    // the row, s8 first of the two channels, s9 channels left; a0 x, a1, a5 w of each, a6, a7 and
    // s10, s11 L and H of each, t0, t1 and t2, t3 sums, a2 and a4 where a block of 128 elements
    // ends
    addi sp, sp, -48
    save_all
    lw t0, p_x_start(a3); slli t0, t0, 2; add s0, a0, t0
    lw t0, p_w_start(a3); slli t0, t0, 2; add s1, a1, t0
    lw t0, p_out_start(a3); slli t0, t0, 2; add s2, a2, t0
    lw s3, p_rows(a3)
    lw s4, p_columns(a3); slli s4, s4, 2
    lw s5, p_x_row_stride(a3); slli s5, s5, 2
    lw s6, p_channels(a3)
ROW:
    add s7, s0, s4
    mv a0, s0; li t0, 0; li t1, 256
    beq a0, s7, TOTALLED
BATCH:
    addi a4, a0, 512; bgeu s7, a4, FULL
    mv a4, s7
FULL:
    li t2, 0
ITEM:
    lw t3, 0(a0)
    addi a0, a0, 4
    add t2, t2, t3
    bne a0, a4, ITEM
    add t0, t0, t2; sltu t3, t0, t2
    srai t2, t2, 31; add t1, t1, t2; add t1, t1, t3
    bne a0, s7, BATCH
TOTALLED:
    jal t6, STORE
    mv s8, s1; mv s9, s6
CHANNELS:
    mv a0, s0; mv a1, s8; mv a5, s8; li t4, 1
    beq s9, t4, LAST
    add a5, s8, s4
LAST:
    li t0, 0
    slli t1, t4, 31
    li t2, 0; mv t3, t1
BLOCK:
    sub t4, s7, a0
    li t5, 512
    bge t5, t4, REST
    mv t4, t5
REST:
    add a4, a0, t4
    andi t4, t4, -16; add a2, a0, t4
    li a6, 0; li a7, 0; li s10, 0; li s11, 0
    beq a0, a2, UNROLLED
FOUR:
    add_element 0; add_element 4; add_element 8; add_element 12
    addi a0, a0, 16; addi a1, a1, 16; addi a5, a5, 16
    bne a0, a2, FOUR
UNROLLED:
    beq a0, a4, SUMMED
ONE:
    add_element 0
    addi a0, a0, 4; addi a1, a1, 4; addi a5, a5, 4
    bne a0, a4, ONE
SUMMED:
    carry t0, t1, a6, a7; carry t2, t3, s10, s11
    bne a0, s7, BLOCK
    jal t6, STORE
    addi s9, s9, -1
    beq s9, zero, NEXT
    mv t0, t2; mv t1, t3
    jal t6, STORE
    addi s9, s9, -1
    add s8, s8, s4; add s8, s8, s4
    bne s9, zero, CHANNELS
NEXT:
    add s0, s0, s5
    addi s3, s3, -1
    bne s3, zero, ROW
    restore_all
    addi sp, sp, 48
    li a0, 0
    jalr zero, 0(ra)
STORE:  // t0, t1 as 24, 24 and 16 bits
    slli t4, t0, 8; srli t4, t4, 8; sw t4, 0(s2)
    srli t4, t0, 24
    slli t5, t1, 16; srli t5, t5, 8; or t4, t4, t5; sw t4, 4(s2)
    srli t4, t1, 16; sw t4, 8(s2)
    addi s2, s2, 12
    jalr zero, 0(t6)
endfunction dots
