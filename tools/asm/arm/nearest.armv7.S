// Quotients of float32 as bytes: see loops/nearest. Assembler, ARMv7-M.
//
// 24 instructions an element, and about 50 beside a middle between two integers.
//
// Forms: armv7m

#include "core.h"

function nearest8
    // r3 1 / scale, r7 end of x, r8 p, r9 flip, r10 zero, r11 exponent of the scale + 23, lr the
    // scale's mantissa
    push {r8-r11}
    mov r8, r3
    ldrd r4, r5, [r3, #p_start]; cmp r4, r5; bge.w DONE
    adds r2, r4
    add r7, r0, r5, lsl #2; add r0, r0, r4, lsl #2
    ldrd r10, r9, [r3, #p_zero_point]
    ldr r1, [r1]
    lsr r11, r1, #23; add r11, r11, #23
    ubfx r1, r1, #0, #23; orr r1, r1, #8388608; mov lr, r1
    mov r4, #1073741824; udiv r3, r4, r1
    // 2**30 / mantissa, and eight bits more
    mls r4, r3, r1, r4; lsls r4, r4, #8; udiv r4, r4, r1; add r3, r4, r3, lsl #8
ITEM:
    ldr r4, [r0], #4; ubfx r5, r4, #23, #8
    sub r6, r11, r5
    sub r1, r6, #14; cmp r1, #11; bhs OUTSIDE
    ubfx r5, r4, #8, #15; orr r5, r5, #32768; muls r5, r3
    lsrs r5, r6; adds r5, #68
    and r1, r5, #127; cmp r1, #5; blo MIDDLE
    lsrs r5, r5, #7
SIGNED:
    cmp r4, #0; it lt; rsblt r5, r5, #0
    add r5, r10; usat r5, #8, r5
PUT:
    eor r5, r5, r9
STORE:
    strb r5, [r2], #1
    cmp r0, r7; bne ITEM
    b DONE
OUTSIDE:
    cmp r6, #14; blt LARGE
    mov r5, r10
    b PUT
LARGE:
    bic r5, r4, #2147483648
    ldr r6, [r8, #p_infinity]; cmp r5, r6; bhi NAN
    asrs r4, r4, #31; mvns r5, r4; uxtb r5, r5
    b PUT
NAN:
    ldr r5, [r8, #p_nan]
    b STORE
MIDDLE:
    // r1 = x - (2 * k - 1) * scale, r6 half of a unit of the middle's last place
    lsrs r5, r5, #7
    rsb r6, r6, #24
    ubfx r1, r4, #0, #23; orr r1, r1, #8388608; lsls r1, r6
    lsls r6, r5, #1; subs r6, #1
    mls r1, lr, r6, r1
    clz r6, r6; subs r6, #7
    lsr r6, lr, r6
    lsls r12, r5, #31; ite eq; rsbeq r6, r6, #0; addne r6, r6, #1
    cmp r1, r6; it lt; sublt r5, r5, #1
    b SIGNED
DONE:
    pop {r8-r11}
    movs r0, #0
endfunction nearest8
