// Copies rows of planes with padding: see loops/planes. Assembler for RISC-V.
//
// 4 instructions a byte of neighbours, 6 of others, 4 of padding, 20 a row.
//
// Forms: rv32

#include "core.h"

function planes
    // a1 step of x, a2 out, a4 flip, a5 padding, a6 plane, a7 y, t0 rows left, t1 planes left, t2
    // end of the row, t3 x, t4 end of its elements, a0 and t5 bytes, t6 end of fours
    lw t4, p_x_start(a3); add a6, a0, t4
    lw t4, p_out_start(a3); add a2, a2, t4
    lw t1, p_planes(a3)
    lw a1, p_x_column_stride(a3)
    lw a4, p_flip(a3)
    lw a5, p_padding(a3)
PLANE:
    lw a7, p_first_row(a3)
    li t4, 536870912; sub a7, a7, t4
    lw t0, p_out_rows(a3)
ROW:
    lw t2, p_out_columns(a3); add t2, t2, a2
    lw t4, p_rows(a3); bgeu a7, t4, RIGHT
    lw t3, p_x_row_stride(a3); mul t3, t3, a7; add t3, t3, a6
    lw t4, p_left_padding(a3); add t4, t4, a2
LEFT:
    beq a2, t4, ITEMS
    sb a5, 0(a2)
    addi a2, a2, 1
    j LEFT
ITEMS:
    lw t4, p_columns(a3); add t4, t4, a2; addi t6, t4, -3
    li t5, 1
    bne a1, t5, REST
    bgeu a2, t6, REST
FOUR:
    lbu t5, 0(t3); lbu a0, 1(t3)
    xor t5, t5, a4
    xor a0, a0, a4
    sb t5, 0(a2)
    sb a0, 1(a2)
    lbu t5, 2(t3); lbu a0, 3(t3)
    xor t5, t5, a4
    xor a0, a0, a4
    sb t5, 2(a2)
    sb a0, 3(a2)
    addi t3, t3, 4; addi a2, a2, 4; bltu a2, t6, FOUR
REST:
    beq a2, t4, RIGHT
ITEM:
    lbu t5, 0(t3); xor t5, t5, a4; sb t5, 0(a2)
    add t3, t3, a1
    addi a2, a2, 1
    bne a2, t4, ITEM
RIGHT:
    beq a2, t2, NEXT
    sb a5, 0(a2)
    addi a2, a2, 1
    j RIGHT
NEXT:
    addi a7, a7, 1; addi t0, t0, -1
    bne t0, zero, ROW
    lw t4, p_x_plane_stride(a3); add a6, a6, t4
    addi t1, t1, -1
    bne t1, zero, PLANE
    li a0, 0
endfunction planes
