// What all sources for ARM share: how a function begins and ends, and frames.
//
// A source is assembled once for each of its forms, whose name in capitals is defined as 1.
//
// A function takes x, w, out and p in r0 to r3, may change r0 to r7, r12, lr and flags, and has to
// give back r8 to r11 as they were. What it returns, as a small integer, is in r0.

#include "words.h"

.syntax unified
.thumb

// Begins a function. @micropython.asm_thumb writes the first instruction itself.
.macro function name:req, arguments=4
    .balign 4
    .global \name
    .thumb_func
\name:
    .equ \name\().arguments, \arguments
    push {r1, r4-r7, lr}
\name\().body:
.endm

// Ends it, and so does @micropython.asm_thumb with the last instruction.
.macro endfunction name:req
\name\().end:
    pop {r1, r4-r7, pc}
.endm

// Saves r8 to r11, by way of r4 to r7 as ARMv6-M has to, and restores them.
.macro push_high
    mov r4, r8; mov r5, r9; mov r6, r10; mov r7, r11
    push {r4-r7}
.endm

.macro pop_high
    pop {r4-r7}
    mov r8, r4; mov r9, r5; mov r10, r6; mov r11, r7
.endm

#if !THUMB
// \sum = what smull left in r2 and r3, >> 24 and rounded; plus what makes that, >> 16, rounded
// to even from the middle. Changes r2.
.macro round_product sum, middle
    lsrs r2, #24; adc \sum, r2, r3, lsl #8
    lsrs r2, \sum, #17; adcs \sum, \middle
.endm
#endif

#if VFP
// Weights from mantissas to floats: 22 bits behind the point, and \two, a register, too much.
.macro to_floats two, weights:vararg
    .irp weight, \weights
    vcvt.f32.s32 \weight, \weight, #22
    .endr
    .irp weight, \weights
    vsub.f32 \weight, \weight, \two
    .endr
.endm
#endif
