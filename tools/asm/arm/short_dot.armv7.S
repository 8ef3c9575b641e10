// Sums of short mantissas: see loops/short_dot. Four channels at a time; rows and channels are
// above 0.
//
// armv7m: by `mla`, 2.2 instructions a multiply-accumulate in the unrolled part, 3.75 of up to
// three last channels.
//
// armv7em: with DSP, two elements by one `smlad`: 1.0 instructions a multiply-accumulate in the
// unrolled part, 2.25 of up to three last channels.
//
// Forms: armv7m armv7em

#include "core.h"

// Offsets on the stack, in bytes. first_sum: what sums start with; row_bytes: of a row of weights.
words 0, row, rows_left, channels_left, p, end_of_row, w, unrolled_end, first_sum, out
words 36, row_bytes

#if !ARMV7EM
// The sum of a channel += two elements of x times its weights.
.macro add_channel sum, at
    ldrh r11, [\at], #2; mla \sum, r9, r11, \sum
    ldrh r11, [\at], #2; mla \sum, r10, r11, \sum
.endm

.macro add_two
    ldmia r0!, {r9-r10}
    add_channel r5, r1; add_channel r6, r2; add_channel r7, r3; add_channel r8, r4
.endm

// The sum of one channel, without the 2**14 in its weights, += two elements.
.macro add_two_singles
    ldmia r0!, {r3-r4}
    ldrh r7, [r1], #2; subs r7, r6; mla r5, r3, r7, r5
    ldrh r7, [r1], #2; subs r7, r6; mla r5, r4, r7, r5
.endm
#endif

function dots
#if ARMV7EM
    // r0 x, r1 to r4 w of four channels, r5 to r8 their sums, r9 to r12 elements, lr where x ends.
#else
    // r0 x, r1 to r4 w of four channels, r5 to r8 their sums, r9 to r11 elements, lr where x ends.
