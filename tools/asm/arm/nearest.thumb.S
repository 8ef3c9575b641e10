// Quotients of float32 as bytes: see loops/nearest. Assembler, ARMv6-M instructions only.
//
// 32 instructions an element, and 60 to 100 beside a middle between two integers.
//
// Forms: thumb

#include "core.h"

function nearest8
    // r3 1 / scale, r7 1 << 15, r8 end of x, r9 flip, r10 zero, r11 exponent of the scale + 23,
    // r12 p, lr the scale's mantissa
    push_high
    mov r12, r3
    ldr r4, [r3, #p_start]; ldr r5, [r3, #p_end]
    cmp r4, r5; blt SOME
    b DONE
SOME:
    adds r2, r4
    lsls r5, #2; adds r5, r0; mov r8, r5
    lsls r4, #2; adds r0, r4
    ldr r4, [r3, #p_flip]; mov r9, r4
    ldr r4, [r3, #p_zero_point]; mov r10, r4
    ldr r1, [r1]
    lsrs r4, r1, #23; adds r4, #23; mov r11, r4
    lsls r1, #9; lsrs r1, #9
    movs r4, #1; lsls r4, #23; orrs r1, r4; mov lr, r1
    movs r3, #0; movs r7, #15
INVERSE:
    lsls r4, #1; lsls r3, #1
    cmp r4, r1; blo LESS
    subs r4, r1; adds r3, #1
LESS:
    subs r7, #1; bne INVERSE
    movs r7, #1; lsls r7, #15
ITEM:
    ldr r4, [r0]
    lsls r5, r4, #1; lsrs r6, r5, #24
    mov r1, r11; subs r6, r1, r6
    mov r1, r6; subs r1, #14; cmp r1, #11; bhs OUTSIDE
    lsls r5, #8; lsrs r5, #17; adds r5, r7; muls r5, r3
    lsrs r5, r6; adds r5, #68
    lsls r1, r5, #25; lsrs r1, #25; cmp r1, #5; blo MIDDLE
    lsrs r5, #7
SIGNED:
    asrs r4, #31; eors r5, r4; subs r5, r4
    add r5, r10
    cmp r5, #255; bhi CUT
PUT:
    mov r1, r9; eors r5, r1
STORE:
    strb r5, [r2]
    adds r2, #1; adds r0, #4; cmp r0, r8; bne ITEM
    b DONE
CUT:
    asrs r5, #31; mvns r5, r5; uxtb r5, r5
    b PUT
OUTSIDE:
    cmp r6, #14; blt LARGE
    mov r5, r10
    b PUT
LARGE:
    lsrs r5, #1
    mov r1, r12; ldr r6, [r1, #p_infinity]; cmp r5, r6; bhi NAN
    asrs r4, #31; mvns r5, r4; uxtb r5, r5
    b PUT
NAN:
    ldr r5, [r1, #p_nan]
    b STORE
MIDDLE:
    lsrs r5, #7
    push {r3, r7}
    movs r1, #24; subs r6, r1, r6
    lsls r1, r4, #9; lsrs r1, #9
    lsls r7, #8; orrs r1, r7
    lsls r1, r6
    lsls r6, r5, #1; subs r6, #1
    mov r3, lr; muls r3, r6; subs r1, r3
    movs r7, #25
BITS:
    subs r7, #1; lsrs r6, #1; bne BITS
    mov r3, lr; lsrs r3, r7
    lsls r6, r5, #31; bne ODD
    negs r3, r3
    b COMPARE
ODD:
    adds r3, #1
COMPARE:
    cmp r1, r3; bge KEPT
    subs r5, #1
KEPT:
    pop {r3, r7}
    b SIGNED
DONE:
    pop_high
    movs r0, #0
endfunction nearest8
