// Arguments of gates over bytes: see loops/byte_gates. Assembler, ARMv7-M.
//
// 45 instructions a row, unless it has terms of 8 or more, or units that are far from usual.
//
// Forms: armv7m

#include "core.h"

// Offsets on the stack, in bytes.
words 0, last, other, unusual, of_x, of_h, bias, less

// A product of \word and \factor, shifted by \shift, 3 to 32, is added to r4. Changes r3, r6, r7.
.macro add_usual_term factor, shift
    sbfx r5, r5, #0, #30; smull r6, r7, r5, \factor
    rsb r3, \shift, #32; lsl r3, r7, r3; lsr r6, r6, \shift; orrs r6, r3
    sub r3, \shift, #3; asrs r7, r3; adds r7, #1; cmp r7, #1; bhi SLOW
    adds r4, r6
.endm

function arguments
    // r0 end of out, r1 w, r2 out, r4 total, r8, r9 factor of x and shift, r10, r11 of h, r12 bytes
    // of a row of w
    push {r8-r11}
    sub sp, #28
    ldr r4, [r3, #p_out_start]; add r2, r2, r4, lsl #2
    ldr r4, [r3, #p_rows]; lsl r12, r4, #2
    ldr r4, [r3, #p_x_scale_start]; ldr r4, [r0, r4, lsl #2]; str r4, [sp, #of_x]
    ldr r4, [r3, #p_h_scale_start]; ldr r4, [r0, r4, lsl #2]; str r4, [sp, #of_h]
    add r0, r2, r12
    movs r4, #0; str r4, [sp, #last]; str r4, [sp, #other]; str r4, [sp, #unusual]
    mov r8, r4; mov r9, r4; mov r10, r4; mov r11, r4
    b NEXT
ROW:
    ldr r4, [r1]; ldr r5, [sp, #last]; cmp r4, r5; bne NEW_X
FOR_H:
    ldr r4, [r1, r12]; ldr r5, [sp, #other]; cmp r4, r5; bne NEW_H
USUAL:
    add r3, r1, r12, lsl #1; ldr r4, [r3]; sbfx r4, r4, #0, #30; ldr r5, [r3, r12]
    ldr r6, [sp, #unusual]; and r5, #31; orrs r6, r5; bne SLOW
    ldr r5, [r2]; add_usual_term r8, r9
    ldr r5, [r2, r12]; add_usual_term r10, r11
PUT:
    adds r1, #4; str r4, [r2], #4
NEXT:
    cmp r2, r0; bne ROW
    b END
NEW_X:
    str r4, [sp, #last]; ldr r5, [sp, #of_x]; bl UNIT
    mov r8, r4; mov r9, r5
    b FOR_H
NEW_H:
    str r4, [sp, #other]; ldr r5, [sp, #of_h]; bl UNIT
    mov r10, r4; mov r11, r5
    b USUAL
// r4, r5 = a mantissa with its sign, and what to shift by, of the product of floats r4 and r5.
UNIT:
    eor r3, r4, r5; push {r3}
    ubfx r6, r4, #23, #8; ubfx r7, r5, #23, #8; adds r3, r6, r7; push {r3}
    cmp r6, #0; it ne; cmpne r7, #0; ite eq; moveq r3, #0; movne r3, #1; push {r3}
    ubfx r4, r4, #0, #23; orr r4, r4, #0x800000; ubfx r5, r5, #0, #23; orr r5, r5, #0x800000
    umull r6, r7, r4, r5
    pop {r3}; pop {r5}
    lsls r7, #8; orr r4, r7, r6, lsr #24; bic r6, r6, #0xFF000000
    cmp r4, #0x800000; bhs ROUND
    lsls r4, #1; orr r4, r4, r6, lsr #23; lsls r6, #9; lsrs r6, #8; subs r5, #1
ROUND:
    and r7, r4, #1; adds r6, r7; cmp r6, #0x800000
    it hi; addhi r4, #1
    muls r4, r3
    rsb r5, r5, #250
    pop {r3}; cmp r3, #0; it mi; rsbmi r4, r4, #0
    subs r3, r5, #3; cmp r3, #29
    itt hi; movhi r3, #1; strhi r3, [sp, #unusual]
    bx lr
// Any units and any terms. r9 and r11 get the shift by z, too, while r3 is z, r6 that before.
SLOW:
    add r3, r1, r12, lsl #1; ldr r4, [r3]; sbfx r4, r4, #0, #30; str r4, [sp, #bias]
    ldr r3, [r3, r12]; and r3, r3, #31; str r3, [sp, #less]
AGAIN:
    ldr r4, [sp, #bias]; ldr r5, [sp, #less]; push {r3}
    subs r5, r3, r5; cmp r5, #31; it hi; movhi r5, #31
    asrs r4, r5
    ldr r5, [r2]; mov r6, r8; mov r7, r9; bl TERM
    ldr r5, [r2, r12]; mov r6, r10; mov r7, r11; bl TERM
    pop {r5}; cmp r3, r5; bne AGAIN
    mvn r6, #0x80000000; mov r5, r3; cmp r5, #31; it hi; movhi r5, #31
    lsr r5, r6, r5; cmp r4, r5; bgt ABOVE
    negs r5, r5; cmp r4, r5; blt BELOW
    lsls r4, r3
    b PUT
ABOVE:
    mov r4, r6
    b PUT
BELOW:
    negs r4, r6
    b PUT
// r4 += r5 * r6, shifted by r7 and what is on the stack; or else r3 += 6, unless r5 is 0.
TERM:
    sbfx r5, r5, #0, #30; push {r0}
    ldr r0, [sp, #4]; adds r7, r0; bmi TOO_LARGE
    smull r6, r0, r5, r6
    cmp r7, #55; it hi; movhi r7, #55
    cmp r7, #32; bhs HIGH
    lsrs r6, r7; push {r6}; rsb r6, r7, #32; lsl r6, r0, r6; asrs r0, r7; pop {r7}
    orrs r6, r7
    cmp r0, r6, asr #31; bne TOO_LARGE
    sbfx r0, r6, #0, #30; cmp r0, r6; bne TOO_LARGE
    b ADD
HIGH:
    subs r7, #32; asr r6, r0, r7
ADD:
    adds r4, r6; pop {r0}
    bx lr
TOO_LARGE:
    cmp r5, #0; it ne; addne r3, #6
    pop {r0}
    bx lr
END:
    add sp, #28
    pop {r8-r11}
    movs r0, #0
endfunction arguments
