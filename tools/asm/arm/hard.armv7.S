// HardSigmoid and HardSwish of float32: see loops/hard. Assembler, ARMv7-M.
//
// 39 instructions an element.
//
// Forms: armv7m

#include "core.h"

function hard32
    // r1 end of x, r3 offset, r4 element, r5 exponent, r6 mantissa << 8, r7 slope, r8 reach, r9
    // one, r10 is swish, r11 t
    push {r8-r11}
    ldr r4, [r3, #p_start]; ldr r5, [r3, #p_end]; cmp r4, r5; bge DONE
    add r2, r2, r4, lsl #2; add r1, r0, r5, lsl #2; add r0, r0, r4, lsl #2
    ldr r7, [r3, #p_slope]; ldr r8, [r3, #p_reach]; ldr r10, [r3, #p_is_swish]
    ldr r3, [r3, #p_offset]; mov r9, #1073741824
ITEM:
    ldr r4, [r0], #4; ubfx r5, r4, #23, #8
    lsl r6, r4, #8
    cmp r5, #0; beq DENORMAL
    orr r6, r6, #2147483648
WEIGHED:
    subs r12, r8, r5; bmi BEYOND
    umull lr, r11, r6, r7; lsl r11, r11, #1; lsr r11, r11, r12
    cmp r4, #0; blt NEGATIVE
    add r11, r3; cmp r11, r9
    it hi; movhi r11, r9
LIMITED:
    cmp r10, #0; beq ALONE
    umull lr, r11, r6, r11
NORMALIZE:
    cmp r11, #0; beq STORE
    clz r12, r11; subs r12, #2
    it mi; movmi r12, #0; lsl r11, r11, r12
    subs r5, r5, r12; cmp r5, #1; blt SMALL
    subs r5, #1; lsrs r11, r11, #6; adc r11, r11, r5, lsl #23
STORE:
    and r4, r4, #2147483648; orr r11, r4; str r11, [r2], #4
    cmp r0, r1; bne ITEM
DONE:
    pop {r8-r11}
    movs r0, #0
    b END
NEGATIVE:
    subs r11, r3, r11
    it lo; movlo r11, #0
    b LIMITED
ALONE:
    movs r4, #0; movs r5, #126
    b NORMALIZE
DENORMAL:
    lsl r6, r4, #9; lsr r6, r6, #1
    movs r5, #1
    b WEIGHED
BEYOND:
    cmp r5, #255; bne FINITE
    lsls r12, r4, #9; bne NAN
FINITE:
    mov r11, r9; cmp r4, #0
    it lt; movlt r11, #0
    b LIMITED
SMALL:
    rsb r12, r5, #7; cmp r12, #30; bgt NOTHING
    lsrs r11, r11, r12; adc r11, r11, #0
    b STORE
NOTHING:
    movs r5, #0; mov r11, r5
    b STORE
NAN:
    movw r11, #0; movt r11, #32704
    movs r4, #0
    b STORE
END:
endfunction hard32
