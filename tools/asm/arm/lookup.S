// Looks bytes up in a table: see loops/lookup. Assembler, ARMv6-M instructions only.
//
// 4 instructions a byte, 5 where elements are words.
//
// Forms: thumb

#include "core.h"

function lookup8
    ldr r4, [r3, #p_end]; ldr r3, [r3, #p_start]; adds r0, r3
    adds r2, r3
    subs r4, r3; subs r4, #4; blt lookup8_REST
lookup8_FOUR:
    ldrb r5, [r0]; ldrb r5, [r1, r5]; strb r5, [r2]
    ldrb r5, [r0, #1]; ldrb r5, [r1, r5]; strb r5, [r2, #1]
    ldrb r5, [r0, #2]; ldrb r5, [r1, r5]; strb r5, [r2, #2]
    ldrb r5, [r0, #3]; ldrb r5, [r1, r5]; strb r5, [r2, #3]
    adds r0, #4; adds r2, #4; subs r4, #4; bge lookup8_FOUR
lookup8_REST:
    adds r4, #4; beq lookup8_DONE
lookup8_ONE:
    ldrb r5, [r0]; ldrb r5, [r1, r5]; strb r5, [r2]
    adds r0, #1; adds r2, #1; subs r4, #1; bne lookup8_ONE
lookup8_DONE:
endfunction lookup8

function lookup32
    ldr r4, [r3, #p_end]; ldr r3, [r3, #p_start]; adds r0, r3
    subs r4, r3
    lsls r3, #2; adds r2, r3
    subs r4, #4; blt lookup32_REST
lookup32_FOUR:
    ldrb r5, [r0]; lsls r5, #2; ldr r5, [r1, r5]; str r5, [r2]
    ldrb r5, [r0, #1]; lsls r5, #2; ldr r5, [r1, r5]; str r5, [r2, #4]
    ldrb r5, [r0, #2]; lsls r5, #2; ldr r5, [r1, r5]; str r5, [r2, #8]
    ldrb r5, [r0, #3]; lsls r5, #2; ldr r5, [r1, r5]; str r5, [r2, #12]
    adds r0, #4; adds r2, #16; subs r4, #4; bge lookup32_FOUR
lookup32_REST:
    adds r4, #4; beq lookup32_DONE
lookup32_ONE:
    ldrb r5, [r0]; lsls r5, #2; ldr r5, [r1, r5]; str r5, [r2]
    adds r0, #1; adds r2, #4; subs r4, #1; bne lookup32_ONE
lookup32_DONE:
endfunction lookup32
