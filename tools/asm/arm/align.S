// Constants that channels add to their sums: align of loops/block. Assembler, ARMv6-M instructions
// only.
//
// 45 instructions a channel, 55 where the bias is negative.
//
// Forms: thumb

#include "core.h"

// Parameters.
words 0, p_biases, p_bias_step, p_exponents, p_exponent_step, p_channels, p_out, p_exponent

function align
    // r0 bias, r1 exponent, r2 out, r4 bits of the bias, r5 its mantissa, r6 what that is shifted
    // by, r7 E + exponent, then limbs in r3, r5, r7; r8 and r9 steps of r0 and r1, r10 E, r11 end
    push_high
    ldr r4, [r3, #p_biases]; lsls r4, #2; adds r0, r4
    ldr r4, [r3, #p_bias_step]; lsls r4, #2; mov r8, r4
    ldr r4, [r3, #p_exponents]; adds r1, r4
    ldr r4, [r3, #p_exponent_step]; mov r9, r4
    ldr r4, [r3, #p_out]; lsls r4, #2; adds r2, r4
    ldr r4, [r3, #p_exponent]; mov r10, r4
    ldr r4, [r3, #p_channels]; lsls r4, #4; beq DONE
    adds r4, r2; mov r11, r4
CHANNEL:
    movs r4, #0; mov r5, r8; cmp r5, #0; beq NO_BIAS
    ldr r4, [r0]
    adds r0, r5
NO_BIAS:
    lsls r5, r4, #9; lsrs r5, #9
    lsls r6, r4, #1; lsrs r6, #24; beq DENORMAL
    movs r7, #1; lsls r7, #23; adds r5, r7
    b NORMAL
DENORMAL:
    movs r6, #1
NORMAL:
    ldrb r7, [r1]
    add r1, r9; add r7, r10
    adds r6, #148; subs r6, r7; cmp r6, #52; ble COUNTS
    cmp r5, #0; beq NOTHING
    subs r6, #52; adds r7, r6
    cmp r6, #12; ble NEAR
    movs r6, #12
NEAR:
    lsls r6, #10; adds r7, r6
NOTHING:
    movs r6, #52
COUNTS:
    str r7, [r2, #12]
    movs r3, #0
    cmp r6, #48; bge THIRD
    cmp r6, #24; bge SECOND
    cmp r6, #0; bge FIRST
    negs r6, r6; cmp r6, #31; ble RIGHT
    movs r6, #31
RIGHT:
    lsrs r5, r6
    movs r6, #0
FIRST:
    mov r3, r5
    adds r6, #8; lsls r3, r6; lsrs r3, #8
    movs r7, #32; subs r7, r6; lsrs r5, r7
    movs r7, #0
    b SIGN
SECOND:
    subs r6, #16
    mov r12, r5
    lsls r5, r6; lsrs r5, #8
    movs r7, #32; subs r6, r7, r6
    mov r7, r12; lsrs r7, r6
    b SIGN
THIRD:
    mov r7, r5
    subs r6, #48; lsls r7, r6
    movs r5, #0
SIGN:
    cmp r4, #0; bge STORE
    negs r3, r3; asrs r6, r3, #24; subs r5, r6, r5; asrs r6, r5, #24
    subs r7, r6, r7
    lsls r3, #8; lsrs r3, #8
    lsls r5, #8; lsrs r5, #8
STORE:
    movs r6, #1; lsls r6, #29; adds r7, r6
    str r3, [r2]
    str r5, [r2, #4]
    str r7, [r2, #8]
    adds r2, #16; cmp r2, r11; bne CHANNEL
DONE:
    pop_high
    movs r0, #0
endfunction align
