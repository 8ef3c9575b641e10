// im2col of bytes: see loops/patches. Assembler for RISC-V (RV32IM).
//
// 6 instructions a byte, 4 or 5 of padding, 25 a row of a patch.
//
// Forms: rv32

#include "core.h"

.macro put_two i, j
    lbu t4, 0(t1); add t1, t1, a6; lbu t5, 0(t1); add t1, t1, a6
    xor t4, t4, a4; xor t5, t5, a4; sb t4, \i(a2); sb t5, \j(a2)
    add t0, t0, t4; add t0, t0, t5
.endm

function patches
    // a0 image, a1 record, a2 out, a4 flip, a5 padding, a6 step of kx, a7 kw; s0 channel, s1 row,
    // s2 y, s3 that of the corner, s4 columns of padding on the left, s5 on the right, s6 bytes to
    // the first element, s7 rows left, s8 channels left, s9 and s10 row and column of the position,
    // s11 positions left; t0 sum, t1 x, t2 end of the row, t3 of its elements, t6 of their fours
    addi sp, sp, -48
    save_all
    lw t0, p_x_start(a3); add a0, a0, t0
    lw a4, p_flip(a3)
    lw a5, p_padding(a3)
    lw t4, p_zero_start(a3); beq t4, zero, KNOWN
    add t4, t4, a2; lbu a5, 0(t4)
KNOWN:
    lw a6, p_kernel_column_step(a3)
    lw a7, p_kernel_columns(a3)
    lw s9, p_row(a3)
    lw s10, p_column(a3)
    lw s11, p_positions(a3)
    lw t4, p_out_columns(a3)
WRAP:
    bltu s10, t4, POSITION
    sub s10, s10, t4
    addi s9, s9, 1
    j WRAP
POSITION:
    li t6, 536870912
    lw s3, p_row_stride(a3); mul s3, s3, s9
    lw t4, p_corner_row(a3); add s3, s3, t4; sub s3, s3, t6
    lw t0, p_column_stride(a3); mul t0, t0, s10
    lw t4, p_corner_column(a3); add t0, t0, t4; sub t0, t0, t6
    lw s0, p_x_row_stride(a3); mul s0, s0, s3; add s0, s0, a0
    lw t4, p_x_column_stride(a3); mul t4, t4, t0; add s0, s0, t4
    li s4, 0; li s5, 0
    lw t1, p_column_dilation(a3)
    bge t0, zero, NO_LEFT
    addi t2, t1, -1; sub t2, t2, t0; divu s4, t2, t1; bgeu a7, s4, NO_LEFT
    mv s4, a7
NO_LEFT:
    mul s6, s4, a6
    addi t2, a7, -1; mul t2, t2, t1; add t2, t2, t0
    lw t3, p_columns(a3)
    blt t2, t3, NO_RIGHT
    sub t2, t3, t0; add t2, t2, t1; addi t2, t2, -1; div t2, t2, t1
    bge t2, s4, SOME
    mv t2, s4
SOME:
    sub s5, a7, t2
NO_RIGHT:
    mv a1, a2
    addi a2, a2, 4
    li t0, 0
    lw s8, p_channels(a3)
CHANNEL:
    mv s1, s0; mv s2, s3
    lw s7, p_kernel_rows(a3)
ROW:
    add t2, a2, a7
    lw t4, p_rows(a3); bgeu s2, t4, RIGHT
    add t3, a2, s4
LEFT:
    beq a2, t3, ITEMS
    sb a5, 0(a2)
    add t0, t0, a5
    addi a2, a2, 1
    j LEFT
ITEMS:
    add t1, s1, s6
    sub t3, t2, s5; addi t6, t3, -3; bgeu a2, t6, REST
FOUR:
    put_two 0, 1; put_two 2, 3
    addi a2, a2, 4; bltu a2, t6, FOUR
REST:
    beq a2, t3, RIGHT
ITEM:
    lbu t4, 0(t1)
    add t1, t1, a6
    xor t4, t4, a4; sb t4, 0(a2)
    add t0, t0, t4
    addi a2, a2, 1
    bne a2, t3, ITEM
RIGHT:
    beq a2, t2, NEXT_ROW
PADDING:
    sb a5, 0(a2)
    add t0, t0, a5
    addi a2, a2, 1
    bne a2, t2, PADDING
NEXT_ROW:
    lw t4, p_kernel_row_step(a3); add s1, s1, t4
    lw t4, p_row_dilation(a3); add s2, s2, t4
    addi s7, s7, -1
    bne s7, zero, ROW
    lw t4, p_x_channel_stride(a3); add s0, s0, t4
    addi s8, s8, -1
    bne s8, zero, CHANNEL
    sw t0, 0(a1)
    lw t4, p_record_padding(a3); add t4, t4, a2
ZEROS:
    beq a2, t4, NEXT
    sb zero, 0(a2)
    addi a2, a2, 1
    j ZEROS
NEXT:
    addi s10, s10, 1
    lw t4, p_out_columns(a3)
    bne s10, t4, SAME_ROW
    li s10, 0
    addi s9, s9, 1
SAME_ROW:
    addi s11, s11, -1
    bne s11, zero, POSITION
    restore_all
    addi sp, sp, 48
    li a0, 0
endfunction patches
