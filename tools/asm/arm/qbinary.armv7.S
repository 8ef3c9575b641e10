// Sums and products of quantized bytes, requantized: see loops/qbinary. Assembler, ARMv7-M.
//
// 23 instructions an element of a sum, 24 of a product.
//
// Forms: armv7m

#include "core.h"

// Offsets on the stack, in bytes.
words 0, x_bytes, w_bytes, bits, middle, rows_left, items, x_to_next, w_to_next, row_end
words 8, limit, negative_limit

// r0 x, r1 w, r2 out, r3 p: their first elements, and what the loops over rows take.
.macro begin
    push {r8-r11}
    sub sp, #36
    ldr r4, [r3, #p_x_start]; adds r0, r4
    ldr r4, [r3, #p_w_start]; adds r1, r4
    ldr r4, [r3, #p_out_start]; adds r2, r4
    ldrd r4, r5, [r3, #p_rows]; strd r4, r5, [sp, #rows_left]
    ldrd r4, r6, [r3, #p_x_row_stride]; str r6, [sp, #x_bytes]; mls r4, r6, r5, r4
    ldrd r6, r7, [r3, #p_w_row_stride]; str r7, [sp, #w_bytes]; mls r6, r7, r5, r6
    strd r4, r6, [sp, #x_to_next]
.endm

// Rows of elements, which `item load, limited` computes: load is ldrb or ldrsb.
.macro rows item:req, load:req, limited:req
ROW_\item\()_\load:
    ldrd r4, r5, [sp, #rows_left]; subs r4, #1; bmi DONE_\item
    str r4, [sp, #rows_left]
    cmp r5, #0; beq NEXT_\item\()_\load
    add r5, r2; str r5, [sp, #row_end]
ITEM_\item\()_\load:
    \item \load, \limited
    ldr r4, [sp, #row_end]; cmp r2, r4; bne ITEM_\item\()_\load
NEXT_\item\()_\load:
    ldrd r4, r5, [sp, #x_to_next]; adds r0, r4; adds r1, r5
    b ROW_\item\()_\load
.endm

.macro finish item:req
DONE_\item:
    add sp, #36
    pop {r8-r11}
    movs r0, #0
.endm

// r8 and r9 factors, r10 and r11 their 10 lower bits, r12 constant, lr its lower bits. What these
// lose makes the last bit a 1: no sum is in the middle then.
.macro sum load, limited
    \load r4, [r0]; \load r5, [r1]
    mla r6, r4, r8, r12; mla r6, r5, r9, r6
    mla r7, r4, r10, lr; mla r7, r5, r11, r7
    add r6, r6, r7, asr #10
    lsls r7, r7, #22; it ne; orrne r6, r6, #1
    ldrd r4, r5, [sp, #bits]
    lsr r7, r6, r4; lsrs r7, r7, #1; adcs r6, r5; asr r6, r6, r4
    \limited r6, #8, r6; strb r6, [r2], #1
    ldrd r4, r5, [sp, #x_bytes]; adds r0, r4; adds r1, r5
.endm

// r3 zero point of out, r8 and r9 the zero points, r10 M, r11 shift, r12 and lr steps.
.macro product load, limited
    \load r4, [r0]; \load r5, [r1]; add r0, r12; add r1, lr
    sub r4, r4, r8; sub r5, r5, r9; muls r4, r5
    ldrd r5, r6, [sp, #limit]
    cmp r4, r5; it gt; movgt r4, r5; cmp r4, r6; it lt; movlt r4, r6
    lsl r4, r4, r11
    smull r4, r5, r4, r10; add r5, r5, #16384
    orrs r4, r4, r5, lsl #17
    asr r5, r5, #15; it eq; biceq r5, r5, #1
    add r5, r3; \limited r5, #8, r5; strb r5, [r2], #1
.endm

function qadd8
    begin
    ldrd r8, r9, [r3, #p_x_factor]; ldrd r12, r10, [r3, #p_constant]
    ldrd r11, lr, [r3, #p_w_factor_low]
    sub r12, r12, #536870912
    ldrd r4, r5, [r3, #p_point]; ldr r6, [r3, #p_flip]
    // Signed bytes are 128 less than unsigned ones, and so is the zero point of the result.
    mla r12, r6, r8, r12; mla r12, r6, r9, r12
    mla lr, r6, r10, lr; mla lr, r6, r11, lr
    sub r5, r6
    lsl r5, r5, r4; movs r7, #1; lsl r7, r7, r4; subs r5, #1; add r5, r5, r7, lsr #1
    strd r4, r5, [sp, #bits]
    cmp r6, #0; bne SIGNED_SUMS
    rows sum, ldrb, usat
SIGNED_SUMS:
    rows sum, ldrsb, ssat
    finish sum
endfunction qadd8

function qmul8
    begin
    ldrd r12, lr, [sp, #x_bytes]
    ldrd r8, r9, [r3, #p_x_zero_point]; ldrd r4, r11, [r3, #p_limit]
    negs r5, r4; strd r4, r5, [sp, #limit]
    ldrd r4, r5, [r3, #p_multiplier_high]; add r10, r5, r4, lsl #15
    ldr r6, [r3, #p_flip]; ldr r3, [r3, #p_qmul8_out_zero_point]
    sub r8, r6; sub r9, r6; subs r3, r6
    cmp r6, #0; bne SIGNED_PRODUCTS
    rows product, ldrb, usat
SIGNED_PRODUCTS:
    rows product, ldrsb, ssat
    finish product
endfunction qmul8
