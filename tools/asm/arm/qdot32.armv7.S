// Dot products of bytes in int32: see loops/qdot32. Four channels of a position at a time.
//
// armv7m: 2.5 instructions a multiply-accumulate, 5.1 of up to three last channels. armv7em: pairs
// of products by `smlad`, 1.7 and 3.3.
//
// Forms: armv7m armv7em

#include "core.h"
#include "qdot.h"

// On the stack, in bytes.
words 0, channels_left, rows, table, out, positions_left, p, first_item, minus_zw_s

#if ARMV7EM
// A channel's sum += four of its weights times the items in r2 and r3.
.macro add_word sum, at
    ldr lr, [r1, #\at]; uxtb16 r12, lr; uxtb16 lr, lr, ror #8
    smlad \sum, r2, r12, \sum; smlad \sum, r3, lr, \sum
.endm
#else
// Sums of four channels += the item at r0 + i times their weights.
.macro add_item i
    ldrb r2, [r0, #\i]
    ldrb r3, [r1, #\i]; mla r4, r2, r3, r4
    ldrb r3, [r1, #\i+4]; mla r5, r2, r3, r5
    ldrb r3, [r1, #\i+8]; mla r6, r2, r3, r6
    ldrb r3, [r1, #\i+12]; mla r7, r2, r3, r7
.endm

.macro add_one_item i
    ldrb r2, [r0, #\i]; ldrb r3, [r1, #\i]; mla r4, r2, r3, r4
.endm
#endif

.macro total_item i
    ldrb r4, [r0, #\i]; adds r5, r4
.endm

// The sum with its constants, times zx in r2, to the output.
.macro put sum
    ldrd r0, r3, [r9], #8; mla r0, r3, r2, r0; add r0, \sum; str r0, [r10]; add r10, r11
.endm

function qdots32
    // r8 end of the position's items, r9 table, r10 out, r11 from channel to channel in bytes
    push {r8-r11}
    sub sp, #32
    str r3, [sp, #p]
    ldr r4, [r3, #p_weights]; adds r4, r1; str r4, [sp, #rows]
    ldr r4, [r3, #p_table]; adds r4, r1; str r4, [sp, #table]
    ldr r4, [r3, #p_out]; add r4, r2, r4, lsl #2; str r4, [sp, #out]
    ldr r4, [r3, #p_positions]; str r4, [sp, #positions_left]
    ldr r4, [r3, #p_x]; adds r0, r4; str r0, [sp, #first_item]
    ldr r4, [r3, #p_channel_step]; lsls r4, #2; mov r11, r4
POSITION:
    ldr r3, [sp, #p]; ldr r0, [sp, #first_item]
    ldr r4, [r3, #p_kp]; add r8, r0, r4
    ldr r5, [r3, #p_has_sums]; cmp r5, #0; beq ITEMS
    ldr r5, [r0, #-4]
    b TOTALLED
ITEMS:
    total_item 0; total_item 1; total_item 2; total_item 3
    adds r0, #4; cmp r0, r8; bne ITEMS
TOTALLED:
    ldr r4, [r3, #p_zw]; muls r5, r4; negs r5, r5; str r5, [sp, #minus_zw_s]
    ldr r1, [sp, #rows]; ldr r9, [sp, #table]; ldr r10, [sp, #out]
    ldr r4, [r3, #p_channels]; str r4, [sp, #channels_left]
ROWS:
    ldr r0, [sp, #first_item]; ldr r4, [sp, #minus_zw_s]
    ldr r5, [sp, #channels_left]; subs r5, #4; bmi SINGLE
    str r5, [sp, #channels_left]
    mov r5, r4; mov r6, r4; mov r7, r4
FOUR:
#if ARMV7EM
    ldr r3, [r0], #4; uxtb16 r2, r3; uxtb16 r3, r3, ror #8
    add_word r4, 0; add_word r5, 4; add_word r6, 8; add_word r7, 12
    adds r1, #16
#else
    add_item 0; add_item 1; add_item 2; add_item 3
    adds r0, #4; adds r1, #16
#endif
    cmp r0, r8; bne FOUR
    ldr r3, [sp, #p]; ldr r2, [r3, #p_zx]
    put r4; put r5; put r6; put r7
    b ROWS
SINGLE:
    adds r5, #4; beq NEXT
    subs r5, #1; str r5, [sp, #channels_left]
ONE:
#if ARMV7EM
    ldr r3, [r0], #4; uxtb16 r2, r3; uxtb16 r3, r3, ror #8
    add_word r4, 0
    adds r1, #4
#else
    add_one_item 0; add_one_item 1; add_one_item 2; add_one_item 3
    adds r0, #4; adds r1, #4
#endif
    cmp r0, r8; bne ONE
    ldr r3, [sp, #p]; ldr r2, [r3, #p_zx]
    put r4
    b ROWS
NEXT:
    ldr r5, [sp, #positions_left]; subs r5, #1; beq DONE
    str r5, [sp, #positions_left]
    ldr r3, [sp, #p]; ldr r5, [sp, #out]
    ldr r6, [r3, #p_position_step]; add r5, r5, r6, lsl #2; str r5, [sp, #out]
    ldr r5, [sp, #first_item]; ldr r6, [r3, #p_x_step]; adds r5, r6; str r5, [sp, #first_item]
    b POSITION
DONE:
    add sp, #32
    pop {r8-r11}
    movs r0, #0
endfunction qdots32
