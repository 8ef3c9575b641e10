// Depthwise convolution of bytes: see loops/depthwise. A channel is quick if no sum exceeds 31 bits
// when it is shifted by f - 4, and if M is odd, so that no product lies in the middle.
//
// armv7m: 3 x 3 kernels: 25 instructions for the sum and 16 for the rest of an output. Kernels of
// 2 to 9 columns: 2.5 a product, and 8 a row.
//
// armv7em: with DSP, bytes become pairs of halfwords, for smlad. 3 x 3 kernels: two outputs at a
// time, 13 instructions for each sum and 9 for the rest; 20 and 17 where x has a stride. Kernels
// of 2 to 8 columns: 9 a row of up to 4, 15 of up to 8.
//
// Forms: armv7m armv7em

#include "core.h"

//> from ..thumb.depthwise import depthwise8  # other kernels

// Offsets on the stack, in bytes. middle: 1024 + ((out_zero_point - low) << 11); span: high - low;
// quick: 0 if low to high are 256 values; general: 0 for 3 x 3; room: the weights in x; reach: what
// no sum without c exceeds, plus 1.
words 0, c, shift, middle, low, span, quick, p, x_bytes, out_bytes, planes_left, channels_left
words 44, lines_left, line, plane, table, weights, out, general
words 76, window, room, reach

#if ARMV7EM
// Two outputs side by side += a row of 3 weights in r6 and r7 times the four bytes in r3.
.macro add_row_of_pair
    uxtb16 r2, r3; uxtb16 r3, r3, ror #8
    smlad r4, r2, r7, r4; smladx r4, r3, r6, r4
    smlad r5, r3, r7, r5; smlad r5, r2, r6, r5
.endm

// The sum += four weights in r6 and r7 times the bytes in \from.
.macro add_four from, even, odd
    uxtb16 \even, \from; uxtb16 \odd, \from, ror #8
    smlad r4, \even, r6, r4; smlad r4, \odd, r7, r4
.endm
#else
// The sum += two weights times two elements.
.macro add_two
    mla r4, r2, r5, r4; mla r4, r3, r6, r4
.endm

.macro add_next_two
    ldrd r2, r3, [r1], #8
    ldrb r6, [r0], #1; mla r4, r2, r6, r4
    ldrb r6, [r0], #1; mla r4, r3, r6, r4
.endm
#endif

// Where neither a sum nor a middle is to be cut.
.macro requantize sum
    lsl \sum, \sum, r12
#if ARMV7EM
    smmla \sum, \sum, r8, r6; usat \sum, #8, \sum, asr #11
#else
    smull r2, r3, \sum, r8; add r3, r6; usat \sum, #8, r3, asr #11
#endif
    adds \sum, r7
.endm

function depthwise_dense
#if ARMV7EM
    // Weights of four elements: (w0, w2), (w1, w3); the last four of a row may overlap those before
    // them, or what lies before the row, with weights of 0: (0, w1), (w0, w2) of three. r0
    // elements, r1 weights, r2 and r3 elements, r4 sum, r8 multiplier, r9 step of kernel rows, r10
    // out, r11 outputs left, r12 f - 4, or 255 if it is not quick. 3 x 3: r5 second sum, lr step of
    // out. Others: r5 rows left, lr from the row to its last four elements
#else
    // r0 elements, r1 weights as words, r4 sum, r8 multiplier, r10 out, r11 outputs left, r12 f -
    // 4, or 255 if it is not quick. 3 x 3: r7 row, r9 step of kernel rows, lr of columns of out.
    // Others: r5 rows left, r7 not 0 if there is an odd column, r9 from row to row, lr pairs to
    // skip
