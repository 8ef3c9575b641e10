// The table of a quantized product's channels: see loops/channels. Assembler, ARMv6-M only.
//
// 52 instructions a channel of 40 bits.
//
// Forms: thumb

#include "core.h"

// r6 = the next field, of r7 bits. r4 has bits of the last word that are not used yet, r5 of them.
.macro next_field name
    cmp r5, r7; bge \name\()_ENOUGH
    ldmia r0!, {r1}
    mov r6, r1; lsls r6, r5; orrs r6, r4
    subs r5, r7, r5; lsrs r1, r5; mov r4, r1
    movs r1, #32; subs r5, r1, r5
    b \name\()_MASK
\name\()_ENOUGH:
    mov r6, r4; lsrs r4, r7; subs r5, r7
\name\()_MASK:
    movs r1, #32; subs r1, r7; lsls r6, r1; lsrs r6, r1
.endm

function channels
    // r0 words, r2 out, r8 bits of c, r9 of the scale, r10 lowest bits of M, r11 the least c less
    // BIAS, shifted by 5, r12 end of out, lr the least scale
    push_high
    ldr r4, [r3, #p_x_start]; adds r0, r4
    ldr r4, [r3, #p_out_start]; adds r2, r4
    ldr r4, [r3, #p_channels]; lsls r4, #3; adds r4, r2; mov r12, r4
    ldr r4, [r3, #p_first_bits]; mov r8, r4
    ldr r4, [r3, #p_scale_bits]; mov r9, r4
    ldr r4, [r3, #p_low_bits]; mov r10, r4
    movs r5, #1; lsls r5, #29
    ldr r4, [r3, #p_least_bias]; subs r4, r5; lsls r4, #5; mov r11, r4
    ldr r4, [r3, #p_least_scale]; mov lr, r4
    movs r4, #0; movs r5, #0
    b NEXT
CHANNEL:
    mov r7, r8
    next_field C
    mov r7, r10
    mov r1, r6; lsrs r1, r7; lsls r1, #5; add r1, r11; str r1, [r2]
    movs r1, #32; subs r1, r7; lsls r6, r1; lsrs r6, #25; str r6, [r2, #4]
    mov r7, r9
    next_field SCALE
    add r6, lr; lsrs r7, r6, #23
    ldr r1, [r2]; orrs r1, r7
    movs r7, #1; lsls r7, #23; orrs r6, r7; lsls r6, #8; lsrs r6, #1
    ldr r7, [r2, #4]; orrs r6, r7
    ldr r7, [r3, #p_common_bits]; orrs r6, r7
    stmia r2!, {r1, r6}
NEXT:
    cmp r2, r12; bne CHANNEL
    pop_high
    movs r0, #0
endfunction channels
