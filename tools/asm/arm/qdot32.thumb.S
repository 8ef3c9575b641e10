// Dot products of bytes in int32: see loops/qdot32. Assembler, ARMv6-M instructions only.
//
// Four channels at a time: 3.5 instructions a multiply-accumulate, and 10 a sum.
//
// Forms: thumb

#include "core.h"

// Offsets on the stack, in bytes.
words 0, channels_left, rows, table, out, positions_left, p, next_rows, next_table, next_out
words 36, first_item

// Sums of four channels += element \i of four times their weights.
.macro add_element i
    ldrb r2, [r0, #\i]
    ldrb r3, [r1, #\i]; muls r3, r2; adds r4, r3
    ldrb r3, [r1, #\i+4]; muls r3, r2; adds r5, r3
    ldrb r3, [r1, #\i+8]; muls r3, r2; adds r6, r3
    ldrb r3, [r1, #\i+12]; muls r3, r2; adds r7, r3
.endm

.macro add_one_element i
    ldrb r2, [r0, #\i]; ldrb r3, [r1, #\i]; muls r3, r2; adds r4, r3
.endm

function qdots32
    // r8 end of the position's elements, r9 x's zero point, r10 from channel to channel in bytes,
    // r12 -w_zero_point * S
    push_high
    sub sp, #40
    mov r7, sp; str r3, [r7, #p]
    ldr r4, [r3, #p_positions]; str r4, [r7, #positions_left]
    ldr r4, [r3, #p_out_start]; lsls r4, #2; adds r4, r2; str r4, [r7, #out]
    ldr r4, [r3, #p_table_start]; adds r4, r1; str r4, [r7, #table]
    ldr r4, [r3, #p_w_start]; adds r4, r1; str r4, [r7, #rows]
    ldr r4, [r3, #p_x_zero_point]; ldr r5, [r3, #p_zero_start]; cmp r5, #0; beq KNOWN
    ldrb r4, [r0, r5]
KNOWN:
    mov r9, r4
    ldr r4, [r3, #p_x_start]; adds r0, r4; str r0, [r7, #first_item]
    ldr r4, [r3, #p_out_channel_stride]; lsls r4, #2; mov r10, r4
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
    ldr r5, [r3, #p_channels]; str r5, [r7, #channels_left]
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
    b PUT
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
PUT:
    str r1, [r7, #next_rows]
    ldr r0, [r7, #next_table]; ldr r1, [r7, #next_out]
CHANNEL:
    pop {r4}; add r4, r12
    ldmia r0!, {r2, r5}; adds r4, r2
    mov r2, r9; muls r5, r2; adds r4, r5
    str r4, [r1]; add r1, r10
    cmp sp, r7; bne CHANNEL
    str r0, [r7, #next_table]
    str r1, [r7, #next_out]
    ldr r1, [r7, #next_rows]
    b ROWS
NEXT:
    ldr r5, [r7, #positions_left]; subs r5, #1; beq DONE
    str r5, [r7, #positions_left]
    ldr r3, [r7, #p]; ldr r5, [r7, #out]
    ldr r6, [r3, #p_out_position_stride]; lsls r6, #2; adds r5, r6; str r5, [r7, #out]
    ldr r5, [r7, #first_item]
    ldr r6, [r3, #p_x_position_stride]; adds r5, r6; str r5, [r7, #first_item]
    b POSITION
DONE:
    add sp, #40
    pop_high
    movs r0, #0
endfunction qdots32
