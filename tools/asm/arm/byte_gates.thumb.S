// Arguments of gates over bytes: see loops/byte_gates. Assembler, ARMv6-M.
//
// 105 instructions a row, unless it has terms of 8 or more, or units that are far from usual.
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes. Of x, and of h: the last scale, the factor's upper and lower
// bits, what to shift by, and 24 less that.
words 0, last, upper, lower, shift, rest, other, h_upper, h_lower, h_shift, h_rest
words 40, unusual, of_x, of_h, end, bias, less

// r7 * 2**24 + r4 = the product of r3 and a factor, r5 and r6. Changes r3, r5, r6.
.macro product
    lsls r4, r3, #20; lsrs r4, #20; asrs r3, #12
    movs r7, r3; muls r7, r5; muls r3, r6; muls r5, r4; muls r4, r6
    lsrs r6, r4, #12; adds r6, r3; adds r6, r5
    asrs r5, r6, #12; adds r7, r5
    lsls r6, #20; lsrs r6, #8; lsls r4, #20; lsrs r4, #20; orrs r4, r6
.endm

// The product, shifted by 3 to 24, is added to r0.
.macro add_usual_term upper, lower, shift, rest
    lsls r3, #2; asrs r3, #2; ldr r5, [sp, #\upper]; ldr r6, [sp, #\lower]
    product
    ldr r5, [sp, #\shift]; lsrs r4, r5; adds r0, r4
    adds r5, #5; movs r4, r7; asrs r4, r5; adds r4, #1; cmp r4, #1; bhi SLOW
    ldr r5, [sp, #\rest]; lsls r7, r5; adds r0, r7
.endm

function arguments
    // r0 total, r1 w, r2 out, r12 bytes of a row of w
    sub sp, #64
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4
    ldr r4, [r3, #p_rows]; lsls r4, #2; mov r12, r4; adds r4, r2; str r4, [sp, #end]
    ldr r4, [r3, #p_x_scale_start]; lsls r4, #2; ldr r4, [r0, r4]; str r4, [sp, #of_x]
    ldr r4, [r3, #p_h_scale_start]; lsls r4, #2; ldr r4, [r0, r4]; str r4, [sp, #of_h]
    movs r4, #0; str r4, [sp, #last]; str r4, [sp, #other]; str r4, [sp, #unusual]
    str r4, [sp, #upper]; str r4, [sp, #lower]; str r4, [sp, #shift]
    str r4, [sp, #h_upper]; str r4, [sp, #h_lower]; str r4, [sp, #h_shift]
    movs r4, #24; str r4, [sp, #rest]; str r4, [sp, #h_rest]
    b NEXT
NEW_X:
    mov r6, sp; ldr r5, [sp, #of_x]; bl UNIT
    b FOR_H
NEW_H:
    add r6, sp, #other; ldr r5, [sp, #of_h]; bl UNIT
    b USUAL
LAST:
    b END
NEXT:
    ldr r4, [sp, #end]; cmp r2, r4; beq LAST
    ldr r4, [r1]; ldr r5, [sp, #last]; cmp r4, r5; bne NEW_X
FOR_H:
    mov r7, r12; ldr r4, [r1, r7]; ldr r5, [sp, #other]; cmp r4, r5; bne NEW_H
USUAL:
    mov r3, r12; adds r7, r3, r3; adds r3, r7; ldr r0, [r1, r7]; lsls r0, #2; asrs r0, #2
    ldr r5, [r1, r3]; lsls r5, #27; ldr r6, [sp, #unusual]; orrs r5, r6; beq FAST
SLOW:
    bl ANY
    b PUT
FAST:
    ldr r3, [r2]; add_usual_term upper, lower, shift, rest
    mov r3, r12; ldr r3, [r2, r3]; add_usual_term h_upper, h_lower, h_shift, h_rest
PUT:
    adds r1, #4; stmia r2!, {r0}
    b NEXT
// At r6: what there is of the product of floats r4 and r5. Leaves r1, r2 and r12.
UNIT:
    str r4, [r6]
    push {r1, r2, r6}
    movs r3, r4; eors r3, r5
    lsls r6, r4, #1; lsrs r6, #24; lsls r7, r5, #1; lsrs r7, #24
    movs r2, r6; muls r2, r7; adds r6, r7
    push {r2, r3}
    movs r3, #1; lsls r3, #23
    lsls r4, #9; lsrs r4, #9; orrs r4, r3; lsls r5, #9; lsrs r5, #9; orrs r5, r3
    lsrs r0, r4, #12; lsls r4, #20; lsrs r4, #20; lsrs r1, r5, #12; lsls r5, #20; lsrs r5, #20
    movs r7, r0; muls r7, r1; muls r0, r5; muls r1, r4; muls r4, r5
    adds r0, r1; lsrs r1, r4, #12; adds r0, r1; lsrs r1, r0, #12; adds r7, r1
    lsls r0, #20; lsrs r0, #8; lsls r4, #20; lsrs r4, #20; orrs r0, r4
    cmp r7, r3; bhs ROUND
    lsls r7, #1; lsrs r4, r0, #23; orrs r7, r4; lsls r0, #9; lsrs r0, #8; subs r6, #1
ROUND:
    lsls r4, r7, #31; lsrs r4, #31; adds r0, r4; cmp r0, r3; bls ROUNDED
    adds r7, #1
ROUNDED:
    pop {r2, r3}
    cmp r2, #0; bne SIGN
    movs r7, #0
SIGN:
    cmp r3, #0; bpl SIGNED
    negs r7, r7
SIGNED:
    movs r5, #250; subs r5, r6
    pop {r1, r2, r6}
    asrs r3, r7, #12; str r3, [r6, #4]; lsls r3, r7, #20; lsrs r3, #20; str r3, [r6, #8]
    str r5, [r6, #12]; movs r3, #24; subs r3, r5; str r3, [r6, #16]
    cmp r3, #21; bls NEAR
    movs r3, #1; str r3, [sp, #unusual]
NEAR:
    bx lr
// r0 = the argument, with any units and any terms. In each round z is on the stack, and below it z
// of the round before.
ANY:
    push {lr}
    mov r3, r12; adds r7, r3, r3; adds r3, r7
    ldr r4, [r1, r7]; lsls r4, #2; asrs r4, #2; str r4, [sp, #bias+4]
    ldr r4, [r1, r3]; lsls r4, #27; lsrs r4, #27; str r4, [sp, #less+4]
    push {r4}
AGAIN:
    ldr r3, [sp]; push {r3}
    ldr r0, [sp, #bias+12]; ldr r4, [sp, #less+12]; subs r3, r4
    cmp r3, #31; bls BIAS
    movs r3, #31
BIAS:
    asrs r0, r3
    ldr r3, [r2]; add r6, sp, #last+12; bl TERM
    mov r3, r12; ldr r3, [r2, r3]; add r6, sp, #other+12; bl TERM
    pop {r3}
    ldr r4, [sp]; cmp r3, r4; bne AGAIN
    pop {r4}
    movs r5, #1; lsls r5, #31; subs r5, #1
    movs r3, r4; cmp r3, #31; bls LIMIT
    movs r3, #31
LIMIT:
    movs r6, r5; lsrs r6, r3; cmp r0, r6; bgt ABOVE
    negs r6, r6; cmp r0, r6; blt BELOW
    lsls r0, r4
    pop {pc}
ABOVE:
    movs r0, r5
    pop {pc}
BELOW:
    negs r0, r5
    pop {pc}
// r0 += r3 * the factor at r6, shifted as that says and by z; or else z += 6, unless r3 is 0.
TERM:
    lsls r3, #2; asrs r3, #2
    ldr r7, [r6, #12]; ldr r4, [sp]; adds r7, r4; bmi TOO_LARGE
    push {r3, r7}
    ldr r5, [r6, #4]; ldr r6, [r6, #8]
    product
    pop {r3, r5}
    cmp r5, #24; bgt FAR
    lsrs r4, r5
    adds r5, #5; movs r6, r7; asrs r6, r5; adds r6, #1; cmp r6, #1; bhi TOO_LARGE
    adds r0, r4; subs r5, #29; negs r5, r5; lsls r7, r5; adds r0, r7
    bx lr
FAR:
    subs r5, #24; cmp r5, #31; ble SHIFT
    movs r5, #31
SHIFT:
    asrs r7, r5; adds r0, r7
    bx lr
TOO_LARGE:
    cmp r3, #0; beq NONE
    ldr r4, [sp, #4]; adds r4, #6; str r4, [sp, #4]
NONE:
    bx lr
END:
    add sp, #64
    movs r0, #0
endfunction arguments
