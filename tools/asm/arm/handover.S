// Hands work over between two cores: see loops/handover. Assembler, ARMv6-M instructions only.
//
// Forms: thumb

#include "core.h"

//> from ..handover import attend, begin  # calls of Python's, and what takes no time

words 0, h_mode, h_first, h_second, h_asked, h_done, h_failed, h_ends, h_left

// Indices of a program's words.
.equ p_calls, 4

function fence, arguments=1
    dmb
endfunction fence

function meet
    // r2 count of the other core, r3 this core's, r5 rounds
    ldr r3, [r0, #h_mode]; cmp r3, #0; bne TWO
    ldr r3, [r1, #p_calls]; str r3, [r0, #h_left]
    b STOP
TWO:
    dmb
    lsls r2, #2
    ldr r3, [r0, r2]; adds r3, #1; str r3, [r0, r2]
    movs r5, #1; lsls r5, #29
    negs r2, r2; adds r2, #12
WAIT:
    ldr r4, [r0, #h_failed]; cmp r4, #0; bne STOP
    ldr r4, [r0, r2]; cmp r4, r3; bge DONE
    subs r5, #1; bne WAIT
    cmp r2, #h_second; bne WAIT
    movs r4, #1; str r4, [r0, #h_failed]
STOP:
    movs r3, #0; str r3, [r1, #p_calls]
DONE:
    dmb
    movs r0, #0
endfunction meet
