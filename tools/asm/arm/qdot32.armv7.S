// Dot products of bytes in int32: see loops/qdot32. Four channels of two positions at a time.
//
// armv7m: 1.9 instructions a multiply-accumulate; 2.5 of a last position, and of all if there are
// up to three last channels, which take 5.1. armv7em: pairs of products by `smlad`, 1.3, 1.7 and
// 3.3.
//
// Forms: armv7m armv7em

#include "core.h"

// Offsets on the stack, in bytes. minus_zero_sum: -w_zero_point * S.
words 0, channels_left, rows, table, out, positions_left, p, first_item, minus_zero_sum
words 32, minus_zero_sum_2, items_end, table_now, out_now, rows_now, x_step, channel_bytes
words 60, x_zero
#define FRAME 64

#if ARMV7EM
// A channel's sum += four of its weights times the elements in r2 and r3.
.macro add_word sum, at
    ldr lr, [r1, #\at]; uxtb16 r12, lr; uxtb16 lr, lr, ror #8
    smlad \sum, r2, r12, \sum; smlad \sum, r3, lr, \sum
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
#else
// Sums of four channels += the element at r0 + i times their weights.
.macro add_element i
    ldrb r2, [r0, #\i]
    ldrb r3, [r1, #\i]; mla r4, r2, r3, r4
    ldrb r3, [r1, #\i+4]; mla r5, r2, r3, r5
    ldrb r3, [r1, #\i+8]; mla r6, r2, r3, r6
    ldrb r3, [r1, #\i+12]; mla r7, r2, r3, r7
.endm

// Those of both positions.
.macro add_element_of_both i
    ldrb r2, [r0], #1; ldrb r3, [r0, lr]
    ldrb r12, [r1, #\i]; mla r4, r2, r12, r4; mla r8, r3, r12, r8
    ldrb r12, [r1, #\i+4]; mla r5, r2, r12, r5; mla r9, r3, r12, r9
    ldrb r12, [r1, #\i+8]; mla r6, r2, r12, r6; mla r10, r3, r12, r10
    ldrb r12, [r1, #\i+12]; mla r7, r2, r12, r7; mla r11, r3, r12, r11
.endm

.macro add_one_element i
    ldrb r2, [r0, #\i]; ldrb r3, [r1, #\i]; mla r4, r2, r3, r4
.endm
#endif

.macro total_element i
    ldrb r4, [r0, #\i]; adds r5, r4
.endm

// The sum with its constants, times x's zero point in r2, to the output.
.macro put sum
    ldrd r0, r3, [r9], #8; mla r0, r3, r2, r0; add r0, \sum; str r0, [r10]; add r10, r11
.endm

// Those of both positions; r12 table, lr out, r1 from one position to the other.
.macro put_both sum, other
    ldrd r0, r3, [r12], #8; mla r0, r3, r2, r0; add \sum, r0; add \other, r0
    str \sum, [lr]; str \other, [lr, r1]; ldr r3, [sp, #channel_bytes]; add lr, r3
.endm

function qdots32
    // r8 end of the position's elements, r9 table, r10 out, r11 from channel to channel in bytes
    push {r8-r11}
    sub sp, #FRAME
    str r3, [sp, #p]
    ldr r4, [r3, #p_w_start]; adds r4, r1; str r4, [sp, #rows]
    ldr r4, [r3, #p_table_start]; adds r4, r1; str r4, [sp, #table]
    ldr r4, [r3, #p_out_start]; add r4, r2, r4, lsl #2; str r4, [sp, #out]
    ldr r4, [r3, #p_positions]; str r4, [sp, #positions_left]
    ldr r4, [r3, #p_x_zero_point]; ldr r5, [r3, #p_zero_start]; cmp r5, #0; beq KNOWN
    ldrb r4, [r0, r5]
KNOWN:
    str r4, [sp, #x_zero]
    ldr r4, [r3, #p_x_start]; adds r0, r4; str r0, [sp, #first_item]
    ldr r4, [r3, #p_out_channel_stride]; lsls r4, #2; str r4, [sp, #channel_bytes]
    ldr r4, [r3, #p_x_position_stride]; str r4, [sp, #x_step]
POSITION:
    ldr r3, [sp, #p]; ldr r0, [sp, #first_item]
    ldr r4, [sp, #positions_left]; cmp r4, #2; blt ALONE
    ldr r4, [r3, #p_channels]; lsls r4, r4, #30; beq BOTH
ALONE:
    ldr r11, [sp, #channel_bytes]
    ldr r4, [r3, #p_columns]; add r8, r0, r4
    ldr r5, [r3, #p_has_sums]; cmp r5, #0; beq ITEMS
    ldr r5, [r0, #-4]
    b TOTALLED
ITEMS:
    total_element 0; total_element 1; total_element 2; total_element 3
    adds r0, #4; cmp r0, r8; bne ITEMS
TOTALLED:
    ldr r4, [r3, #p_w_zero_point]; muls r5, r4; negs r5, r5; str r5, [sp, #minus_zero_sum]
    ldr r1, [sp, #rows]; ldr r9, [sp, #table]; ldr r10, [sp, #out]
    ldr r4, [r3, #p_channels]; str r4, [sp, #channels_left]
ROWS:
    ldr r0, [sp, #first_item]; ldr r4, [sp, #minus_zero_sum]
    ldr r5, [sp, #channels_left]; subs r5, #4; bmi SINGLE
    str r5, [sp, #channels_left]
    mov r5, r4; mov r6, r4; mov r7, r4
FOUR:
#if ARMV7EM
    ldr r3, [r0], #4; uxtb16 r2, r3; uxtb16 r3, r3, ror #8
    add_word r4, 0; add_word r5, 4; add_word r6, 8; add_word r7, 12
    adds r1, #16
#else
    add_element 0; add_element 1; add_element 2; add_element 3
    adds r0, #4; adds r1, #16
#endif
    cmp r0, r8; bne FOUR
    ldr r3, [sp, #p]; ldr r2, [sp, #x_zero]
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
    add_one_element 0; add_one_element 1; add_one_element 2; add_one_element 3
    adds r0, #4; adds r1, #4
#endif
    cmp r0, r8; bne ONE
    ldr r3, [sp, #p]; ldr r2, [sp, #x_zero]
    put r4
    b ROWS
NEXT:
    ldr r5, [sp, #positions_left]; subs r5, #1; beq DONE
    str r5, [sp, #positions_left]
    ldr r3, [sp, #p]; ldr r5, [sp, #out]
    ldr r6, [r3, #p_out_position_stride]; add r5, r5, r6, lsl #2; str r5, [sp, #out]
    ldr r5, [sp, #first_item]
    ldr r6, [r3, #p_x_position_stride]; adds r5, r6; str r5, [sp, #first_item]
    b POSITION
DONE:
    add sp, #FRAME
    pop {r8-r11}
    movs r0, #0
    b qdots32.end
BOTH:
    movs r7, #2; add r2, sp, #minus_zero_sum
TOTAL:
    ldr r4, [r3, #p_columns]; add r1, r0, r4
    ldr r5, [r3, #p_has_sums]; cmp r5, #0; beq ITEMS_OF_BOTH
    ldr r5, [r0, #-4]
    b BOTH_TOTALLED
ITEMS_OF_BOTH:
#if ARMV7EM
    movs r6, #0
SUM:
    ldr r4, [r0], #4; usada8 r5, r4, r6, r5
#else
SUM:
    total_element 0; total_element 1; total_element 2; total_element 3
    adds r0, #4
#endif
    cmp r0, r1; bne SUM
BOTH_TOTALLED:
    ldr r4, [r3, #p_w_zero_point]; muls r5, r4; negs r5, r5; str r5, [r2], #4
    ldr r0, [sp, #first_item]; ldr r4, [sp, #x_step]; adds r0, r4
    subs r7, #1; bne TOTAL
    subs r0, r0, r4; ldr r4, [r3, #p_columns]; adds r4, r0; str r4, [sp, #items_end]
    ldr r4, [sp, #table]; str r4, [sp, #table_now]; ldr r4, [sp, #out]; str r4, [sp, #out_now]
    ldr r4, [r3, #p_channels]; str r4, [sp, #channels_left]
    ldr r1, [sp, #rows]
ROWS_OF_BOTH:
    ldr r0, [sp, #first_item]; ldr lr, [sp, #x_step]
    ldr r4, [sp, #minus_zero_sum]; mov r5, r4; mov r6, r4; mov r7, r4
    ldr r8, [sp, #minus_zero_sum_2]; mov r9, r8; mov r10, r8; mov r11, r8
#if !ARMV7EM
    sub lr, lr, #1
#endif
FOUR_OF_BOTH:
#if ARMV7EM
    ldr r3, [r0, lr]; ldr r2, [r0]; uxtb16 r2, r2; uxtb16 r3, r3
    add_even r4, r8, 0; add_even r5, r9, 4; add_even r6, r10, 8; add_even r7, r11, 12
    ldr r3, [r0, lr]; ldr r2, [r0], #4; uxtb16 r2, r2, ror #8; uxtb16 r3, r3, ror #8
    add_odd r4, r8, 0; add_odd r5, r9, 4; add_odd r6, r10, 8; add_odd r7, r11, 12
#else
    add_element_of_both 0; add_element_of_both 1; add_element_of_both 2; add_element_of_both 3
#endif
    adds r1, #16
    ldr r2, [sp, #items_end]; cmp r0, r2; bne FOUR_OF_BOTH
    str r1, [sp, #rows_now]
    ldr r3, [sp, #p]; ldr r2, [sp, #x_zero]
    ldr r1, [r3, #p_out_position_stride]; lsls r1, #2
    ldr r12, [sp, #table_now]; ldr lr, [sp, #out_now]
    put_both r4, r8; put_both r5, r9; put_both r6, r10; put_both r7, r11
    str r12, [sp, #table_now]; str lr, [sp, #out_now]; ldr r1, [sp, #rows_now]
    ldr r4, [sp, #channels_left]; subs r4, #4; str r4, [sp, #channels_left]
    bne ROWS_OF_BOTH
    ldr r5, [sp, #positions_left]; subs r5, #2; beq DONE
    str r5, [sp, #positions_left]
    ldr r3, [sp, #p]; ldr r5, [sp, #out]
    ldr r6, [r3, #p_out_position_stride]; add r5, r5, r6, lsl #3; str r5, [sp, #out]
    ldr r5, [sp, #first_item]; ldr r6, [sp, #x_step]; add r5, r5, r6, lsl #1
    str r5, [sp, #first_item]
    b POSITION
endfunction qdots32
