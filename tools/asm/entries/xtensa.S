// Begins a loop in a .mpy file on Xtensa with register windows: see entries.h. The loop's code
// follows.

#include "entries.h"

.globl entry
entry:
    entry a1, 48
    mov a6, a1
    l32i a8, a2, f_context; l32i a8, a8, m_obj_table
.globl table
table:
    _l32i a7, a8, 0
    bnez a4, WRONG
    beqi a3, ARGUMENTS, RIGHT
WRONG:
    mov a10, a3; mov a11, a4
    movi a8, ARGUMENTS; slli a12, a8, 17; add a8, a8, a8; or a12, a12, a8
    l32i a8, a7, t_arg_check_num_sig; callx8 a8
RIGHT:
    l32i a10, a5, 0; movi a11, IS_POINTER
    l32i a8, a7, t_native_from_obj; callx8 a8
    s32i a10, a6, 0
    addi a5, a5, 4; addi a6, a6, 4; addi a8, a1, 4 * ARGUMENTS
    bne a6, a8, RIGHT
    l32i a10, a1, 0; l32i a11, a1, 4; l32i a12, a1, 8; l32i a13, a1, 12
    _call8 LOOP
    movi a11, IS_INT; l32i a8, a7, t_native_to_obj; callx8 a8
    mov a2, a10
    retw
    .balign 4
LOOP:
