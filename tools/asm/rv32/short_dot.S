// Sums of short mantissas: see loops/short_dot. Assembler for RISC-V (RV32IM).
//
// Four channels at a time: 3.6 instructions a multiply-accumulate in the unrolled part, 5.8 of
// up to three last channels. There is at least one row and one channel.
//
// Forms: rv32

#include "core.h"

// Sums of four channels += element i of four times their weights.
.macro add_element i
    lw t4, 4*\i(a0)
    lhu t5, 2*\i(a1); mul t5, t5, t4; add t0, t0, t5
    lhu t5, 2*\i(a2); mul t5, t5, t4; add t1, t1, t5
    lhu t5, 2*\i(a4); mul t5, t5, t4; add t2, t2, t5
    lhu t5, 2*\i(a5); mul t5, t5, t4; add t3, t3, t5
.endm

// The sum of one channel, without the 2**14 in its weights.
.macro add_single i
    lw t4, 4*\i(a0); lhu t5, 2*\i(a1); sub t5, t5, t6; mul t5, t5, t4; add t0, t0, t5
.endm

function dots
    // s0 row, s1 w, s2 out, s3 rows left, s4 bytes of a row, s5 of a step, s6 channels, s7 end of
    // the row, s8 of what is unrolled, s9 channels left, s10 bytes of a row of weights, s11 what
    // sums start with; a0 x, a1, a2, a4, a5 w of four channels, t0 to t3 their sums, t6 2**14
    addi sp, sp, -48
    save_all
    lw t0, p_x_start(a3); slli t0, t0, 2; add s0, a0, t0
    lw t0, p_w_start(a3); slli t0, t0, 1; add s1, a1, t0
    lw t0, p_out_start(a3); slli t0, t0, 2; add s2, a2, t0
    lw s3, p_rows(a3)
    lw s4, p_columns(a3); addi s10, s4, 1; srli s10, s10, 1; slli s10, s10, 2
    slli s4, s4, 2
    lw s5, p_x_row_stride(a3); slli s5, s5, 2
    lw s6, p_channels(a3)
    li t6, 1; slli t6, t6, 14
ROW:
    mv s9, s6; mv a1, s1
    add s7, s0, s4
    andi s8, s4, -16; add s8, s0, s8
    li t0, 4
    blt s9, t0, LAST
    mv a0, s0; li t0, 0
    beq a0, s8, COUNT
TOTAL:
    lw t1, 0(a0); lw t2, 4(a0); lw t3, 8(a0)
    lw t4, 12(a0)
    add t1, t1, t2; add t3, t3, t4; add t0, t0, t1; add t0, t0, t3
    addi a0, a0, 16
    bne a0, s8, TOTAL
COUNT:
    beq a0, s7, TOTALLED
    lw t1, 0(a0); add t0, t0, t1
    addi a0, a0, 4
    j COUNT
TOTALLED:
    li s11, 1; slli s11, s11, 30
    slli t0, t0, 14; sub s11, s11, t0
CHANNELS:
    li t0, 4
    blt s9, t0, LAST
    addi s9, s9, -4
    add a2, a1, s10; add a4, a2, s10; add a5, a4, s10
    mv a0, s0; mv t0, s11; mv t1, s11; mv t2, s11
    mv t3, s11
    beq a0, s8, REST
FOUR:
    add_element 0; add_element 1; add_element 2; add_element 3
    addi a0, a0, 16; addi a1, a1, 8; addi a2, a2, 8; addi a4, a4, 8
    addi a5, a5, 8
    bne a0, s8, FOUR
REST:
    beq a0, s7, SUMMED
ITEM:
    add_element 0
    addi a0, a0, 4; addi a1, a1, 2; addi a2, a2, 2; addi a4, a4, 2
    addi a5, a5, 2
    bne a0, s7, ITEM
SUMMED:
    addi a1, a5, 3; andi a1, a1, -4
    sw t0, 0(s2)
    sw t1, 4(s2)
    sw t2, 8(s2)
    sw t3, 12(s2)
    addi s2, s2, 16
    j CHANNELS
LAST:
    beq s9, zero, NEXT
    addi s9, s9, -1
    mv a0, s0
    slli t0, t6, 16
    beq a0, s8, LAST_REST
LAST_FOUR:
    add_single 0; add_single 1; add_single 2; add_single 3
    addi a0, a0, 16; addi a1, a1, 8
    bne a0, s8, LAST_FOUR
LAST_REST:
    beq a0, s7, LAST_SUMMED
LAST_ITEM:
    add_single 0
    addi a0, a0, 4; addi a1, a1, 2
    bne a0, s7, LAST_ITEM
LAST_SUMMED:
    addi a1, a1, 3; andi a1, a1, -4
    sw t0, 0(s2)
    addi s2, s2, 4
    j LAST
NEXT:
    add s0, s0, s5
    addi s3, s3, -1
    bne s3, zero, ROW
    restore_all
    addi sp, sp, 48
    li a0, 0
    jalr zero, 0(ra)
endfunction dots
