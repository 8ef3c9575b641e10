// The table of a quantized product's channels: see loops/channels. Assembler, ARMv6-M only.
//
// 8 instructions a byte of the fields, 56 a channel.
//
// Forms: thumb

#include "core.h"

// Parameters.
words 0, p_x, p_out, p_channels, p_c_bits, p_least_c, p_word_bits, p_least_word, p_low
words 32, p_low_of_all

function channels
    // r0 bytes, r1 the last one, r2 out, r4 bits that are not used yet, r5 how many, r12 end of
    // out
    ldr r4, [r3, #p_x]; adds r0, r4
    ldr r4, [r3, #p_out]; adds r2, r4
    ldr r4, [r3, #p_channels]; lsls r4, #3; adds r4, r2; mov r12, r4
    movs r1, #0; movs r4, #0; movs r5, #0
    b NEXT
CHANNEL:
    ldr r6, [r3, #p_c_bits]
    b C_FULL
C_MORE:
    ldrb r1, [r0]
    adds r0, #1
    mov r7, r1; lsls r7, r5; orrs r4, r7
    adds r5, #8
C_FULL:
    cmp r5, r6; blt C_MORE
    subs r5, r6
    movs r7, #32; subs r7, r6; lsls r4, r7; lsrs r4, r7
    str r4, [r2]
    mov r4, r1; movs r7, #8; subs r7, r5; lsrs r4, r7
    ldr r6, [r3, #p_word_bits]
    b WORD_FULL
WORD_MORE:
    ldrb r1, [r0]
    adds r0, #1
    mov r7, r1; lsls r7, r5; orrs r4, r7
    adds r5, #8
WORD_FULL:
    cmp r5, r6; blt WORD_MORE
    subs r5, r6
    movs r7, #32; subs r7, r6; lsls r4, r7; lsrs r4, r7
    ldr r6, [r3, #p_least_word]; adds r4, r6; lsrs r6, r4, #23
    movs r7, #1; lsls r7, #23; orrs r4, r7; lsls r4, #8; lsrs r4, #1
    push {r5}
    ldr r5, [r3, #p_low]; ldr r7, [r2]; lsrs r7, r5; push {r7}
    lsls r7, r5
    push {r6}
    ldr r6, [r2]; subs r6, r7
    movs r7, #7; subs r7, r5; lsls r6, r7; orrs r4, r6
    pop {r6}
    pop {r7}
    ldr r5, [r3, #p_low_of_all]; orrs r4, r5; str r4, [r2, #4]
    ldr r5, [r3, #p_least_c]; adds r7, r5
    movs r5, #1; lsls r5, #29; subs r7, r5; lsls r7, #5; orrs r7, r6; str r7, [r2]
    pop {r5}
    adds r2, #8
    mov r4, r1; movs r7, #8; subs r7, r5; lsrs r4, r7
NEXT:
    cmp r2, r12; bne CHANNEL
    movs r0, #0
endfunction channels
