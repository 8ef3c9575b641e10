// Dot products of bytes with requantization: see loops/qdot. Assembler, ARMv6-M instructions only.
//
// Four channels at a time: 3.5 instructions a multiply-accumulate, 2.6 where there is room for
// their weights as words, and 37 for each requantization; 67 where one product does not decide (see
// loops/viper/qdot), 80 where the sum has to be limited.
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes. limit: 1 << 25.
words 0, channels_left, rows, table, out, positions_left, p, next_rows, next_table, next_out
words 36, channel_step, limit, first_item, channels
// With room:
words 52, room, middle, positions_of_four, items_end, out_now

// Sums of four channels += element \i of four times their weights.
.macro add_element i
    ldrb r2, [r0, #\i]
    ldrb r3, [r1, #\i]; muls r3, r2; adds r4, r3
    ldrb r3, [r1, #\i+4]; muls r3, r2; adds r5, r3
    ldrb r3, [r1, #\i+8]; muls r3, r2; adds r6, r3
    ldrb r3, [r1, #\i+12]; muls r3, r2; adds r7, r3
.endm

// The same of weights that are words, with sums in r8, r11, r12 and lr.
.macro add_element_of_words i
    ldrb r2, [r0, #\i]; ldmia r1!, {r3-r6}
    muls r3, r2; add r8, r3; muls r4, r2; add r11, r4
    muls r5, r2; add r12, r5; muls r6, r2; add lr, r6
.endm

.macro four_weights i
    ldrb r3, [r0, #\i]; ldrb r4, [r0, #\i+4]; ldrb r5, [r0, #\i+8]; ldrb r6, [r0, #\i+12]
    stmia r1!, {r3-r6}
.endm

.macro add_one_element i
    ldrb r2, [r0, #\i]; ldrb r3, [r1, #\i]; muls r3, r2; adds r4, r3
.endm

function qdots8
    // r8 end of the position's elements, r9 low, r10 high, r11 out_zero_point << 21 and the middle
    // of a step, r12 -w_zero_point * S, lr the part of a step for which one product decides
    push_high
    sub sp, #72
    mov r7, sp; str r3, [r7, #p]
    ldr r4, [r3, #p_positions]; str r4, [r7, #positions_left]
    ldr r4, [r3, #p_out_start]; adds r4, r2; str r4, [r7, #out]
    mov r4, r1
    ldr r5, [r3, #p_is_table_in_x]; cmp r5, #0; beq WITH_WEIGHTS
    mov r4, r0
WITH_WEIGHTS:
    ldr r5, [r3, #p_table_start]; adds r5, r4; str r5, [r7, #table]
    ldr r4, [r3, #p_w_start]; adds r4, r1; str r4, [r7, #rows]
    ldr r2, [r3, #p_x_start]; adds r0, r2; str r0, [r7, #first_item]
    ldr r4, [r3, #p_out_channel_stride]; str r4, [r7, #channel_step]
    movs r4, #1; lsls r4, #25; str r4, [r7, #limit]
    lsls r5, r4, #4
    ldr r6, [r3, #p_low]; subs r6, r5; mov r9, r6
    ldr r6, [r3, #p_high]; subs r6, r5; mov r10, r6; movs r4, #248
    lsls r4, #12; subs r4, #64
    ldr r6, [r3, #p_out_zero_point]; lsls r6, #21; adds r6, r4; mov r11, r6
    movs r4, #244; lsls r4, #24; mov lr, r4
    ldr r6, [r3, #p_channels]; str r6, [r7, #channels]
    ldr r4, [r3, #p_scratch_start]; cmp r4, #0; beq POSITION
    cmp r6, #4; blt POSITION
    ldr r5, [r3, #p_positions]; cmp r5, #7; blt POSITION
    b ROOM
POSITION:
    ldr r0, [r7, #first_item]; mov r4, r0
    ldr r5, [r3, #p_columns]; adds r4, r5; mov r8, r4
    ldr r5, [r3, #p_has_sums]; cmp r5, #0; beq ITEMS
    subs r0, #4; ldr r5, [r0]
    b TOTALLED
ITEMS:
    ldrb r2, [r0]; adds r5, r2
    ldrb r2, [r0, #1]; adds r5, r2
    ldrb r2, [r0, #2]; adds r5, r2
    ldrb r2, [r0, #3]; adds r5, r2; adds r0, #4; cmp r0, r8
    bne ITEMS
TOTALLED:
    ldr r6, [r3, #p_w_zero_point]; muls r5, r6; negs r5, r5; mov r12, r5
    ldr r1, [r7, #rows]; ldr r5, [r7, #table]; str r5, [r7, #next_table]
    ldr r5, [r7, #out]; str r5, [r7, #next_out]
    ldr r5, [r7, #channels]; str r5, [r7, #channels_left]
ROWS:
    ldr r0, [r7, #first_item]; ldr r5, [r7, #channels_left]; subs r5, #4; bpl TILE
    b SINGLE
TILE:
    str r5, [r7, #channels_left]
    movs r4, #0; movs r5, #0; movs r6, #0; movs r7, #0
FOUR:
    add_element 0; add_element 1; add_element 2; add_element 3
    adds r0, #4; adds r1, #16
    cmp r0, r8; bne FOUR
    push {r4-r7}
    add r7, sp, #16
    b REQUANTIZE
SINGLE:
    adds r5, #4; bne LEFT
    b NEXT
LEFT:
    subs r5, #1; str r5, [r7, #channels_left]
    movs r4, #0
ONE:
    add_one_element 0; add_one_element 1; add_one_element 2; add_one_element 3
    adds r0, #4; adds r1, #4
    cmp r0, r8; bne ONE
    push {r4}
REQUANTIZE:
    str r1, [r7, #next_rows]
    ldr r0, [r7, #next_table]; ldr r1, [r7, #next_out]
CHANNEL:
    pop {r4}; add r4, r12
    ldmia r0!, {r2, r5}; lsls r3, r2, #27; lsrs r3, #27
    asrs r2, #5; adds r4, r2
    ldr r2, [r7, #limit]; lsrs r2, r3; adds r6, r4, r2
    lsls r2, #1; cmp r6, r2; bcs BEYOND
    lsls r4, r3; asrs r6, r4, #10
    lsrs r2, r5, #16; muls r6, r2; add r6, r11; lsls r2, r6, #11
    cmp r2, lr; bcs BETWEEN
    asrs r4, r6, #21
LIMIT:
    cmp r4, r9; bge LEAST
    mov r4, r9
LEAST:
    cmp r4, r10; ble MOST
    mov r4, r10
MOST:
    strb r4, [r1]
    ldr r3, [r7, #channel_step]; adds r1, r3
    cmp sp, r7; bne CHANNEL
    str r0, [r7, #next_table]
    str r1, [r7, #next_out]
    ldr r1, [r7, #next_rows]; cmp r1, #0; beq TO_FOUR
    b ROWS
TO_FOUR:
    b NEXT_OF_FOUR
BEYOND:
    subs r3, #25; bgt RIGHT
    adds r3, #25
    b SHIFTED
RIGHT:
    subs r0, #8; ldmia r0!, {r2, r6}; asrs r2, #5
    subs r4, r2; asrs r4, r3
    adds r4, r2
    movs r3, #0
SHIFTED:
    ldr r2, [r7, #limit]; lsrs r2, r3; cmp r4, r2; ble BELOW
    mov r4, r2
BELOW:
    negs r2, r2; cmp r4, r2; bge ABOVE
    mov r4, r2
ABOVE:
    lsls r4, r3
BETWEEN:
    lsrs r3, r5, #15
    lsls r5, #17; lsrs r5, #17
    lsls r2, r4, #20; lsrs r2, #20
    asrs r4, #12
    mov r6, r2; muls r6, r5; muls r5, r4; muls r2, r3; muls r4, r3
    lsrs r3, r6, #12; adds r5, r3; lsls r6, #20
    asrs r3, r5, #3; adds r2, r3; lsls r5, #29; orrs r6, r5
    asrs r3, r2, #12; adds r4, r3; lsls r2, #20
    lsls r3, r4, #11; lsrs r3, #31; orrs r6, r2; beq EVEN
    movs r3, #1
EVEN:
    adds r4, r3; subs r4, #1; movs r3, #1; lsls r3, #19; adds r4, r3
    asrs r4, #20
    ldr r6, [r7, #p]; ldr r2, [r6, #p_out_zero_point]; lsls r2, #3; asrs r2, #3
    adds r4, r2
    b LIMIT
NEXT:
    ldr r5, [r7, #positions_left]; subs r5, #1; bne ONWARD
    b DONE
ONWARD:
    str r5, [r7, #positions_left]
    ldr r3, [r7, #p]; ldr r5, [r7, #out]
    ldr r6, [r3, #p_out_position_stride]; adds r5, r6; str r5, [r7, #out]
    ldr r5, [r7, #first_item]
    ldr r6, [r3, #p_x_position_stride]; adds r5, r6; str r5, [r7, #first_item]
    b POSITION
NEXT_OF_FOUR:
    ldr r3, [r7, #p]; ldr r4, [r7, #positions_of_four]; subs r4, #1; beq FOUR_DONE
    str r4, [r7, #positions_of_four]
    ldr r4, [r7, #out_now]
    ldr r5, [r3, #p_out_position_stride]; adds r4, r5; str r4, [r7, #out_now]
    ldr r0, [r7, #items_end]; adds r0, #4
    b POSITION_OF_FOUR
FOUR_DONE:
    str r0, [r7, #table]
    ldr r4, [r7, #out]; ldr r5, [r7, #channel_step]; lsls r5, #2; adds r4, r5; str r4, [r7, #out]
    ldr r4, [r7, #channels]; subs r4, #4; str r4, [r7, #channels]; bne MORE
    b DONE
MORE:
    cmp r4, #4; bge FOUR_ROWS
    b POSITION
ROOM:  // it is for halfwords: of so many positions, for words of weights behind their bytes
    subs r5, #2; ldr r2, [r3, #p_x_position_stride]; muls r5, r2; adds r4, r5
    ldr r2, [r3, #p_x_start]; subs r4, r2; adds r4, r0; str r4, [r7, #room]
    mov r4, r11; str r4, [r7, #middle]
FOUR_ROWS:
    ldr r0, [r7, #rows]; ldr r1, [r7, #room]
    ldr r3, [r7, #p]; ldr r2, [r3, #p_positions]; str r2, [r7, #positions_of_four]
    ldr r2, [r3, #p_columns]
WEIGHTS:
    four_weights 0; four_weights 1; four_weights 2; four_weights 3
    adds r0, #16; subs r2, #4; bne WEIGHTS
    str r0, [r7, #rows]
    ldr r4, [r7, #out]; str r4, [r7, #out_now]
    ldr r0, [r7, #first_item]; ldr r3, [r7, #p]
POSITION_OF_FOUR:
    subs r0, #4; ldmia r0!, {r4}
    ldr r5, [r3, #p_w_zero_point]; muls r4, r5; negs r4, r4
    ldr r5, [r3, #p_columns]; adds r5, r0; str r5, [r7, #items_end]
    ldr r1, [r7, #room]
    mov r8, r4; mov r11, r4; mov r12, r4; mov lr, r4
    subs r5, r0; lsls r5, #29; bpl WORDS
    subs r0, #4
    b LATTER_WORDS
WORDS:
    add_element_of_words 0; add_element_of_words 1; add_element_of_words 2; add_element_of_words 3
LATTER_WORDS:
    add_element_of_words 4; add_element_of_words 5; add_element_of_words 6; add_element_of_words 7
    adds r0, #8; ldr r3, [r7, #items_end]; cmp r0, r3; bne WORDS
    mov r3, r8; mov r4, r11; mov r5, r12; mov r6, lr; push {r3-r6}
    ldr r3, [r7, #middle]; mov r11, r3; movs r3, #244; lsls r3, #24; mov lr, r3
    movs r3, #0; mov r12, r3; str r3, [r7, #next_rows]
    ldr r0, [r7, #table]; ldr r1, [r7, #out_now]
    b CHANNEL
DONE:
    add sp, #72
    pop_high
    movs r0, #0
endfunction qdots8

//> qdots8_many = qdots8
