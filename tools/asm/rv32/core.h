// Shared by all sources for RISC-V: how a function begins and ends, and frames.
//
// A function takes x, w, out and p in a0 to a3, may change all a and t registers, and must
// preserve s0 to s11. It returns a small integer in a0.
//
// Only mv and li are compressed, as by @micropython.asm_rv32.

#include "words.h"

.option norvc
.option norelax

// Begins a function.
.macro function name:req, arguments=4
    .balign 4
    .global \name
\name:
    .equ \name\().arguments, \arguments
\name\().body:
.endm

// Ends a function. @micropython.asm_rv32 writes the last instruction itself.
.macro endfunction name:req
\name\().end:
    .option push
    .option rvc
    c.jr ra
    .option pop
.endm

.macro mv to:req, from:req
    .option push
    .option rvc
    c.mv \to, \from
    .option pop
.endm

.macro li to:req, value:req
    .option push
    .option rvc
    .if (\value) >= -32 && (\value) < 32
    c.li \to, \value
    .elseif (\value) >= -2048 && (\value) < 2048
    .option norvc
    addi \to, zero, \value
    .else
    .if ((\value) + 0x800) >> 12 < 32
    c.lui \to, ((\value) + 0x800) >> 12
    .else
    .option norvc
    lui \to, (((\value) + 0x800) >> 12) & 0xfffff
    .endif
    .option norvc
    .if (\value) & 0xfff
    addi \to, \to, (((\value) + 0x800) & 0xfff) - 0x800
    .endif
    .endif
    .option pop
.endm

// Saves s0 to s10 (`most`), or s0 to s11, on the stack, whose pointer the caller has moved, and
// restores them.
.macro save_most
    sw s0, 0(sp); sw s1, 4(sp); sw s2, 8(sp); sw s3, 12(sp); sw s4, 16(sp); sw s5, 20(sp)
    sw s6, 24(sp); sw s7, 28(sp); sw s8, 32(sp); sw s9, 36(sp); sw s10, 40(sp)
.endm

.macro save_all
    save_most
    sw s11, 44(sp)
.endm

.macro restore_most
    lw s0, 0(sp); lw s1, 4(sp); lw s2, 8(sp); lw s3, 12(sp); lw s4, 16(sp); lw s5, 20(sp)
    lw s6, 24(sp); lw s7, 28(sp); lw s8, 32(sp); lw s9, 36(sp); lw s10, 40(sp)
.endm

.macro restore_all
    restore_most
    lw s11, 44(sp)
.endm
