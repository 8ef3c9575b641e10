// Depthwise convolution of bytes: see loops/depthwise. Assembler, ARMv6-M instructions only.
//
// 4.2 instructions a tap of a 3 x 3 kernel, 4 and 5 a row of dense ones of up to 8 columns, 8 of
// others; and 29 for each output, 60 where one product does not decide (see loops/viper/qdot).
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes. way of a row: 0 for 3 x 3, 1 for any, else bytes to jump to the
// first of 8 - kernel_columns taps; kernel_columns_4: kernel_columns * 4; word: the channel's;
// slow_out: out of a slow sum.
words 0, weight_words, c_and_limit, shift, position_bytes, x_bytes, line_end, way, kernel_rows
words 32, kernel_columns_4, kernel_column_step, p, planes_left, channels_left, lines_left, line
words 60, plane, table
words 68, weights, out, word, slow_out, to_next_row, factor, middle

// The sum += the element at r0 + i times the next weight.
.macro add_element i
    ldrb r2, [r0, #\i]; ldmia r1!, {r3}; muls r2, r3; adds r4, r2
.endm

function depthwise8
    // r5 step of kernel rows, r6 out, r7 factor, r8 window, r9 twice the limit, r10 out_zero_point
    // << 21 and the middle of a step less what the limit adds to a product, r11 the part of a step
    // for which one product decides, r12 low, lr high
    push_high
    sub sp, #96
    mov r7, sp; str r3, [r7, #p]
    str r0, [r7, #weight_words]
    ldr r4, [r3, #p_x_start]; adds r4, r0
    mov r5, r1
    ldr r6, [r3, #p_is_table_in_x]; cmp r6, #0; beq WITH_WEIGHTS
    mov r5, r0
WITH_WEIGHTS:
    ldr r6, [r3, #p_table_start]; adds r6, r5; str r6, [r7, #table]
    ldr r6, [r3, #p_w_start]; adds r6, r1; str r6, [r7, #weights]
    ldr r6, [r3, #p_out_start]; adds r6, r2; str r6, [r7, #out]
    ldr r6, [r3, #p_planes]; str r6, [r7, #planes_left]
    ldr r6, [r3, #p_out_position_stride]; str r6, [r7, #position_bytes]
    ldr r6, [r3, #p_out_column_step]; str r6, [r7, #x_bytes]
    ldr r0, [r3, #p_kernel_rows]; str r0, [r7, #kernel_rows]
    ldr r1, [r3, #p_kernel_columns]; lsls r2, r1, #2; str r2, [r7, #kernel_columns_4]
    ldr r2, [r3, #p_kernel_column_step]; str r2, [r7, #kernel_column_step]
    mov r6, r1; muls r6, r2
    ldr r5, [r3, #p_kernel_row_step]; subs r6, r5, r6; str r6, [r7, #to_next_row]
    movs r6, #1
    cmp r2, #1; bne WAY
    cmp r1, #8; bgt WAY
    cmp r0, #3; bne DENSE
    movs r6, #0
    cmp r1, #3; beq WAY
DENSE:
    movs r6, #8; subs r6, r1; subs r4, r6
    lsls r6, #3; subs r6, #2
WAY:
    str r6, [r7, #way]
    str r4, [r7, #plane]
    movs r5, #1; lsls r5, #29
    ldr r6, [r3, #p_low]; subs r6, r5; mov r12, r6
    ldr r6, [r3, #p_high]; subs r6, r5; mov lr, r6; movs r4, #248
    lsls r4, #12; subs r4, #64
    ldr r6, [r3, #p_out_zero_point]; lsls r6, #21; adds r6, r4; str r6, [r7, #middle]
    movs r4, #244; lsls r4, #24; mov r11, r4
PLANE:
    ldr r4, [r3, #p_depth_multiplier]; str r4, [r7, #channels_left]
CHANNEL:
    ldr r0, [r7, #weight_words]; ldr r1, [r7, #weights]
    ldr r4, [r3, #p_kernel_rows]; ldr r5, [r3, #p_kernel_columns]; muls r4, r5
    ldr r5, [r3, #p_w_zero_point]
WEIGHT:
    ldrb r2, [r1]; subs r2, r5; stmia r0!, {r2}
    adds r1, #1; subs r4, #1; bne WEIGHT
    str r1, [r7, #weights]
    ldr r0, [r7, #table]; ldmia r0!, {r4-r5}; str r0, [r7, #table]
    str r5, [r7, #word]
    lsls r6, r4, #27; lsrs r6, #27; str r6, [r7, #shift]
    asrs r4, #5; mov r2, r6; subs r2, #25; ble SHORT
    lsls r4, r2
SHORT:
    movs r0, #1; lsls r0, #25; lsrs r0, r6; adds r4, r0
    str r4, [r7, #c_and_limit]
    lsls r0, #1; mov r9, r0
    lsrs r5, #16; str r5, [r7, #factor]
    lsls r5, #15
    ldr r4, [r7, #middle]; subs r4, r5; mov r10, r4
    ldr r6, [r7, #out]
    ldr r5, [r3, #p_out_channel_stride]; adds r5, r6; str r5, [r7, #out]
    ldr r4, [r7, #plane]; str r4, [r7, #line]
    ldr r4, [r3, #p_out_rows]; str r4, [r7, #lines_left]
    ldr r5, [r3, #p_kernel_row_step]
LINE:
    ldr r0, [r7, #line]; mov r8, r0
    ldr r4, [r3, #p_out_columns]
    ldr r2, [r7, #x_bytes]; muls r4, r2; adds r4, r0; str r4, [r7, #line_end]
    ldr r7, [r7, #factor]
OUTPUT:
    mov r0, r8
    ldr r1, [sp, #weight_words]; ldr r4, [sp, #c_and_limit]; ldr r3, [sp, #way]
    cmp r3, #0; bne ROWS
    add_element 0; add_element 1; add_element 2
    adds r0, r5
    add_element 0; add_element 1; add_element 2
    adds r0, r5
    add_element 0; add_element 1; add_element 2
REQUANTIZE:
    cmp r4, r9; bcs BEYOND
    ldr r2, [sp, #shift]; lsls r4, r2; lsrs r3, r4, #10; muls r3, r7
    add r3, r10; lsls r2, r3, #11; cmp r2, r11; bcs BETWEEN
    asrs r3, #21
LIMIT:
    cmp r3, r12; bge LEAST
    mov r3, r12
LEAST:
    cmp r3, lr; ble MOST
    mov r3, lr
MOST:
    strb r3, [r6]
    ldr r2, [sp, #position_bytes]; adds r6, r2
    ldr r2, [sp, #x_bytes]; add r8, r2
    ldr r2, [sp, #line_end]; cmp r8, r2; bne OUTPUT
    b LINE_END
ROWS:
    ldr r7, [sp, #kernel_rows]
    cmp r3, #1; beq ANY
ROW:
    ldr r3, [sp, #way]; add pc, r3
    add_element 0; add_element 1; add_element 2; add_element 3
    add_element 4; add_element 5; add_element 6; add_element 7
    adds r0, r5
    subs r7, #1; bne ROW
    ldr r7, [sp, #factor]
    b REQUANTIZE
ANY:
    str r6, [sp, #slow_out]
ANY_ROW:
    ldr r6, [sp, #kernel_columns_4]; adds r6, r1
TAP:
    add_element 0
    ldr r3, [sp, #kernel_column_step]; adds r0, r3
    cmp r1, r6; bne TAP
    ldr r3, [sp, #to_next_row]; adds r0, r3
    subs r7, #1; bne ANY_ROW
    ldr r6, [sp, #slow_out]; ldr r7, [sp, #factor]
    b REQUANTIZE
BEYOND:
    mov r2, r9; lsrs r2, #1; subs r4, r2
    ldr r3, [sp, #shift]; cmp r3, #25; ble SHIFTED
    subs r3, #25; asrs r4, r3
    movs r3, #0
SHIFTED:
    movs r2, #1; lsls r2, #25; lsrs r2, r3; cmp r4, r2
    ble BELOW
    mov r4, r2
BELOW:
    negs r2, r2; cmp r4, r2; bge ABOVE
    mov r4, r2
ABOVE:
    lsls r4, r3
    b EXACT
BETWEEN:
    movs r2, #1; lsls r2, #25; subs r4, r2
EXACT:
    ldr r5, [sp, #word]
    lsrs r3, r5, #15
    lsls r5, #17; lsrs r5, #17
    lsls r2, r4, #20; lsrs r2, #20
    asrs r4, #12
    mov r7, r2; muls r7, r5; muls r5, r4; muls r2, r3; muls r4, r3
    lsrs r3, r7, #12; adds r5, r3; lsls r7, #20
    asrs r3, r5, #3; adds r2, r3; lsls r5, #29; orrs r7, r5
    asrs r3, r2, #12; adds r4, r3; lsls r2, #20
    lsls r3, r4, #11; lsrs r3, #31; orrs r7, r2; beq EVEN
    movs r3, #1
EVEN:
    adds r4, r3; subs r4, #1; movs r3, #1; lsls r3, #19; adds r4, r3
    asrs r3, r4, #20
    ldr r2, [sp, #p]; ldr r5, [r2, #p_kernel_row_step]
    ldr r2, [r2, #p_out_zero_point]; lsls r2, #3; asrs r2, #3; adds r3, r2
    ldr r7, [sp, #factor]
    b LIMIT
LINE_END:
    mov r7, sp; ldr r3, [r7, #p]; ldr r2, [r7, #line]
    ldr r4, [r3, #p_out_row_step]; adds r2, r4; str r2, [r7, #line]
    ldr r2, [r7, #lines_left]; subs r2, #1; str r2, [r7, #lines_left]; beq CHANNEL_END
    b LINE
CHANNEL_END:
    ldr r2, [r7, #channels_left]; subs r2, #1; str r2, [r7, #channels_left]
    beq PLANE_END
    b CHANNEL
PLANE_END:
    ldr r2, [r7, #plane]
    ldr r4, [r3, #p_x_plane_stride]; adds r2, r4; str r2, [r7, #plane]
    ldr r2, [r7, #planes_left]; subs r2, #1; str r2, [r7, #planes_left]; beq DONE
    b PLANE
DONE:
    add sp, #96
    pop_high
    movs r0, #0
endfunction depthwise8

//> depthwise33 = depthwise_dense = depthwise8
