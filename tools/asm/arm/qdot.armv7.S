// Dot products of bytes with requantization: see loops/qdot. Four channels of two positions at a
// time.
//
// armv7m: 1.9 instructions a multiply-accumulate (2.5 of the last position, 5.1 of up to three
// last channels), and 16.5 for each requantization (24 of the last position). With room: 1.6, 1.4
// a weight, and 11.
//
// armv7em: with DSP, pairs of products by `smlad`: 1.3 instructions a multiply-accumulate (1.5 of
// the last position, 3.3 of up to three last channels), and 15 for each requantization (21). With
// room: 0.7, 1.1 a weight, and 9.5.
//
// Forms: armv7m armv7em

#include "core.h"

// Offsets on the stack, in bytes. columns_29: columns << 29; now: 2 if there are two positions;
// minus_zero_sum: -w_zero_point * S; requantizing: what r0 and r7 to r12 are then; least: low;
// span: high - low.
words 0, channels_left, rows, table, out, positions_left, first_item, columns_29, items_end
words 32, minus_zero_sum, minus_zero_sum_2, p, now, next_row, position_bytes, channel_step, sums
words 76, sums_2
words 92, requantizing
words 104, table_left, out_now, to_other, least, slow_other, span
// In the room of x: pairs of positions, each with the two minus_zero_sum and elements side by side,
// then the weights of four channels; of these, on the stack, c, and f - 4 and M.
words 96, sums_end, quick
words 128, pairs, room, room_end, pair, pairs_left, middle, low, out_of_pair, out_step
words 164, is_slow, four_table
words 172, constants
words 188, multipliers
#define FRAME 224

#if ARMV7EM
// A channel's sum += four of its weights times the elements in r2 and r3.
.macro add_word sum
    ldr lr, [r1], #4; uxtb16 r12, lr; uxtb16 lr, lr, ror #8
    smlad \sum, r2, r12, \sum; smlad \sum, r3, lr, \sum
.endm

.macro add_words
    ldr r3, [r0], #4; uxtb16 r2, r3
    uxtb16 r3, r3, ror #8
    add_word r4; add_word r5; add_word r6; add_word r7
.endm

// A channel's sums of both positions += two of its weights times elements of each in r2 and r3.
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

// Sums of four channels of both positions += two elements of each, halfwords as the weights are.
.macro add_halves
    ldrd r2, r3, [r0], #8
    ldrd r12, lr, [r1], #8
    smlad r4, r2, r12, r4; smlad r8, r3, r12, r8
    smlad r5, r2, lr, r5; smlad r9, r3, lr, r9
    ldrd r12, lr, [r1], #8
    smlad r6, r2, r12, r6; smlad r10, r3, r12, r10
    smlad r7, r2, lr, r7; smlad r11, r3, lr, r11
