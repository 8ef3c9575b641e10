// Hands work over between two cores: see loops/handover. Assembler for RISC-V.
//
// Forms: rv32

#include "core.h"

//> from ..handover import attend, begin  # calls of Python's, and what takes no time

words 0, h_mode, h_first, h_second, h_asked, h_done, h_failed, h_ends, h_left

// Indices of a program's words.
.equ p_calls, 4

function fence, arguments=1
    fence
endfunction fence

function meet
    // a4 where the other core's count is, a5 this core's count, t0 rounds
    lw a5, h_mode(a0); bne a5, zero, TWO
    lw a5, p_calls(a1); sw a5, h_left(a0)
    beq zero, zero, STOP
TWO:
    fence
    slli a2, a2, 2; add a4, a0, a2
    lw a5, 0(a4); addi a5, a5, 1; sw a5, 0(a4)
    sub a4, a0, a2; addi a4, a4, 12
    addi t0, zero, 1; slli t0, t0, 29
    addi t2, a0, h_second
WAIT:
    lw t1, h_failed(a0); bne t1, zero, STOP
    lw t1, 0(a4); bge t1, a5, DONE
    addi t0, t0, -1; bne t0, zero, WAIT
    bne a4, t2, WAIT
    addi t1, zero, 1; sw t1, h_failed(a0)
STOP:
    sw zero, p_calls(a1)
DONE:
    fence
    li a0, 0
endfunction meet
