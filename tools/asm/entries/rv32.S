// Begins a loop in a .mpy file on RISC-V: see entries.h. The loop's code follows.

#include "entries.h"

.option norelax
.globl entry
entry:
    addi sp, sp, -32
    sw ra, 28(sp); sw s0, 24(sp); sw s1, 20(sp); sw s2, 16(sp)
    mv s0, a3
    lw t0, f_context(a0); lw t0, m_obj_table(t0)
.globl table
table:
    .option push
    .option norvc
    lw s1, 0(t0)
    .option pop
    bnez a2, WRONG
    li t0, ARGUMENTS; beq a1, t0, RIGHT
WRONG:
    mv a0, a1; mv a1, a2; li a2, SIGNATURE
    lw t0, t_arg_check_num_sig(s1); jalr t0
RIGHT:
    mv s2, sp
NEXT:
    lw a0, 0(s0); li a1, IS_POINTER
    lw t0, t_native_from_obj(s1); jalr t0
    sw a0, 0(s2)
    addi s0, s0, 4; addi s2, s2, 4; addi t0, sp, 4 * ARGUMENTS
    bne s2, t0, NEXT
    lw a0, 0(sp); lw a1, 4(sp); lw a2, 8(sp); lw a3, 12(sp)
    jal ra, LOOP
    li a1, IS_INT; lw t0, t_native_to_obj(s1)
    lw ra, 28(sp); lw s0, 24(sp); lw s1, 20(sp); lw s2, 16(sp)
    addi sp, sp, 32
    jr t0
    .balign 4
LOOP:
