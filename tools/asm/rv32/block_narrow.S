// Exact sums of mantissas with narrow weights: see loops/viper/block_narrow for how. Assembler for
// RISC-V (RV32IM).
//
// 7 instructions a multiply-accumulate in the unrolled part, of 4 bits 4. Rows and channels are
// above 0.
//
// Forms: rv32

#include "core.h"

// A, B of the part += the element in t2 times the weight in t3.
.macro add_product
    srai t4, t2, 12; mul t2, t2, t3; mul t4, t4, t3; add a6, a6, t2; add a7, a7, t4
.endm

.macro add_16 i
    lw t2, 4*\i(a0); lhu t3, 2*\i(a1); add_product
.endm

.macro add_8 i
    lw t2, 4*\i(a0); lbu t3, \i(a1); add_product
.endm

// Two weights in the byte \i, whose products need no parts.
.macro add_two_of_4 i
    lbu t3, \i(a1); lw t2, 8*\i(a0); andi t4, t3, 15; mul t2, t2, t4; add a6, a6, t2
    lw t2, 8*\i+4(a0); srli t3, t3, 4; mul t2, t2, t3; add a6, a6, t2
.endm

function dots
    // s0 row, s1 w, s2 out, s3 rows left, s4 bytes of a row, s5 of a step, s6 channels, s7 end of
    // the row, s8 channels left, s9 bits, s10 bytes of x in a part; t0, t1 the sum; a6, a7 the
    // sums A, B of a part, which ends at a4
    addi sp, sp, -48
    save_most
    lw t0, p_x_start(a3); slli t0, t0, 2; add s0, a0, t0
    lw s9, p_bits(a3); srli t1, s9, 4
    lw t0, p_w_start(a3); sll t0, t0, t1; add s1, a1, t0
    lw t0, p_out_start(a3); slli t0, t0, 2; add s2, a2, t0
    lw s3, p_rows(a3)
    lw s4, p_columns(a3); slli s4, s4, 2
    lw s5, p_x_row_stride(a3); slli s5, s5, 2
    lw s6, p_channels(a3)
    li s10, 48; li t0, 8
    blt t0, s9, ROW
    li s10, 960
    beq t0, s9, ROW
    li s10, 64
ROW:
    add s7, s0, s4
    mv a0, s0; li t0, 0; li t1, 256
    beq a0, s7, TOTALLED
ITEM:
    lw t3, 0(a0)
    addi a0, a0, 4
    add t0, t0, t3; sltu t2, t0, t3
    srai t3, t3, 31; add t1, t1, t3; add t1, t1, t2
    bne a0, s7, ITEM
TOTALLED:
    jal t6, STORE
    mv s8, s6; mv a1, s1
CHANNEL:
    mv a0, s0; li t0, 0; li t1, 128; sll t1, t1, s9
PART:
    beq a0, s7, SUMMED
    sub t4, s7, a0
    bge s10, t4, REST
    mv t4, s10
REST:
    add a4, a0, t4
    andi t4, t4, -16; add a5, a0, t4
    li a6, 0; li a7, 0; li t5, 8
    beq s9, t5, BITS8
    blt s9, t5, BITS4
    beq a0, a5, SINGLE16
FOUR16:
    add_16 0; add_16 1; add_16 2; add_16 3
    addi a0, a0, 16; addi a1, a1, 8
    bne a0, a5, FOUR16
SINGLE16:
    beq a0, a4, DONE
    add_16 0
    addi a0, a0, 4; addi a1, a1, 2
    j SINGLE16
DONE:
    slli t2, a7, 12; sub t3, a6, t2  // L
    srai t4, a7, 20
    sltu t5, a6, t3; add t4, t4, t5; add t0, t0, a6; sltu t5, t0, a6
    add t1, t1, t4; add t1, t1, t5
    j PART
SUMMED:
    addi t4, s9, 8; srl t2, t0, t4
    sub t4, zero, t4  // 24 - bits, modulo 32
    sll t1, t1, t4; add t1, t1, t2
    sll t0, t0, t4
    jal t6, STORE
    addi s8, s8, -1
    bne s8, zero, CHANNEL
    add s0, s0, s5
    addi s3, s3, -1
    bne s3, zero, ROW
    restore_most
    addi sp, sp, 48
    li a0, 0
    jalr zero, 0(ra)
BITS8:
    beq a0, a5, SINGLE8
FOUR8:
    add_8 0; add_8 1; add_8 2; add_8 3
    addi a0, a0, 16; addi a1, a1, 4
    bne a0, a5, FOUR8
SINGLE8:
    beq a0, a4, DONE
    add_8 0
    addi a0, a0, 4; addi a1, a1, 1
    j SINGLE8
BITS4:
    beq a0, a5, SINGLE4
FOUR4:
    add_two_of_4 0; add_two_of_4 1
    addi a0, a0, 16; addi a1, a1, 2
    bne a0, a5, FOUR4
SINGLE4:
    beq a0, a4, DONE4
    lbu t3, 0(a1)
    addi a1, a1, 1
    lw t2, 0(a0)
    addi a0, a0, 4
    andi t4, t3, 15; mul t2, t2, t4; add a6, a6, t2
    beq a0, a4, DONE4
    lw t2, 0(a0)
    addi a0, a0, 4
    srli t3, t3, 4; mul t2, t2, t3; add a6, a6, t2
    j SINGLE4
DONE4:
    srai a7, a6, 12
    j DONE
STORE:  // t0, t1 as limbs
    slli t2, t0, 8; srli t2, t2, 8; sw t2, 0(s2)
    srli t2, t0, 24
    slli t3, t1, 16; srli t3, t3, 8; add t2, t2, t3; sw t2, 4(s2)
    srli t2, t1, 16; sw t2, 8(s2)
    addi s2, s2, 12
    jalr zero, 0(t6)
endfunction dots
