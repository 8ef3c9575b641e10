// Dot products of bytes with requantization: see loops/qdot. Four channels of two positions at a
// time.
//
// armv7m: 1.9 instructions a multiply-accumulate (2.5 of the last position, 5.1 of up to three
// last channels), and 16.5 for each requantization (24 of the last position).
//
// armv7em: with DSP, pairs of products by `smlad`: 1.3 instructions a multiply-accumulate (1.6 of
// the last position, 3.3 of up to three last channels), and as many for each requantization.
//
// Forms: armv7m armv7em

#include "core.h"
#include "qdot.h"

// On the stack, in bytes. kp_29: Kp << 29; now: 2 if there are two positions; requantizing: what
// r0 and r7 to r12 are then; span: hi - lo.
words 0, channels_left, rows, table, out, positions_left, first_item, kp_29, items_end
words 32, minus_zw_s, minus_zw_s_2, p, now, next_row, position_bytes, channel_step, sums
words 76, sums_2
words 92, requantizing
words 104, table_left, out_now, to_other, lo, slow_other, span

#if ARMV7EM
// A channel's sum += four of its weights times the items in r2 and r3.
.macro add_word sum, at
    ldr lr, [r1, #\at]; uxtb16 r12, lr; uxtb16 lr, lr, ror #8
    smlad \sum, r2, r12, \sum; smlad \sum, r3, lr, \sum
.endm

.macro add_words at
    add_word r4, \at; add_word r5, \at+4; add_word r6, \at+8; add_word r7, \at+12
.endm

// A channel's sums of both positions += two of its weights times items of each in r2 and r3.
.macro add_even sum, other, at
    ldr r12, [r1, #\at]; uxtb16 r12, r12
    smlad \sum, r2, r12, \sum; smlad \other, r3, r12, \other
.endm

.macro add_odd sum, other, at
    ldr r12, [r1, #\at]; uxtb16 r12, r12, ror #8
    smlad \sum, r2, r12, \sum; smlad \other, r3, r12, \other
.endm

.macro add_words_of_both at
    ldr r3, [r0, lr]; ldr r2, [r0]; uxtb16 r2, r2; uxtb16 r3, r3
    add_even r4, r8, \at; add_even r5, r9, \at+4; add_even r6, r10, \at+8; add_even r7, r11, \at+12
    ldr r3, [r0, lr]; ldr r2, [r0], #4; uxtb16 r2, r2, ror #8; uxtb16 r3, r3, ror #8
    add_odd r4, r8, \at; add_odd r5, r9, \at+4; add_odd r6, r10, \at+8; add_odd r7, r11, \at+12
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

.macro add_item_of_both i
    ldrb r2, [r0], #1; ldrb r3, [r0, lr]
    ldrb r12, [r1, #\i]; mla r4, r2, r12, r4; mla r8, r3, r12, r8
    ldrb r12, [r1, #\i+4]; mla r5, r2, r12, r5; mla r9, r3, r12, r9
    ldrb r12, [r1, #\i+8]; mla r6, r2, r12, r6; mla r10, r3, r12, r10
    ldrb r12, [r1, #\i+12]; mla r7, r2, r12, r7; mla r11, r3, r12, r11
.endm

.macro add_one_item i
    ldrb r2, [r0, #\i]; ldrb r3, [r1, #\i]; mla r4, r2, r3, r4
.endm

.macro total_item i
    ldrb r4, [r0, #\i]; adds r5, r4
.endm
#endif

.macro requantize name
    add r4, r4, r5, asr #5; ssat r4, #23, r4; lsls r4, r1
    movs r2, #0; mov r3, r0; smlal r2, r3, r4, r6; cbz r2, EVEN_\name
ROUNDED_\name:
    usat r4, #8, r3, asr #11; add r4, r12
.endm

function qdots8
    // While requantizing: r0 k = 1024 + ((zy - lo) << 11), r1 shift, r4 sum, r5 c, r6 multiplier,
    // r7 end of the sums, r8 9 or, if lo to hi are not 256 values, 0, r9 table, r10 out, r11 from
    // one position to the other, 0 if alone, r12 lo, lr sums. Shifts of 4 to 12 are quick: the sum
    // is cut where any would saturate.
    push {r8-r11}
    sub sp, #128
    str r3, [sp, #p]
    mov r5, r1
    ldr r4, [r3, #p_table_in_x]; cmp r4, #0; beq WITH_WEIGHTS
    mov r5, r0
WITH_WEIGHTS:
    ldr r6, [r3, #p_table]; adds r5, r6
    ldr r6, [r3, #p_out]; adds r6, r2
    ldr r7, [r3, #p_positions]; ldr r4, [r3, #p_weights]; adds r4, r1
    add r1, sp, #rows; stmia r1!, {r4-r7}
    ldr r4, [r3, #p_kp]; adds r0, r4
    ldr r4, [r3, #p_x]; adds r0, r4; str r0, [sp, #items_end]
    ldr r4, [r3, #p_x_step]; ldr r5, [r3, #p_channel_step]
    strd r4, r5, [sp, #position_bytes]
#if ARMV7EM
    ldr r4, [r3, #p_kp]; lsls r4, #29; str r4, [sp, #kp_29]
#endif
    ldr r4, [r3, #p_zy]; ldr r5, [r3, #p_lo]; ldr r6, [r3, #p_hi]
    str r5, [sp, #lo]
    subs r6, r5; str r6, [sp, #span]
    subs r4, r5; lsls r4, #11
    add r4, #1024
    movs r7, #0
    cmp r6, #255; bne LIMITED
    movs r7, #9
LIMITED:
    add r5, sp, #sums_2; add r6, sp, #requantizing; stmia r6!, {r4-r5, r7}
POSITION:
    ldr r3, [sp, #p]; ldr r1, [sp, #positions_left]
    movs r7, #1; movs r4, #0
    cmp r1, #2; blt ALONE
    movs r7, #2
    ldr r4, [r3, #p_position_step]
ALONE:
    str r7, [sp, #now]
    str r4, [sp, #to_other]
    ldr r1, [sp, #items_end]
    ldr r4, [r3, #p_kp]; subs r4, r1, r4; str r4, [sp, #first_item]
    add r2, sp, #minus_zw_s
TOTAL:
    ldr r4, [r3, #p_kp]; subs r0, r1, r4
    ldr r5, [r3, #p_has_sums]; cmp r5, #0; beq ITEMS
    subs r0, #4; ldr r5, [r0]
    b TOTALLED
ITEMS:
#if ARMV7EM
    movs r6, #0
#endif
ITEM:
#if ARMV7EM
    ldr r4, [r0], #4; usada8 r5, r4, r6, r5
#else
    total_item 0; total_item 1; total_item 2; total_item 3
    adds r0, #4
#endif
    cmp r0, r1; bne ITEM
TOTALLED:
    ldr r4, [r3, #p_zw]; muls r5, r4; negs r5, r5; str r5, [r2], #4
    ldr r4, [sp, #position_bytes]; adds r1, r4
    subs r7, #1; bne TOTAL
    ldr r1, [sp, #rows]; ldr r4, [sp, #table]; str r4, [sp, #table_left]
    ldr r4, [sp, #out]; str r4, [sp, #out_now]
    ldr r4, [r3, #p_channels]; str r4, [sp, #channels_left]
ROWS:
    ldr r5, [sp, #channels_left]; subs r5, #4; bmi SINGLE
    str r5, [sp, #channels_left]
    ldr r0, [sp, #first_item]; ldr r4, [sp, #minus_zw_s]; mov r5, r4; mov r6, r4
    mov r7, r4
#if ARMV7EM
    ldr r2, [sp, #kp_29]
#endif
    ldr r3, [sp, #now]; cmp r3, #2; beq TWO
    ldr r8, [sp, #items_end]
#if ARMV7EM
    cmp r2, #0; bge EIGHT
    subs r0, #4; subs r1, #16
    b FOUR
EIGHT:
    ldr r3, [r0]; uxtb16 r2, r3
    uxtb16 r3, r3, ror #8
    add_words 0
#endif
FOUR:
#if ARMV7EM
    ldr r3, [r0, #4]; uxtb16 r2, r3
    uxtb16 r3, r3, ror #8
    add_words 16
    adds r0, #8; adds r1, #32
#else
    add_item 0; add_item 1; add_item 2; add_item 3
    adds r0, #4; adds r1, #16
#endif
    cmp r0, r8
#if ARMV7EM
    bne EIGHT
#else
    bne FOUR
#endif
    b SUMMED
TWO:
    ldr r8, [sp, #minus_zw_s_2]; mov r9, r8; mov r10, r8; mov r11, r8
#if ARMV7EM
    ldr lr, [sp, #position_bytes]
    cmp r2, #0; bge BOTH
    subs r1, #16
    b LATTER
#else
    ldr r2, [sp, #position_bytes]; subs r2, #1; mov lr, r2
#endif
BOTH:
#if ARMV7EM
    ldr r3, [r0, lr]; ldr r2, [r0]; uxtb16 r2, r2
    uxtb16 r3, r3
    add_even r4, r8, 0; add_even r5, r9, 4; add_even r6, r10, 8; add_even r7, r11, 12
    ldr r3, [r0, lr]; ldr r2, [r0], #4; uxtb16 r2, r2, ror #8
    uxtb16 r3, r3, ror #8
    add_odd r4, r8, 0; add_odd r5, r9, 4; add_odd r6, r10, 8; add_odd r7, r11, 12
LATTER:
    add_words_of_both 16
    adds r1, #32
#else
    add_item_of_both 0; add_item_of_both 1; add_item_of_both 2; add_item_of_both 3
    adds r1, #16
#endif
    ldr r2, [sp, #items_end]; cmp r0, r2; bne BOTH
    add r2, sp, #sums; stmia r2!, {r4-r11}
    b START
SUMMED:
    add r2, sp, #sums; stmia r2!, {r4-r7}
    adds r2, #16
START:
    str r1, [sp, #next_row]
    ldmia r2, {r0, r7-r12}
    b FIRST_CHANNEL
SINGLE:
    adds r5, #4; bne LAST
    b NEXT
LAST:
    subs r5, #1; str r5, [sp, #channels_left]
    ldr r0, [sp, #first_item]; ldr r8, [sp, #items_end]; ldr r4, [sp, #minus_zw_s]
    ldr r7, [sp, #now]
ONE:
#if ARMV7EM
    ldr r2, [r0], #4
    ldr r3, [r1], #4
    uxtb16 r5, r2
    uxtb16 r6, r3; smlad r4, r5, r6, r4
    uxtb16 r2, r2, ror #8
    uxtb16 r3, r3, ror #8; smlad r4, r2, r3, r4
#else
    add_one_item 0; add_one_item 1; add_one_item 2; add_one_item 3
    adds r0, #4; adds r1, #4
#endif
    cmp r0, r8; bne ONE
    subs r7, #1; beq DOTTED
    str r4, [sp, #sums]
    ldr r4, [sp, #minus_zw_s_2]; ldr r3, [sp, #p]; ldr r2, [r3, #p_kp]; subs r1, r2
    subs r0, r2
    ldr r2, [sp, #position_bytes]; adds r0, r2
    add r8, r2
    b ONE
DOTTED:
    ldr r2, [sp, #now]; cmp r2, #2; beq SECOND
    str r4, [sp, #sums]
    b SINGLED
SECOND:
    str r4, [sp, #sums_2]
SINGLED:
    str r1, [sp, #next_row]
    add r2, sp, #requantizing; ldmia r2, {r0, r7-r12}; subs r7, #12
FIRST_CHANNEL:
    sub lr, r2, #32
CHANNEL:
    ldrd r5, r6, [r9], #8; and r1, r5, #31; subs r1, #4; cmp r1, r8
    bcs SLOW
    ldr r4, [lr], #4
    requantize first
    strb r4, [r10]
    cmp r11, #0; beq STEP
    ldr r4, [lr, #12]
    requantize second
    strb r4, [r10, r11]
STEP:
    ldr r2, [sp, #channel_step]; add r10, r2
    cmp lr, r7; bne CHANNEL
    strd r9, r10, [sp, #table_left]
    ldr r1, [sp, #next_row]
    b ROWS
    even_product r0, first
    even_product r0, second
SLOW:  // any other shift or range
    str r11, [sp, #slow_other]
    ldr r4, [lr, #16]
    cmp r11, #0; bne ANY
FIRST:
    ldr r4, [lr]
ANY:
    asrs r2, r5, #5
    and r3, r5, #31; subs r3, #25; ble LEFT
    asrs r4, r3
    mvn r3, #24
LEFT:
    adds r4, r2; adds r3, #25
    movs r1, #1; lsls r1, #25; lsrs r1, r3; cmp r4, r1
    it gt; movgt r4, r1
    negs r1, r1; cmp r4, r1
    it lt; movlt r4, r1; lsls r4, r3
    slow_product r6, r0
    bic.w r4, r4, r4, asr #31
    ldr r2, [sp, #span]; cmp r4, r2
    it gt; movgt r4, r2; add r4, r12
    ldr r1, [sp, #slow_other]; strb r4, [r10, r1]
    movs r2, #0; str r2, [sp, #slow_other]
    cmp r1, #0; bne FIRST
    add lr, #4
    b STEP
NEXT:
    ldr r5, [sp, #positions_left]; ldr r4, [sp, #now]; subs r5, r4; beq DONE
    str r5, [sp, #positions_left]
    ldr r3, [sp, #p]; ldr r5, [sp, #out]
    ldr r6, [r3, #p_position_step]; muls r6, r4; adds r5, r6; str r5, [sp, #out]
    ldr r5, [sp, #items_end]; ldr r6, [sp, #position_bytes]; muls r6, r4; adds r5, r6
    str r5, [sp, #items_end]
    b POSITION
DONE:
    add sp, #128
    pop {r8-r11}
    movs r0, #0
endfunction qdots8

//> qdots8_many = qdots8
