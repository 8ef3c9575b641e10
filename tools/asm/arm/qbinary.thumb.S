// Sums of quantized bytes, requantized: see loops/qbinary. Assembler, ARMv6-M instructions only.
//
// 41 instructions an element.
//
// Forms: thumb

#include "core.h"

//+ qmul8

// Offsets on the stack, in bytes. x_to_next: from the end of a row to the next one; middle: half a
// step less 1, plus out_zero_point steps; past: bits + 1.
words 0, rows_left, items, x_bytes, x_to_next, w_bytes, w_to_next, bits, middle, row_end
words 36, past

function qadd8
    // r3 flip, r8 and r9 factors, r10 and r11 their 10 lower bits, r12 constant, lr its lower bits
    push_high
    sub sp, #40
    mov r7, sp
    ldr r4, [r3, #p_x_start]; adds r0, r4
    ldr r4, [r3, #p_w_start]; adds r1, r4
    ldr r4, [r3, #p_out_start]; adds r2, r4
    ldr r4, [r3, #p_rows]; str r4, [r7, #rows_left]
    ldr r4, [r3, #p_columns]; str r4, [r7, #items]
    ldr r5, [r3, #p_x_stride]; str r5, [r7, #x_bytes]
    muls r5, r4
    ldr r6, [r3, #p_x_row_stride]; subs r6, r5; str r6, [r7, #x_to_next]
    ldr r5, [r3, #p_w_stride]; str r5, [r7, #w_bytes]
    muls r5, r4
    ldr r6, [r3, #p_w_row_stride]; subs r6, r5; str r6, [r7, #w_to_next]
    ldr r4, [r3, #p_point]; str r4, [r7, #bits]
    adds r5, r4, #1; str r5, [r7, #past]
    ldr r6, [r3, #p_out_zero_point]; lsls r6, r4
    movs r5, #1; lsls r5, r4; lsrs r5, #1; subs r5, #1; adds r6, r5; str r6, [r7, #middle]
    movs r5, #1; lsls r5, #29
    ldr r4, [r3, #p_constant]; subs r4, r5; mov r12, r4
    ldr r4, [r3, #p_x_factor]; mov r8, r4
    ldr r4, [r3, #p_w_factor]; mov r9, r4
    ldr r4, [r3, #p_x_factor_low]; mov r10, r4
    ldr r4, [r3, #p_w_factor_low]; mov r11, r4
    ldr r4, [r3, #p_constant_low]; mov lr, r4
    ldr r3, [r3, #p_flip]
ROW:
    mov r7, sp; ldr r4, [r7, #rows_left]; cmp r4, #0; beq DONE
    subs r4, #1; str r4, [r7, #rows_left]
    ldr r4, [r7, #items]; cmp r4, #0; beq ROW_END
    adds r4, r2; str r4, [r7, #row_end]
ITEM:
    ldrb r4, [r0]; eors r4, r3
    ldrb r5, [r1]; eors r5, r3
    mov r6, r8; muls r6, r4
    mov r7, r9; muls r7, r5; adds r6, r7; add r6, r12
    mov r7, r10; muls r4, r7
    mov r7, r11; muls r5, r7; adds r4, r5; add r4, lr
    asrs r7, r4, #10; adds r6, r7
    // What is lost makes the last bit a 1: no sum is in the middle then.
    lsls r4, #22; negs r4, r4; sbcs r4, r4; lsrs r4, #31; orrs r6, r4
    mov r7, sp; ldr r4, [r7, #past]
    mov r5, r6; lsrs r5, r4
    ldr r4, [r7, #middle]; adcs r6, r4
    ldr r4, [r7, #bits]; asrs r6, r4; cmp r6, #255; bls BYTE
    asrs r6, #31; mvns r6, r6
BYTE:
    eors r6, r3; strb r6, [r2]
    adds r2, #1
    ldr r4, [r7, #x_bytes]; adds r0, r4
    ldr r4, [r7, #w_bytes]; adds r1, r4
    ldr r4, [r7, #row_end]; cmp r2, r4; bne ITEM
ROW_END:
    ldr r4, [r7, #x_to_next]; adds r0, r4
    ldr r4, [r7, #w_to_next]; adds r1, r4
    b ROW
DONE:
    add sp, #40
    pop_high
    movs r0, #0
endfunction qadd8