#endif
    push {r8-r11}
    sub sp, #96
    str r3, [sp, #p]
    str r0, [sp, #room]
    ldr r4, [r3, #p_x_start]; adds r4, r0; str r4, [sp, #plane]
    mov r5, r1
    ldr r4, [r3, #p_is_table_in_x]; cmp r4, #0; beq WITH_WEIGHTS
    mov r5, r0
WITH_WEIGHTS:
    ldr r4, [r3, #p_table_start]; ldr r6, [r3, #p_w_start]; ldr r7, [r3, #p_out_start]
    adds r4, r5; adds r6, r1; adds r7, r2
    add r5, sp, #table; stmia r5!, {r4, r6-r7}
    ldr r4, [r3, #p_out_zero_point]; ldr r5, [r3, #p_low]; ldr r6, [r3, #p_high]; subs r6, r5
    subs r4, r5; lsls r4, #11
    add r4, #1024
    sub r7, r6, #255
    add r2, sp, #middle; stmia r2!, {r4-r7}
    ldr r9, [r3, #p_kernel_row_step]; ldr r4, [r3, #p_out_column_step]
    ldr r5, [r3, #p_out_position_stride]
    ldr r6, [r3, #p_planes]
    add r2, sp, #x_bytes; stmia r2!, {r4-r6}
#if !ARMV7EM
    ldr lr, [r3, #p_out_column_step]
#endif
    ldrd r4, r5, [r3, #p_kernel_rows]; mul r6, r4, r5; movw r7, #65025; mul r6, r6, r7; adds r6, #1
    str r6, [sp, #reach]
    subs r4, #3; subs r5, #3; orrs r4, r5
    str r4, [sp, #general]
PLANE:
    ldr r3, [sp, #p]; ldr r4, [r3, #p_depth_multiplier]; str r4, [sp, #channels_left]
CHANNEL:
    ldr r0, [sp, #weights]; ldr r2, [sp, #room]
    ldr r5, [r3, #p_w_zero_point]
#if ARMV7EM
    orr r5, r5, r5, lsl #16
    ldrd r4, r6, [r3, #p_kernel_rows]; sub lr, r6, #4
#else
    ldr r4, [r3, #p_kernel_rows]; ldr r6, [r3, #p_kernel_columns]; muls r4, r6
#endif
WEIGHT:
#if ARMV7EM
    cmp lr, #0; ble SHORT
    ldr r7, [r0]; uxtb16 r6, r7
    uxtb16 r7, r7, ror #8
    ssub16 r6, r6, r5
    ssub16 r7, r7, r5; strd r6, r7, [r2], #8
SHORT:
    add r0, lr; ldr r7, [r0], #4; uxtb16 r6, r7
    uxtb16 r7, r7, ror #8
    ssub16 r6, r6, r5
    ssub16 r7, r7, r5
    ands r1, lr, #3; beq ALL
    movs r3, #0
    cmp r1, #3
    pkhbt r3, r3, r6; mov r6, r3
    beq ALL
    movs r3, #0; pkhbt r3, r3, r7; mov r7, r3
    cmp r1, #2; beq ALL
    movs r6, #0
ALL:
    strd r6, r7, [r2], #8
#else
    ldrb r6, [r0], #1; subs r6, r5; str r6, [r2], #4
#endif
    subs r4, #1; bne WEIGHT
    str r0, [sp, #weights]
    ldr r0, [sp, #table]; ldrd r4, r8, [r0], #8
    str r0, [sp, #table]
    and r5, r4, #31
    asrs r4, #5; subs r6, r5, #25
    it gt; lslgt r4, r6; strd r4, r5, [sp, #c]
    rsb r6, r5, #35
    ldr r7, [sp, #reach]; eor r4, r4, r4, asr #31; adds r4, r7; lsrs r4, r6
    orr r4, r4, r6, lsr #5
    mvn r7, r8; orr r4, r4, r7, lsl #31; ldr r7, [sp, #quick]; orrs r4, r7
    subs.w r12, r5, #4
    cmp r4, #0
    it ne; movne r12, #255
    ldr r3, [sp, #p]; ldr r10, [sp, #out]
    ldr r5, [r3, #p_out_channel_stride]; add r5, r10; str r5, [sp, #out]
    ldr r4, [r3, #p_out_rows]
    ldr r5, [sp, #plane]; strd r4, r5, [sp, #lines_left]
    ldr r1, [sp, #room]; ldr r4, [sp, #general]; cmp r4, #0; bne LINE
#if ARMV7EM
    ldr lr, [sp, #out_bytes]
#endif
LINE33:
    ldr r0, [sp, #line]; ldr r3, [sp, #p]; ldr r11, [r3, #p_out_columns]
    ldr r4, [r3, #p_out_row_step]; adds r4, r0; str r4, [sp, #line]
#if ARMV7EM
    ldr r4, [sp, #x_bytes]; cmp r4, #1; bne OUTPUT33
    cmp r12, #255; beq OUTPUT33
    subs r11, #2; blt ODD
PAIR:
    ldr r4, [sp, #c]; mov r5, r4
    ldrd r6, r7, [r1]
    ldr r3, [r0]
    add_row_of_pair
    ldrd r6, r7, [r1, #8]
    ldr r3, [r0, r9]
    add_row_of_pair
    ldrd r6, r7, [r1, #16]
    ldr r3, [r0, r9, lsl #1]
    add_row_of_pair
    ldrd r6, r7, [sp, #middle]
    requantize r4
    strb r4, [r10]
    add r10, lr
    requantize r5
    strb r5, [r10]
    add r10, lr
    adds r0, #2; subs r11, #2; bge PAIR
ODD:
    adds r11, #2; beq NEXT33
#endif
OUTPUT33:
#if ARMV7EM
    subs r5, r0, #1
#endif
    ldr r4, [sp, #c]
#if ARMV7EM
    ldrd r6, r7, [r1]
    ldr r2, [r5]
    add_four r2, r3, r2
    ldrd r6, r7, [r1, #8]
    ldr r2, [r5, r9]
    add_four r2, r3, r2
    ldrd r6, r7, [r1, #16]
    ldr r2, [r5, r9, lsl #1]
    add_four r2, r3, r2
#else
    add r7, r0, r9
    ldrd r2, r3, [r1]
    ldrb r5, [r0]; ldrb r6, [r0, #1]
    add_two
    ldrd r2, r3, [r1, #8]
    ldrb r5, [r0, #2]
    ldrb r6, [r7]
    add_two
    ldrd r2, r3, [r1, #16]
    ldrb r5, [r7, #1]; ldrb r6, [r7, #2]
    add r7, r9
    add_two
    ldrd r2, r3, [r1, #24]
    ldrb r5, [r7]; ldrb r6, [r7, #1]
    add_two
    ldr r2, [r1, #32]
    ldrb r5, [r7, #2]; mla r4, r2, r5, r4
#endif
    ldrd r6, r7, [sp, #middle]
    cmp r12, #255; beq SLOW
    requantize r4
PUT33:
    strb r4, [r10]
#if ARMV7EM
    add r10, lr
    ldr r2, [sp, #x_bytes]; adds r0, r2
#else
    ldr r2, [sp, #out_bytes]; add r10, r2; add r0, lr
#endif
    subs r11, #1; bne OUTPUT33
#if ARMV7EM
NEXT33:
#endif
    ldr r4, [sp, #lines_left]; subs r4, #1; str r4, [sp, #lines_left]; bne LINE33
    b NEXT_CHANNEL
LINE:
    ldr r0, [sp, #line]; ldr r3, [sp, #p]; ldr r11, [r3, #p_out_columns]
    ldr r4, [r3, #p_out_row_step]; adds r4, r0; str r4, [sp, #line]
OUTPUT:
    str r0, [sp, #window]
    ldr r3, [sp, #p]; ldr r5, [r3, #p_kernel_rows]
#if !ARMV7EM
    ldr lr, [r3, #p_kernel_columns]; sub r9, r9, lr
#endif
    ldr r4, [sp, #c]
#if ARMV7EM
    cmp lr, #0; ble NARROW
WIDE:
    ldrd r6, r7, [r1], #8
    ldr r3, [r0]
    add_four r3, r2, r3
    ldrd r6, r7, [r1], #8
    ldr r3, [r0, lr]
    add_four r3, r2, r3
#else
    rsb lr, lr, #9; movs.w lr, lr, lsr #1
    ldr r7, [r3, #p_kernel_columns]; lsls r7, #31
ROW:
    cmp r7, #0; beq EVEN
    ldr r2, [r1], #4
    ldrb r6, [r0], #1; mla r4, r2, r6, r4
EVEN:
    tbb [pc, lr]
    .byte 3, 13, 23, 33, 43, 0  // halfwords from here to what is left of the pairs, 10 each
    add_next_two; add_next_two; add_next_two; add_next_two
#endif
    add r0, r9
    subs r5, #1
#if ARMV7EM
    bne WIDE
    b SUMMED
NARROW:
    ldrd r6, r7, [r1], #8
    ldr r3, [r0, lr]
    add_four r3, r2, r3
    add r0, r9
    subs r5, #1; bne NARROW
SUMMED:
#else
    bne ROW
    ldr r3, [sp, #p]; ldr r9, [r3, #p_kernel_row_step]
#endif
    ldr r1, [sp, #room]
    ldrd r6, r7, [sp, #middle]
    cmp r12, #255
#if ARMV7EM
    beq SLOW
#else
    beq.w SLOW
#endif
    requantize r4
PUT:
    strb r4, [r10]
    ldr r2, [sp, #out_bytes]; add r10, r2
    ldr r0, [sp, #window]; ldr r2, [sp, #x_bytes]; adds r0, r2
    subs r11, #1; bne OUTPUT
    ldr r4, [sp, #lines_left]; subs r4, #1; str r4, [sp, #lines_left]; bne.w LINE
NEXT_CHANNEL:
    ldr r3, [sp, #p]; ldr r4, [sp, #channels_left]; subs r4, #1
    str r4, [sp, #channels_left]
    bne CHANNEL
    ldr r4, [sp, #plane]
    ldr r5, [r3, #p_x_plane_stride]; adds r4, r5; str r4, [sp, #plane]
    ldr r4, [sp, #planes_left]; subs r4, #1; str r4, [sp, #planes_left]; bne PLANE
    b DONE
SLOW:  // any other shift or range
    ldr r3, [sp, #shift]; subs r3, #25; ble LEFT
    asrs r4, r3
    mvn r3, #24
LEFT:
    adds r3, #25
    movs r2, #1; lsls r2, #25; lsrs r2, r3; cmp r4, r2
    it gt; movgt r4, r2
    negs r2, r2; cmp r4, r2
    it lt; movlt r4, r2; lsls r4, r3
    slow_product r8, r6
    bic.w r4, r4, r4, asr #31
    ldr r2, [sp, #span]; cmp r4, r2
    it gt; movgt r4, r2; adds r4, r7
    ldr r2, [sp, #general]; cmp r2, #0; bne.w PUT
    b PUT33
DONE:
    add sp, #96
    pop {r8-r11}
    movs r0, #0
endfunction depthwise_dense

//> depthwise33 = depthwise_dense
