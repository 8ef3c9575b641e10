// Shared by all sources for ARM: how a function begins and ends, and frames.
//
// A source is assembled once for each of its forms, whose name in capitals is defined as 1.
//
// A function takes x, w, out and p in r0 to r3, may change r0 to r7, r12, lr and flags, and must
// preserve r8 to r11. It returns a small integer in r0.

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

// Ends a function, as the last instruction of @micropython.asm_thumb does, too.
.macro endfunction name:req
\name\().end:
    pop {r1, r4-r7, pc}
.endm

// Saves and restores r8 to r11 by way of r4 to r7, as ARMv6-M requires.
.macro push_high
    mov r4, r8; mov r5, r9; mov r6, r10; mov r7, r11
    push {r4-r7}
.endm

.macro pop_high
    pop {r4-r7}
    mov r8, r4; mov r9, r5; mov r10, r6; mov r11, r7
.endm

#if !THUMB
// r3:r2 = \sum times \factor, plus \middle << 32, which rounds bits 43 and above; if r2 is 0,
// the product may have been a tie: `even_product name` must follow.
.macro rounded_product sum, factor, middle, name
    movs r2, #0; mov r3, \middle; smlal r2, r3, \sum, \factor
    cmp r2, #0; beq.w EVEN_\name
ROUNDED_\name:
.endm

// Subtracts one if a tie was rounded to an odd number, not counting \middle.
.macro even_product middle, name
EVEN_\name:
    lsls r2, r3, #21; bne ROUNDED_\name
    eor r2, r3, \middle; lsls r2, #20; bpl ROUNDED_\name
    sub r3, #2048
    b ROUNDED_\name
.endm

// r4 = bits 47 and above of r4 times \factor, rounded to even, plus \middle >> 11. Changes r2, r3.
.macro slow_product factor, middle
    smull r2, r3, r4, \factor
    asrs r4, r3, #15; lsls r3, #17
    orr r2, r2, r3, lsl #1; orrs r2, r2, r4, lsl #31
    it ne; addne r4, r4, r3, lsr #31
    add r4, r4, \middle, asr #11
.endm
#endif

#if VFP
// Converts weights from mantissas to floats: 22 fractional bits, minus the register \two.
.macro to_floats two, weights:vararg
    .irp weight, \weights
    vcvt.f32.s32 \weight, \weight, #22
    .endr
    .irp weight, \weights
    vsub.f32 \weight, \weight, \two
    .endr
.endm
#endif