.endm
#else
// Sums of four channels += the element at r0 + i times their weights.
.macro add_element i
    ldrb r2, [r0, #\i]
    ldrb r3, [r1, #\i]; mla r4, r2, r3, r4
    ldrb r3, [r1, #\i+4]; mla r5, r2, r3, r5
    ldrb r3, [r1, #\i+8]; mla r6, r2, r3, r6
    ldrb r3, [r1, #\i+12]; mla r7, r2, r3, r7
.endm

.macro add_element_of_both i
    ldrb r2, [r0], #1; ldrb r3, [r0, lr]
    ldrb r12, [r1, #\i]; mla r4, r2, r12, r4; mla r8, r3, r12, r8
    ldrb r12, [r1, #\i+4]; mla r5, r2, r12, r5; mla r9, r3, r12, r9
    ldrb r12, [r1, #\i+8]; mla r6, r2, r12, r6; mla r10, r3, r12, r10
    ldrb r12, [r1, #\i+12]; mla r7, r2, r12, r7; mla r11, r3, r12, r11
.endm

// The same of both positions, side by side, where weights are words.
.macro add_words_of_both
    ldrd r12, lr, [r1], #8
    ldrb r2, [r0], #1; ldrb r3, [r0], #1
    mla r4, r2, r12, r4; mla r8, r3, r12, r8
    mla r5, r2, lr, r5; mla r9, r3, lr, r9
    ldrd r12, lr, [r1], #8
    mla r6, r2, r12, r6; mla r10, r3, r12, r10
    mla r7, r2, lr, r7; mla r11, r3, lr, r11
.endm

.macro four_weights by
    ubfx r8, r4, #\by, #8; ubfx r9, r5, #\by, #8; ubfx r10, r6, #\by, #8; ubfx r11, r7, #\by, #8
    stmia r1!, {r8-r11}
.endm

.macro add_one_element i
    ldrb r2, [r0, #\i]; ldrb r3, [r1, #\i]; mla r4, r2, r3, r4
.endm

.macro total_element i
    ldrb r4, [r0, #\i]; adds r5, r4
.endm
#endif

// The outputs of a channel at r0 and r0 + r1, where neither a sum nor a middle is to be cut.
.macro requantize_both sum, other, at
    ldrd r2, r3, [sp, #multipliers+\at]
    lsls \sum, r2; lsl \other, \other, r2
#if ARMV7EM
    smmla \sum, \sum, r3, r12; smmla \other, \other, r3, r12
#else
    smull r2, \sum, \sum, r3; smull r2, \other, \other, r3
    add \sum, r12; add \other, r12
#endif
    usat \sum, #8, \sum, asr #11; usat \other, #8, \other, asr #11
    add \sum, lr; add \other, lr
    strb \sum, [r0]; strb \other, [r0, r1]
.endm

.macro requantize name
    add r4, r4, r5, asr #5; ssat r4, #23, r4; lsls r4, r1
#if ARMV7EM
    smmla r4, r4, r6, r0; usat r4, #8, r4, asr #11; add r4, r12
#else
    movs r2, #0; mov r3, r0; smlal r2, r3, r4, r6; cbz r2, EVEN_\name
ROUNDED_\name:
    usat r4, #8, r3, asr #11; add r4, r12
#endif
.endm

function qdots8
    // While requantizing: r0 k = 1024 + ((out_zero_point - low) << 11), r1 shift, r4 sum, r5 c, r6
    // multiplier, r7 end of the sums, r8 9 or, if low to high are not 256 values, 0, r9 table, r10
    // out, r11 from one position to the other, 0 if alone, r12 low, lr sums. Shifts of 4 to 12 are
    // quick: the sum is cut where any would saturate.
    push {r8-r11}
    sub sp, #FRAME
    str r3, [sp, #p]
    ldr r4, [r3, #p_scratch_start]; cmp r4, #0; bne.w ROOM
PLAIN:
    mov r5, r1
    ldr r4, [r3, #p_is_table_in_x]; cmp r4, #0; beq WITH_WEIGHTS
    mov r5, r0
WITH_WEIGHTS:
    ldr r6, [r3, #p_table_start]; adds r5, r6
    ldr r6, [r3, #p_out_start]; adds r6, r2
    ldr r7, [r3, #p_positions]; ldr r4, [r3, #p_w_start]; adds r4, r1
    add r1, sp, #rows; stmia r1!, {r4-r7}
    ldr r4, [r3, #p_columns]; adds r0, r4
    ldr r4, [r3, #p_x_start]; adds r0, r4; str r0, [sp, #items_end]
    ldr r4, [r3, #p_x_position_stride]; ldr r5, [r3, #p_out_channel_stride]
    strd r4, r5, [sp, #position_bytes]
#if ARMV7EM
    ldr r4, [r3, #p_columns]; lsls r4, #29; str r4, [sp, #columns_29]
#endif
    ldr r4, [r3, #p_out_zero_point]; ldr r5, [r3, #p_low]; ldr r6, [r3, #p_high]
    str r5, [sp, #least]
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
    ldr r4, [r3, #p_out_position_stride]
ALONE:
    str r7, [sp, #now]
    str r4, [sp, #to_other]
    ldr r1, [sp, #items_end]
    ldr r4, [r3, #p_columns]; subs r4, r1, r4; str r4, [sp, #first_item]
    add r2, sp, #minus_zero_sum
TOTAL:
    ldr r4, [r3, #p_columns]; subs r0, r1, r4
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
    total_element 0; total_element 1; total_element 2; total_element 3
    adds r0, #4
#endif
    cmp r0, r1; bne ITEM
TOTALLED:
    ldr r4, [r3, #p_w_zero_point]; muls r5, r4; negs r5, r5; str r5, [r2], #4
    ldr r4, [sp, #position_bytes]; adds r1, r4
    subs r7, #1; bne TOTAL
    ldr r1, [sp, #rows]; ldr r4, [sp, #table]; str r4, [sp, #table_left]
    ldr r4, [sp, #out]; str r4, [sp, #out_now]
    ldr r4, [r3, #p_channels]; str r4, [sp, #channels_left]
ROWS:
    ldr r5, [sp, #channels_left]; subs r5, #4; bmi SINGLE
    str r5, [sp, #channels_left]
    ldr r0, [sp, #first_item]; ldr r4, [sp, #minus_zero_sum]; mov r5, r4; mov r6, r4
    mov r7, r4
#if ARMV7EM
    ldr r2, [sp, #columns_29]
#endif
    ldr r3, [sp, #now]; cmp r3, #2; beq TWO
    ldr r8, [sp, #items_end]
#if ARMV7EM
    cmp r2, #0; blt FOUR
EIGHT:
    add_words
#endif
FOUR:
#if ARMV7EM
    add_words
#else
    add_element 0; add_element 1; add_element 2; add_element 3
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
    ldr r8, [sp, #minus_zero_sum_2]; mov r9, r8; mov r10, r8; mov r11, r8
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
    add_element_of_both 0; add_element_of_both 1; add_element_of_both 2; add_element_of_both 3
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
    ldr r0, [sp, #first_item]; ldr r8, [sp, #items_end]; ldr r4, [sp, #minus_zero_sum]
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
    add_one_element 0; add_one_element 1; add_one_element 2; add_one_element 3
    adds r0, #4; adds r1, #4
#endif
    cmp r0, r8; bne ONE
    subs r7, #1; beq DOTTED
    str r4, [sp, #sums]
    ldr r4, [sp, #minus_zero_sum_2]; ldr r3, [sp, #p]; ldr r2, [r3, #p_columns]; subs r1, r2
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
#if ARMV7EM
    ldr r3, [sp, #channel_step]
#endif
CHANNEL:
    ldrd r5, r6, [r9], #8; and r1, r5, #31; subs r1, #4; cmp r1, r8
    bcs SLOW
#if ARMV7EM
    lsls r2, r6, #31; beq SLOW  // a product may lie in the middle
#endif
    ldr r4, [lr], #4
    requantize first
    strb r4, [r10]
    cmp r11, #0; beq STEP
    ldr r4, [lr, #12]
    requantize second
    strb r4, [r10, r11]
STEP:
#if ARMV7EM
    add r10, r3
#else
    ldr r2, [sp, #channel_step]; add r10, r2
#endif
    cmp lr, r7; bne CHANNEL
    strd r9, r10, [sp, #table_left]
    ldr r1, [sp, #next_row]
    cbz r1, TO_PAIRS
    b ROWS
TO_PAIRS:
    b FROM_SLOW
#if !ARMV7EM
    even_product r0, first
    even_product r0, second
#endif
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
#if ARMV7EM
    ldr r3, [sp, #channel_step]
#endif
    b STEP
NEXT:
    ldr r5, [sp, #positions_left]; ldr r4, [sp, #now]; subs r5, r4; beq DONE
    str r5, [sp, #positions_left]
    ldr r3, [sp, #p]; ldr r5, [sp, #out]
    ldr r6, [r3, #p_out_position_stride]; muls r6, r4; adds r5, r6; str r5, [sp, #out]
    ldr r5, [sp, #items_end]; ldr r6, [sp, #position_bytes]; muls r6, r4; adds r5, r6
    str r5, [sp, #items_end]
    b POSITION
ROOM:  // pairs of positions
    ldr r5, [r3, #p_positions]
#if ARMV7EM
    cmp r5, #2; blt PLAIN
#else
    cmp r5, #7; blt PLAIN  // the room is for halfwords: of so many, for bytes and words
#endif
    ldr r4, [r3, #p_channels]; lsls r6, r4, #30; bne PLAIN
    ldr r7, [r3, #p_table_start]; ldr r6, [r3, #p_is_table_in_x]; cmp r6, #0
    ite eq; addeq r7, r1; addne r7, r0
    str r4, [sp, #channels_left]
    str r7, [sp, #table]
    ldr r4, [r3, #p_w_start]; add r4, r1; str r4, [sp, #rows]
    ldr r4, [r3, #p_out_start]; add r4, r2; str r4, [sp, #out]
    ldr r4, [r3, #p_out_zero_point]; ldr r6, [r3, #p_low]; ldr r7, [r3, #p_high]
    subs r4, r6; subs r7, r6; lsls r4, #11; add r4, #1024
    strd r4, r6, [sp, #middle]; str r6, [sp, #least]; str r7, [sp, #span]
    movs r6, #9; cmp r7, #255
    it ne; movne r6, #0; str r6, [sp, #quick]
    add r6, sp, #sums_2; strd r4, r6, [sp, #requantizing]
    ldr r8, [r3, #p_columns]
    ldr r6, [r3, #p_scratch_start]; add r6, r0; str r6, [sp, #pairs]
    adds r7, r5, #1; lsrs r7, #1
#if ARMV7EM
    lsl r8, r8, #2; add r9, r8, #8; mla r12, r9, r7, r6; str r12, [sp, #room]
    add r4, r12, r8, lsl #1; str r4, [sp, #room_end]
#else
    lsl r8, r8, #1; add r9, r8, #8; mla r12, r9, r7, r6; str r12, [sp, #room]
    add r4, r12, r8, lsl #3; str r4, [sp, #room_end]
#endif
    ldr r4, [r3, #p_w_zero_point]; negs r4, r4
    ldr r6, [r3, #p_x_start]; adds r0, r6; ldr r1, [r3, #p_x_position_stride]
    sub r6, r5, #1; mla r2, r6, r1, r0  // the last position, twice if it is odd
    lsls r6, #31
    it ne; subne r0, r2, r1
    it eq; moveq r0, r2
    rsb r1, r1, #0
    // r0, r2 elements of a pair, from the last one on; r1 from one position to that before it; r4
    // -w_zero_point; r7 pairs; r12 end of the pair's elements; r8 bytes of them
BYTES:
    sub r12, r9
    ldr r5, [r0, #-4]; mul r5, r5, r4; str r5, [r12]
    ldr r5, [r2, #-4]; mul r5, r5, r4; str r5, [r12, #4]
    add r10, r12, #8; add r11, r10, r8
WIDEN:
#if ARMV7EM
    ldr r5, [r0], #4; ldr r6, [r2], #4
    uxtb16 r3, r5; uxtb16 lr, r6
    stmia r10!, {r3, lr}
    uxtb16 r5, r5, ror #8; uxtb16 r6, r6, ror #8
    stmia r10!, {r5, r6}
#else
    ldrb r5, [r0], #1; ldrb r6, [r2], #1; orr r5, r5, r6, lsl #8; strh r5, [r10], #2
    ldrb r5, [r0], #1; ldrb r6, [r2], #1; orr r5, r5, r6, lsl #8; strh r5, [r10], #2
    ldrb r5, [r0], #1; ldrb r6, [r2], #1; orr r5, r5, r6, lsl #8; strh r5, [r10], #2
    ldrb r5, [r0], #1; ldrb r6, [r2], #1; orr r5, r5, r6, lsl #8; strh r5, [r10], #2
#endif
    cmp r10, r11; bne WIDEN
#if ARMV7EM
    sub r0, r0, r8, lsr #2
#else
    sub r0, r0, r8, lsr #1
#endif
    adds r2, r0, r1; adds r0, r2, r1
    subs r7, #1; bne BYTES
FOUR_ROWS:  // r12, lr: bounds of |w - w_zero_point| of two channels each, added up
    ldr r0, [sp, #rows]; ldrd r1, r2, [sp, #room]
    ldr r3, [sp, #p]
#if ARMV7EM
    ldr r3, [r3, #p_w_zero_point]; orr r3, r3, r3, lsl #8; orr r3, r3, r3, lsl #16
    mov r12, #0; mov lr, #0
#else
    ldr r3, [r3, #p_columns]; rsb r12, r3, r3, lsl #8; mov lr, r12
#endif
WEIGHTS:
    ldmia r0!, {r4-r7}
#if ARMV7EM
    usada8 r12, r4, r3, r12; usada8 r12, r5, r3, r12
    usada8 lr, r6, r3, lr; usada8 lr, r7, r3, lr
    uxtb16 r8, r4; uxtb16 r9, r5; uxtb16 r10, r6; uxtb16 r11, r7
    stmia r1!, {r8-r11}
    uxtb16 r4, r4, ror #8; uxtb16 r5, r5, ror #8
    uxtb16 r6, r6, ror #8; uxtb16 r7, r7, ror #8
    stmia r1!, {r4-r7}
#else
    uxtb r8, r4; uxtb r9, r5; uxtb r10, r6; uxtb r11, r7; stmia r1!, {r8-r11}
    four_weights 8; four_weights 16; four_weights 24
#endif
    cmp r1, r2; bne WEIGHTS
    str r0, [sp, #rows]
    // They are quick if no sum exceeds 31 bits when it is shifted by f - 4, and if M is odd, so
    // that no product lies in the middle. r11: 0 until one is not.
    ldr r7, [sp, #table]; str r7, [sp, #four_table]
    add r8, sp, #constants; add r9, sp, #multipliers; movs r6, #4
    ldr r11, [sp, #quick]; subs r11, #9
CHANNEL_WORDS:
    ldrd r4, r5, [r7], #8
    and r3, r4, #31; rsb r2, r3, #35; subs r3, #4; strd r3, r5, [r9], #8
    asrs r4, #5; str r4, [r8], #4
    eor r4, r4, r4, asr #31; rsb r3, r12, r12, lsl #8; adds r4, r3; adds r4, #1
    lsr r4, r4, r2; orr r11, r11, r4
    orr r11, r11, r2, lsr #5
    mvns r5, r5; lsls r5, #31; orr r11, r11, r5
    subs r6, #1; cmp r6, #2
    it eq; moveq r12, lr
    cmp r6, #0; bne CHANNEL_WORDS
    str r7, [sp, #table]
    str r11, [sp, #is_slow]; cmp r11, #0; beq QUICK
    add r8, sp, #constants; movs r4, #0; movs r5, #0; movs r6, #0; movs r7, #0
    stmia r8, {r4-r7}
QUICK:
    ldr r3, [sp, #p]; ldr r4, [r3, #p_positions]; str r4, [sp, #pairs_left]
    ldr r0, [sp, #pairs]; ldr r1, [r3, #p_out_position_stride]
    ldr r4, [sp, #out]
    strd r4, r1, [sp, #out_of_pair]
    ldr r5, [r3, #p_out_channel_stride]; str r5, [sp, #channel_step]
    add r4, r4, r5, lsl #2; str r4, [sp, #out]
PAIR:
    ldrd r2, r3, [r0], #8
    add r1, sp, #constants; ldmia r1, {r4-r7}
    add r8, r4, r3; add r9, r5, r3; add r10, r6, r3; add r11, r7, r3
    adds r4, r2; adds r5, r2; adds r6, r2; adds r7, r2
    ldr r1, [sp, #room]
    ldr r2, [sp, #room_end]; subs r2, r1
#if ARMV7EM
    lsls r2, #26; bmi LATTER_ITEMS
PRODUCTS:
    add_halves; add_halves
LATTER_ITEMS:
    add_halves; add_halves
#else
    lsls r2, #25; bmi LATTER_ITEMS
PRODUCTS:
    add_words_of_both; add_words_of_both; add_words_of_both; add_words_of_both
LATTER_ITEMS:
    add_words_of_both; add_words_of_both; add_words_of_both; add_words_of_both
#endif
    ldr r2, [sp, #room_end]; cmp r1, r2; bne PRODUCTS
    str r0, [sp, #pair]
    ldrd r0, r1, [sp, #out_of_pair]
    ldr r2, [sp, #is_slow]; cmp r2, #0; bne SLOW_PAIR
    ldrd r12, lr, [sp, #middle]
    requantize_both r4, r8, 0
    ldr r4, [sp, #channel_step]; adds r0, r4
    requantize_both r5, r9, 8
    adds r0, r4
    requantize_both r6, r10, 16
    adds r0, r4
    requantize_both r7, r11, 24
    b PAIR_DONE
FROM_SLOW:
    ldr r1, [sp, #out_step]
PAIR_DONE:
    ldr r0, [sp, #out_of_pair]; add r0, r0, r1, lsl #1
    ldr r2, [sp, #pairs_left]; subs r2, #2; ble PAIRS_DONE
    str r2, [sp, #pairs_left]
    cmp r2, #1
    it eq; moveq r1, #0
    strd r0, r1, [sp, #out_of_pair]
    ldr r0, [sp, #pair]
    b PAIR
SLOW_PAIR:
    strd r0, r1, [sp, #out_now]
    ldr r0, [sp, #four_table]; str r0, [sp, #table_left]
    movs r1, #0
    add r2, sp, #sums; stmia r2!, {r4-r11}
    b START
PAIRS_DONE:
    ldr r4, [sp, #channels_left]; subs r4, #4; str r4, [sp, #channels_left]
    bne FOUR_ROWS
    b DONE
DONE:
    add sp, #FRAME
    pop {r8-r11}
    movs r0, #0
endfunction qdots8

//> qdots8_many = qdots8