#endif
    push_high
    sub sp, #40
    str r3, [sp, #p]
    ldr r4, [r3, #p_x_start]; lsls r4, #2; adds r0, r4; str r0, [sp, #row]
    ldr r4, [r3, #p_w_start]; lsls r4, #1; adds r1, r4; str r1, [sp, #w]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r2, r4; str r2, [sp, #out]
    ldr r4, [r3, #p_rows]; str r4, [sp, #rows_left]
    ldr r4, [r3, #p_columns]; adds r4, #1; lsrs r4, #1; lsls r4, #2
    str r4, [sp, #row_bytes]
ROW:
    ldr r3, [sp, #p]; ldr r0, [sp, #row]; ldr r1, [sp, #w]
    ldr r4, [r3, #p_columns]; lsls r5, r4, #2; adds r2, r0, r5; str r2, [sp, #end_of_row]
    lsrs r4, #3; lsls r4, #5; adds r4, r0; str r4, [sp, #unrolled_end]
    ldr r7, [r3, #p_channels]; str r7, [sp, #channels_left]
    cmp r7, #4; blt SINGLES
    movs r3, #0
    cmp r0, r4; beq COUNT
TOTAL:  // the sum of x
    ldmia r0!, {r5-r7}; adds r3, r5; adds r3, r6; adds r3, r7
    ldmia r0!, {r5-r7}; adds r3, r5; adds r3, r6; adds r3, r7
    ldmia r0!, {r5-r6}; adds r3, r5; adds r3, r6
    cmp r0, r4; bne TOTAL
COUNT:
    cmp r0, r2; beq TOTALLED
    ldmia r0!, {r5}; adds r3, r5
    b COUNT
TOTALLED:  // what sums start with
    movs r4, #1; lsls r4, #30
    lsls r3, #14; subs r4, r3; str r4, [sp, #first_sum]
CHANNELS:  // r1 weights
    ldr r4, [sp, #channels_left]; subs r4, #4
#if ARMV7EM
    blt.w SINGLES
#else
    blt SINGLES
#endif
    str r4, [sp, #channels_left]
    ldr r0, [sp, #row]; ldr r5, [sp, #row_bytes]; adds r2, r1, r5; adds r3, r2, r5
    adds r4, r3, r5
    ldr r5, [sp, #first_sum]; mov r6, r5; mov r7, r5; mov r8, r5
    ldr lr, [sp, #unrolled_end]; cmp r0, lr; beq REST
EIGHT:
#if ARMV7EM
    ldmia r0!, {r9-r12}; pkhbt r9, r9, r10, lsl #16
    pkhbt r10, r11, r12, lsl #16
    ldmia r1!, {r11-r12}; smlad r5, r9, r11, r5; smlad r5, r10, r12, r5
    ldmia r2!, {r11-r12}; smlad r6, r9, r11, r6; smlad r6, r10, r12, r6
    ldmia r3!, {r11-r12}; smlad r7, r9, r11, r7; smlad r7, r10, r12, r7
    ldmia r4!, {r11-r12}; smlad r8, r9, r11, r8; smlad r8, r10, r12, r8
    ldmia r0!, {r9-r12}; pkhbt r9, r9, r10, lsl #16
    pkhbt r10, r11, r12, lsl #16
    ldmia r1!, {r11-r12}; smlad r5, r9, r11, r5; smlad r5, r10, r12, r5
    ldmia r2!, {r11-r12}; smlad r6, r9, r11, r6; smlad r6, r10, r12, r6
    ldmia r3!, {r11-r12}; smlad r7, r9, r11, r7; smlad r7, r10, r12, r7
    ldmia r4!, {r11-r12}; smlad r8, r9, r11, r8; smlad r8, r10, r12, r8
#else
    add_two; add_two; add_two; add_two
#endif
    cmp r0, lr; bne EIGHT
REST:
    ldr lr, [sp, #end_of_row]; cmp r0, lr; beq DONE
ITEM:
    ldr r9, [r0], #4
    ldrh r11, [r1], #2; mla r5, r9, r11, r5
    ldrh r11, [r2], #2; mla r6, r9, r11, r6
    ldrh r11, [r3], #2; mla r7, r9, r11, r7
    ldrh r11, [r4], #2; mla r8, r9, r11, r8
    cmp r0, lr; bne ITEM
DONE:
    adds r1, r4, #3; lsrs r1, #2; lsls r1, #2
    ldr r0, [sp, #out]; stmia r0!, {r5-r8}
    str r0, [sp, #out]
    b CHANNELS
SINGLES:  // one channel: 2**14 is taken from each weight
    ldr r4, [sp, #channels_left]; subs r4, #1; blt.w NEXT
    str r4, [sp, #channels_left]
    ldr r0, [sp, #row]; ldr r2, [sp, #end_of_row]; ldr r4, [sp, #unrolled_end]
    mov lr, r4; movs r5, #1; lsls r6, r5, #14
#if ARMV7EM
    lsls r4, r5, #30; adds r4, r6; mov r8, r4
#endif
    lsls r5, #30
    cmp r0, lr; beq LAST_REST
LAST_EIGHT:
#if ARMV7EM
    ldmia r0!, {r9-r12}; pkhbt r9, r9, r10, lsl #16
    pkhbt r10, r11, r12, lsl #16
    ldmia r1!, {r11-r12}; ssub16 r11, r11, r8
    ssub16 r12, r12, r8
    smlad r5, r9, r11, r5; smlad r5, r10, r12, r5
    ldmia r0!, {r9-r12}; pkhbt r9, r9, r10, lsl #16
    pkhbt r10, r11, r12, lsl #16
    ldmia r1!, {r11-r12}; ssub16 r11, r11, r8
    ssub16 r12, r12, r8
    smlad r5, r9, r11, r5; smlad r5, r10, r12, r5
#else
    add_two_singles; add_two_singles; add_two_singles; add_two_singles
#endif
    cmp r0, lr; bne LAST_EIGHT
LAST_REST:
    cmp r0, r2; beq LAST_DONE
LAST_ITEM:
    ldmia r0!, {r4}
    ldrh r7, [r1], #2; subs r7, r6; mla r5, r4, r7, r5
    cmp r0, r2; bne LAST_ITEM
LAST_DONE:
    adds r1, #3; lsrs r1, #2; lsls r1, #2
    ldr r0, [sp, #out]; stmia r0!, {r5}
    str r0, [sp, #out]
    b SINGLES
NEXT:
    ldr r0, [sp, #row]; ldr r3, [sp, #p]; ldr r4, [r3, #p_x_row_stride]; lsls r4, #2
    adds r0, r4; str r0, [sp, #row]
    ldr r4, [sp, #rows_left]; subs r4, #1; str r4, [sp, #rows_left]; bne ROW
    add sp, #40
    pop_high
endfunction dots
