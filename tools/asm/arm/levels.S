// Searches for floats among sorted levels: see loops/levels. Assembler, ARMv6-M instructions only.
//
// 10 instructions a step of the search, 20 an element.
//
// Forms: thumb

#include "core.h"

function levels8
    // r0 x, r1 levels, r2 out, r5 bits, r6 and r7 range of the search, r8 end of x, r9 first byte,
    // r10 negative levels, r11 levels, r12 p
    push_high
    mov r12, r3
    ldr r4, [r3, #p_start]; adds r2, r4
    ldr r5, [r3, #p_end]; cmp r4, r5; bge DONE
    lsls r5, #2; adds r5, r0; mov r8, r5
    lsls r4, #2; adds r0, r4
    ldr r4, [r3, #p_low]; mov r9, r4
    ldr r4, [r3, #p_negative_levels]; mov r10, r4
    ldr r4, [r3, #p_levels]; mov r11, r4
ITEM:
    mov r3, r12
    ldr r4, [r0]
    ldr r5, [r3, #p_magnitude_mask]; ands r5, r4
    cmp r4, #0; blt NEGATIVE
    mov r6, r10; mov r7, r11
    b POSITIVE_END
POSITIVE:
    adds r4, r6, r7; lsrs r4, #1; lsls r3, r4, #2; ldr r3, [r1, r3]
    cmp r3, r5; bgt POSITIVE_BEHIND
    adds r6, r4, #1
    b POSITIVE_END
POSITIVE_BEHIND:
    mov r7, r4
POSITIVE_END:
    cmp r6, r7; blt POSITIVE
    b FOUND
NEGATIVE:
    movs r6, #0; mov r7, r10
    b NEGATIVES_END
NEGATIVES:
    adds r4, r6, r7; lsrs r4, #1; lsls r3, r4, #2; ldr r3, [r1, r3]
    cmp r3, r5; blt NEGATIVES_BEHIND
    adds r6, r4, #1
    b NEGATIVES_END
NEGATIVES_BEHIND:
    mov r7, r4
NEGATIVES_END:
    cmp r6, r7; blt NEGATIVES
FOUND:
    add r6, r9
    mov r3, r12; ldr r4, [r3, #p_infinity]; cmp r5, r4; ble NUMBER
    ldr r6, [r3, #p_nan]
NUMBER:
    strb r6, [r2]
    adds r2, #1; adds r0, #4; cmp r0, r8; bne ITEM
DONE:
    pop_high
endfunction levels8
