// Looks bytes up in a table: see loops/lookup. Assembler for RISC-V.
//
// 4.75 instructions a byte, 5.75 where elements are words.
//
// Forms: rv32

#include "core.h"

// a4: end of x, a5: end of its last four, t0 to t3 elements.

// Element in register \t of the table of bytes, or of words, for the byte \at behind x.
.macro byte_of t:req, at:req
    lbu \t, \at(a0); add \t, \t, a1; lbu \t, 0(\t)
.endm

.macro word_of t:req, at:req
    lbu \t, \at(a0); slli \t, \t, 2; add \t, \t, a1; lw \t, 0(\t)
.endm

function lookup8
    lw t0, p_start(a3); lw a4, p_end(a3)
    add a4, a4, a0; addi a5, a4, -3
    add a0, a0, t0; add a2, a2, t0
    bgeu a0, a5, lookup8_REST
lookup8_FOUR:
    byte_of t0, 0; byte_of t1, 1; byte_of t2, 2; byte_of t3, 3
    sb t0, 0(a2); sb t1, 1(a2); sb t2, 2(a2); sb t3, 3(a2)
    addi a0, a0, 4; addi a2, a2, 4; bltu a0, a5, lookup8_FOUR
lookup8_REST:
    bgeu a0, a4, lookup8_DONE
lookup8_ONE:
    byte_of t0, 0; sb t0, 0(a2)
    addi a0, a0, 1; addi a2, a2, 1; bltu a0, a4, lookup8_ONE
lookup8_DONE:
    li a0, 0
endfunction lookup8

function lookup32
    lw t0, p_start(a3); lw a4, p_end(a3)
    add a4, a4, a0; addi a5, a4, -3
    add a0, a0, t0; slli t0, t0, 2; add a2, a2, t0
    bgeu a0, a5, lookup32_REST
lookup32_FOUR:
    word_of t0, 0; word_of t1, 1; word_of t2, 2; word_of t3, 3
    sw t0, 0(a2); sw t1, 4(a2); sw t2, 8(a2); sw t3, 12(a2)
    addi a0, a0, 4; addi a2, a2, 16; bltu a0, a5, lookup32_FOUR
lookup32_REST:
    bgeu a0, a4, lookup32_DONE
lookup32_ONE:
    word_of t0, 0; sw t0, 0(a2)
    addi a0, a0, 1; addi a2, a2, 4; bltu a0, a4, lookup32_ONE
lookup32_DONE:
    li a0, 0
endfunction lookup32
